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
from kgagent.upkeep import examination
from kgagent.upkeep.examination import (
    Examination,
    InspectedEnd,
    InspectedNode,
    InspectedRelationship,
    Issue,
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
    return inspected.examine(RELATIONSHIPS, EMBEDDER, NOW)


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
    ("stored", "has_vector", "issues"),
    [
        (record(**CURRENT), True, []),
        (record(None, **{**CURRENT, "description": None, "embedding_hash": None}), False, []),
        (record(**{**CURRENT, "description": None}), True, [examination.WITHOUT_TEXT]),
        (record(None), False, [examination.NO_EMBEDDING]),
        (record(None, **CURRENT), True, [examination.NOT_A_VECTOR]),
        (record(7, **CURRENT), True, [examination.WRONG_LENGTH]),
        (record(**{**CURRENT, "embedding_model": "older"}), True, [examination.other_model("older", EMBEDDER.model)]),
        (record(), True, [examination.UNKNOWN_MODEL]),
        (record(**{**CURRENT, "description": "b"}), True, [examination.STALE]),
        (record(**CURRENT, attitude="4"), True, [examination.LEVELS_AS_TEXT]),
        (record(**CURRENT, notes_text="what no note says"), True, [examination.WRONG_NOTES_TEXT]),
        (
            record(**{**CURRENT, "user_id": "you", "relationship_key": None}),
            True,
            [examination.WRONG_USER, examination.WRONG_KEY],
        ),
    ],
)
def test_the_issues_of_a_relationship(stored: RelationshipRecord, has_vector: bool, issues: list[Issue]) -> None:
    examined = examine(replace(relationship(), record=stored, has_vector=has_vector))
    assert list(examined.issues) == issues


def test_only_a_text_without_current_embedding_is_outdated() -> None:
    assert examine(replace(relationship(), record=record(**CURRENT, notes_text="wrong"))).outdated_text is None
    assert examine(replace(relationship(), record=record())).outdated_text == "a"
    assert examine(replace(relationship(), record=record(description=None))).outdated_text is None


@pytest.mark.parametrize(
    ("inspected", "defect"),
    [
        (relationship(), None),
        (relationship(attitude=1, proximity=5, version=3), None),
        (relationship({"label": ""}), examination.NODE_WITHOUT_LABEL),
        (relationship({"entity_key": ""}), examination.NODE_WITHOUT_KEY),
        (relationship({"user_id": ""}), examination.NODE_WITHOUT_USER),
        (relationship({"user_id": "you"}), examination.TWO_USERS),
        (relationship({"entity_key": "b"}), examination.ONE_NODE),
        (relationship({"label": "Concept"}), examination.WRONG_LABELS),
        (relationship(is_duplicate=True), examination.DUPLICATE),
        (relationship(attitude=0), examination.WRONG_LEVEL),
        (relationship(version=True), examination.WRONG_VERSION),
    ],
)
def test_the_defect_of_a_relationship(inspected: InspectedRelationship, defect: Issue | None) -> None:
    assert examine(inspected).defect is defect


@pytest.mark.parametrize(
    ("properties", "user_id", "defect"),
    [
        ({"entity_key": "a"}, "me", None),
        ({}, "me", examination.NO_KEY),
        ({"entity_key": "a"}, "", examination.NO_USER),
        ({"entity_key": "a", "version": 1.5}, "me", examination.WRONG_VERSION),
    ],
)
def test_the_defect_of_a_node(properties: dict[str, Any], user_id: str, defect: Issue | None) -> None:
    stored = NodeRecord(element_id="x", label="Person", vector_length=None, properties=properties)
    node = InspectedNode(record=stored, user_id=user_id, has_vector=False)
    assert node.examine(NodeRepository(NO_STORE, default_ontology()), EMBEDDER, NOW).defect is defect


@pytest.mark.parametrize(
    ("stored", "level"), [(None, None), (3, 3), (5.0, 5), ("4", 4), (" Friendly ", 4), ("", None), ("  ", None)]
)
def test_levels_of_old_graphs_are_read(stored: object, level: int | None) -> None:
    assert stored_level(default_ontology(), record(attitude=stored), "attitude") == level


@pytest.mark.parametrize("stored", [0, 6, 2.5, float("nan"), float("inf"), True, "very_positive", "6", [4]])
def test_an_invalid_level_is_rejected(stored: object) -> None:
    with pytest.raises(InputError):
        stored_level(default_ontology(), record(attitude=stored), "attitude")
