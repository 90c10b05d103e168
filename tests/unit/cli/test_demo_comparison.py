from kgagent.cli.demo.comparison import Comparison
from kgagent.cli.demo.sample import Question, questions, sample_file
from kgagent.models import GraphNode, NodeSearchResult, RelationshipSearchResult


def node(name: str) -> NodeSearchResult:
    return NodeSearchResult(
        node=GraphNode(entity_key=name, label="Person", name=name), similarity=0.5
    )


def relationship(first: str, second: str) -> RelationshipSearchResult:
    return RelationshipSearchResult(
        from_entity_key=first,
        to_entity_key=second,
        from_name=first,
        to_name=second,
        neo4j_type="has_relationship_with",
        similarity=0.6,
        score=0.6,
    )


def comparison() -> Comparison:
    return Comparison(
        question=Question(question="who?", expected=frozenset({"Ann", "Bo", "Cy"})),
        nodes=(node("Ann"), node("Zoe")),
        relationships=(relationship("Bo", "Owner"),),
    )


def test_comparison_counts_only_expected_people() -> None:
    assert comparison().found_by_nodes == {"Ann"}
    assert comparison().found_with_relationships == {"Ann", "Bo"}


def test_every_expected_person_is_in_the_sample() -> None:
    with sample_file() as path:
        text = path.read_text("utf-8")
    assert len(questions()) == 5
    assert all(f'"{name}"' in text for question in questions() for name in question.expected)
