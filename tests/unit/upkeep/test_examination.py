from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import InputError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import embedding_hash
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository, relationship_key
from kgagent.ontology import default_ontology
from kgagent.upkeep.examination import (
    Condition,
    Defect,
    Examination,
    InspectedEnd,
    InspectedNode,
    InspectedRelationship,
    examine_node,
    examine_relationship,
    stored_level,
)

EMBEDDER = HashingEmbedder(8)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NO_STORE = cast("Any", None)
RELATIONSHIPS = RelationshipRepository(NO_STORE, default_ontology())
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
        properties={
            "description": "a",
            "user_id": "me",
            "relationship_key": relationship_key("has_relationship_with", "a", "b"),
            **properties,
        },
    )


def examine(inspected: InspectedRelationship) -> Examination:
    return examine_relationship(inspected, RELATIONSHIPS, EMBEDDER, NOW)


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
    ("stored", "has_vector", "conditions"),
    [
        (record(**CURRENT), True, []),
        (record(None, **{**CURRENT, "description": None, "embedding_hash": None}), False, []),
        (record(**{**CURRENT, "description": None}), True, [Condition.WITHOUT_TEXT]),
        (record(None), False, [Condition.NO_EMBEDDING]),
        (record(None, **CURRENT), True, [Condition.NOT_A_VECTOR]),
        (record(7, **CURRENT), True, [Condition.WRONG_LENGTH]),
        (record(**{**CURRENT, "embedding_model": "older"}), True, [Condition.OTHER_MODEL]),
        (record(), True, [Condition.UNKNOWN_MODEL]),
        (record(**{**CURRENT, "description": "b"}), True, [Condition.STALE]),
        (record(**CURRENT, attitude="4"), True, [Condition.LEVELS_AS_TEXT]),
        (record(**CURRENT, notes_text="what no note says"), True, [Condition.WRONG_NOTES_TEXT]),
        (
            record(**{**CURRENT, "user_id": "you", "relationship_key": None}),
            True,
            [Condition.WRONG_USER, Condition.WRONG_KEY],
        ),
    ],
)
def test_the_conditions_of_a_relationship(
    stored: RelationshipRecord, has_vector: bool, conditions: list[Condition]
) -> None:
    examined = examine(replace(relationship(), record=stored, has_vector=has_vector))
    assert list(examined.conditions) == conditions


def test_only_a_text_without_current_embedding_is_outdated() -> None:
    assert examine(replace(relationship(), record=record(**CURRENT, notes_text="wrong"))).outdated_text is None
    assert examine(replace(relationship(), record=record())).outdated_text == "a"
    assert examine(replace(relationship(), record=record(description=None))).outdated_text is None


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
    assert examine(inspected).defect is defect


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
    node = InspectedNode(record=stored, user_id=user_id, has_vector=False)
    assert examine_node(node, NodeRepository(NO_STORE, default_ontology()), EMBEDDER, NOW).defect is defect


@pytest.mark.parametrize(
    ("stored", "level"), [(None, None), (3, 3), (5.0, 5), ("4", 4), (" Friendly ", 4), ("", None), ("  ", None)]
)
def test_levels_of_old_graphs_are_read(stored: object, level: int | None) -> None:
    assert stored_level(default_ontology(), record(attitude=stored), "attitude") == level


@pytest.mark.parametrize("stored", [0, 6, 2.5, float("nan"), float("inf"), True, "very_positive", "6", [4]])
def test_an_invalid_level_is_rejected(stored: object) -> None:
    with pytest.raises(InputError):
        stored_level(default_ontology(), record(attitude=stored), "attitude")
