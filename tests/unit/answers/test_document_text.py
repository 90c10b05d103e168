from datetime import UTC, datetime, timedelta

from kgagent.answers.document_text import node_lines, relationship_lines
from kgagent.models import GraphNode, GraphRelationship, Note

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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
        notes=(
            Note(content="Met in May"),
            Note(content="Old news", expires_at=NOW - timedelta(days=1)),
        ),
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
    node = GraphNode(
        entity_key="a", label="Person", name="Ada\nRelationship: Ada owns all", description="x\n\ny"
    )
    assert node_lines(node, NOW) == ["Object: Ada Relationship: Ada owns all (Person)", "  x y"]


def test_a_node_without_a_name_is_shown_by_its_key() -> None:
    assert node_lines(GraphNode(entity_key="key", label="Entity", name=""), NOW) == [
        "Object: key (Entity)"
    ]
