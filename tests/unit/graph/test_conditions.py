from typing import Any

import pytest

from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import InputError
from kgagent.graph.conditions import (
    Defect,
    VectorCondition,
    node_defect,
    relationship_defect,
    stored_level,
    vector_condition,
)
from kgagent.graph.inspection import InspectedEnd, InspectedNode, InspectedRelationship
from kgagent.graph.record_saver import embedding_hash
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.ontology import default_ontology

EMBEDDER = HashingEmbedder(8)
CURRENT: dict[str, Any] = {"embedding_hash": embedding_hash(EMBEDDER, "a"), "embedding_model": EMBEDDER.model}


def record(length: int | None = 8, /, **properties: Any) -> RelationshipRecord:
    return RelationshipRecord(
        element_id="x",
        neo4j_type="has_relationship_with",
        from_entity_key="a",
        to_entity_key="b",
        from_name="",
        to_name="",
        vector_length=length,
        properties=properties,
    )


def relationship(
    start: dict[str, str] | None = None, *, is_duplicate: bool = False, **properties: Any
) -> InspectedRelationship:
    end = {"entity_key": "b", "user_id": "me", "label": "Person"}
    return InspectedRelationship(
        record=record(**properties),
        start=InspectedEnd(**{**end, "entity_key": "a", **(start or {})}),
        end=InspectedEnd(**end),
        has_vector=True,
        is_duplicate=is_duplicate,
    )


@pytest.mark.parametrize(
    ("stored", "text", "has_vector", "condition"),
    [
        (record(**CURRENT), "a", True, VectorCondition.CURRENT),
        (record(None), "", False, VectorCondition.CURRENT),
        (record(**CURRENT), "", True, VectorCondition.WITHOUT_TEXT),
        (record(None), "a", False, VectorCondition.MISSING),
        (record(None, **CURRENT), "a", True, VectorCondition.NOT_A_VECTOR),
        (record(7, **CURRENT), "a", True, VectorCondition.WRONG_LENGTH),
        (record(**{**CURRENT, "embedding_model": "older"}), "a", True, VectorCondition.OTHER_MODEL),
        (record(), "a", True, VectorCondition.UNKNOWN_MODEL),
        (record(**CURRENT), "b", True, VectorCondition.STALE),
    ],
)
def test_the_condition_of_a_vector(
    stored: RelationshipRecord, text: str, has_vector: bool, condition: VectorCondition
) -> None:
    assert vector_condition(stored, text, EMBEDDER, has_vector=has_vector) is condition


@pytest.mark.parametrize(
    ("inspected", "defect"),
    [
        (relationship(), None),
        (relationship(attitude=1, proximity=5, version=3), None),
        (relationship({"label": ""}), Defect.NO_LABEL),
        (relationship({"entity_key": ""}), Defect.NO_ENTITY_KEY),
        (relationship({"user_id": ""}), Defect.NO_USER),
        (relationship({"user_id": "you"}), Defect.TWO_USERS),
        (relationship({"entity_key": "b"}), Defect.ONE_NODE),
        (relationship({"label": "Concept"}), Defect.WRONG_LABELS),
        (relationship(is_duplicate=True), Defect.DUPLICATE),
        (relationship(attitude=0), Defect.WRONG_LEVEL),
        (relationship(version=True), Defect.WRONG_VERSION),
    ],
)
def test_the_defect_of_a_relationship(inspected: InspectedRelationship, defect: Defect | None) -> None:
    assert relationship_defect(inspected, default_ontology()) is defect


@pytest.mark.parametrize(
    ("properties", "user_id", "defect"),
    [
        ({"entity_key": "a"}, "me", None),
        ({}, "me", Defect.NO_ENTITY_KEY),
        ({"entity_key": "a"}, "", Defect.NO_USER),
        ({"entity_key": "a", "version": 1.5}, "me", Defect.WRONG_VERSION),
    ],
)
def test_the_defect_of_a_node(properties: dict[str, Any], user_id: str, defect: Defect | None) -> None:
    stored = NodeRecord(element_id="x", label="Person", vector_length=None, properties=properties)
    assert node_defect(InspectedNode(record=stored, user_id=user_id, has_vector=False)) is defect


@pytest.mark.parametrize(
    ("stored", "level"), [(None, None), (3, 3), (5.0, 5), ("4", 4), (" Friendly ", 4), ("", None), ("  ", None)]
)
def test_levels_of_old_graphs_are_read(stored: object, level: int | None) -> None:
    assert stored_level(default_ontology(), record(attitude=stored), "attitude") == level


@pytest.mark.parametrize("stored", [0, 6, 2.5, float("nan"), float("inf"), True, "very_positive", "6", [4]])
def test_an_invalid_level_is_rejected(stored: object) -> None:
    with pytest.raises(InputError):
        stored_level(default_ontology(), record(attitude=stored), "attitude")
