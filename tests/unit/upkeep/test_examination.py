"""Levels of old graphs, and which texts a migration embeds; `test_record_checks.py` has the issues of records."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import InputError
from kgagent.graph.record_saver import embedding_hash
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.ontology import default_ontology
from kgagent.upkeep.examination import InspectedEnd, InspectedRelationship, stored_level

EMBEDDER = HashingEmbedder(8)
CURRENT: dict[str, Any] = {"embedding_hash": embedding_hash(EMBEDDER, "a"), "embedding_model": EMBEDDER.model}


def record(**properties: Any) -> RelationshipRecord:
    return RelationshipRecord(
        element_id="x",
        neo4j_type="has_relationship_with",
        from_entity_key="a",
        to_entity_key="b",
        from_name="",
        to_name="",
        vector_length=8,
        properties={"description": "a", **properties},
    )


@pytest.mark.parametrize(
    ("properties", "outdated"),
    [({**CURRENT, "notes_text": "wrong"}, None), ({}, "a"), ({"description": None}, None)],
)
def test_only_a_text_without_current_embedding_is_outdated(properties: dict[str, Any], outdated: str | None) -> None:
    start, end = (InspectedEnd(entity_key=key, user_id="me", label="Person") for key in "ab")
    inspected = InspectedRelationship(
        record=record(**properties), start=start, end=end, has_vector=True, is_duplicate=False
    )
    relationships = RelationshipRepository(cast("Any", None), default_ontology())
    examined = inspected.examine(relationships, EMBEDDER, datetime(2026, 1, 1, tzinfo=UTC))
    assert examined.outdated_text == outdated


@pytest.mark.parametrize(
    ("stored", "level"), [(None, None), (3, 3), (5.0, 5), ("4", 4), (" Friendly ", 4), ("", None), ("  ", None)]
)
def test_levels_of_old_graphs_are_read(stored: object, level: int | None) -> None:
    assert stored_level(default_ontology(), record(attitude=stored), "attitude") == level


@pytest.mark.parametrize("stored", [0, 6, 2.5, float("nan"), float("inf"), True, "very_positive", "6", [4]])
def test_an_invalid_level_is_rejected(stored: object) -> None:
    with pytest.raises(InputError):
        stored_level(default_ontology(), record(attitude=stored), "attitude")
