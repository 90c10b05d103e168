from kgagent.models import GraphNode, GraphRelationship, Matches, Note


def relationship(**fields: object) -> GraphRelationship:
    return GraphRelationship.model_validate(
        {"from_entity_key": "a", "to_entity_key": "b", "neo4j_type": "involves", **fields}
    )


def test_a_payload_omits_empty_values() -> None:
    node = GraphNode(
        entity_key="k",
        label="Person",
        name="Ann",
        properties={"tags": [], "age": 0, "alive": False},
    )
    assert node.to_dict() == {
        "entity_key": "k",
        "label": "Person",
        "name": "Ann",
        "properties": {"age": 0, "alive": False},
    }


def test_a_payload_keeps_a_note_without_its_unknown_parts() -> None:
    payload = relationship(notes=[Note(content="x", added_by="u")]).to_dict()
    assert payload["notes"] == [{"content": "x", "added_by": "u"}]


def test_a_pair_is_the_same_from_either_end() -> None:
    assert relationship().pair == relationship(from_entity_key="b", to_entity_key="a").pair
    assert relationship().pair != relationship(neo4j_type="connected_to").pair


def test_matches_are_a_sequence_that_knows_its_plan() -> None:
    matches = Matches(["a", "b"], plan="index")
    assert list(matches) == ["a", "b"]
    assert matches[0] == "a"
    assert matches[1:] == ("b",)
    assert len(matches) == 2
    assert matches.plan == "index"
    assert repr(matches) == "Matches(plan='index', hits=('a', 'b'))"
    assert not Matches()
