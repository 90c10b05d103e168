from datetime import UTC, datetime, timedelta

import pytest

from kgagent.models import ExploredNode, ExploreResult, GraphNode, GraphRelationship, Note, RelationshipSearchResult
from kgagent.models.rendering import estimated_tokens, explored_text, fit, node_lines, relationship_lines

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BLOCKS = [["one two", "  three"], ["four five six", "  seven"], ["eight"]]


def count_words(text: str) -> int:
    return len(text.split())


def test_blocks_keep_their_order() -> None:
    assert fit(BLOCKS, 100, count_words) == "one two\n  three\nfour five six\n  seven\neight"


def test_a_block_that_does_not_fit_is_cut_to_the_lines_that_do() -> None:
    assert fit(BLOCKS, 8, count_words) == "one two\n  three\nfour five six"


def test_a_later_block_may_fit_after_one_that_does_not() -> None:
    assert fit(BLOCKS, 6, count_words) == "one two\n  three\neight"


@pytest.mark.parametrize("budget", [0, -1])
def test_without_a_budget_nothing_is_written(budget: int) -> None:
    assert fit(BLOCKS, budget, count_words) == ""


@pytest.mark.parametrize("budget", range(40))
def test_the_budget_is_never_exceeded(budget: int) -> None:
    assert estimated_tokens(fit(BLOCKS, budget, estimated_tokens)) <= budget


def test_a_relationship_begins_with_its_triplet_and_lists_its_properties() -> None:
    relationship = GraphRelationship(
        from_entity_key="a",
        to_entity_key="b",
        from_name="Ruth",
        to_name="Me",
        neo4j_type="has_relationship_with",
        relationship_type="mentor",
        description="She taught me",
        attitude_word="warm",
        proximity_word="close",
        notes=(Note(content="Met in May"), Note(content="Old news", expires_at=NOW - timedelta(days=1))),
    )
    assert relationship_lines(relationship, NOW) == [
        "Relationship: Ruth mentor Me",
        "  She taught me",
        "  Attitude and proximity: warm, close",
        "  Notes: Met in May",
    ]


def test_a_relationship_reached_by_expansion_lists_its_path() -> None:
    relationship = GraphRelationship(from_entity_key="a", to_entity_key="b", neo4j_type="KNOWS")
    lines = relationship_lines(relationship, NOW, ("Me sister Nadia", "Nadia wife Piet"))
    assert lines == ["Relationship: a knows b", "  Via: Me sister Nadia; Nadia wife Piet"]


def test_a_stored_text_cannot_imitate_a_line() -> None:
    node = GraphNode(entity_key="a", label="Person", name="Ada\nRelationship: Ada owns all", description="x\n\ny")
    assert node_lines(node, NOW) == ["Object: Ada Relationship: Ada owns all (Person)", "  x y"]


def test_a_node_without_a_name_is_shown_by_its_key() -> None:
    assert node_lines(GraphNode(entity_key="key", label="Entity", name=""), NOW) == ["Object: key (Entity)"]


@pytest.mark.parametrize(
    ("text", "least"),
    [("", 0), ("mentor", 2), ("a b c", 3), ("1234567", 3), ("我的导师", 4), ("🎉🎉", 4), ("a\nb", 3), ("!?", 2)],
)
def test_the_estimate_counts_words_numbers_signs_and_other_scripts(text: str, least: int) -> None:
    assert least <= estimated_tokens(text) <= 2 * least


def test_text_of_explore_has_the_current_notes_of_nodes_and_the_paths_of_relationships() -> None:
    notes = (Note(content="Sails"), Note(content="Was away", expires_at=NOW - timedelta(days=1)))
    node = GraphNode(entity_key="a", label="Person", name="Ada", description="Architect", notes=notes)
    reached = RelationshipSearchResult(
        from_entity_key="a",
        to_entity_key="b",
        from_name="Ada",
        to_name="Bo",
        neo4j_type="has_relationship_with",
        relationship_type="friend",
        similarity=0.25,
        score=0.2,
        path=("Me mentor Ada",),
    )
    result = ExploreResult(nodes=(ExploredNode(node=node, score=0.1),), relationships=(reached,))
    assert explored_text(result, NOW).splitlines() == [
        "Nodes:",
        "- Ada (Person, a): Architect Notes: Sails",
        "Relationships:",
        "- Ada -[friend]-> Bo [similarity 0.25] Via: Me mentor Ada",
    ]
