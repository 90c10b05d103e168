"""Levels of old graphs; `test_record_checks.py` has the issues of records."""

import pytest

from kgagent.graph.records import RelationshipRecord
from kgagent.ontology import default_ontology
from kgagent.upkeep.examination import has_wrong_level


@pytest.mark.parametrize(
    ("stored", "is_wrong"),
    [
        *((value, False) for value in (None, 3, 5.0, "4", " Friendly ", "  ")),
        *((value, True) for value in (0, 6, 2.5, float("nan"), True, "very_positive", "6", [4])),
    ],
)
def test_a_level_is_a_number_or_a_word_of_the_type(stored: object, is_wrong: bool) -> None:
    record = RelationshipRecord(
        element_id="x",
        neo4j_type="has_relationship_with",
        from_entity_key="a",
        to_entity_key="b",
        from_name="",
        to_name="",
        vector_length=8,
        properties={"attitude": stored},
    )
    assert has_wrong_level(record, default_ontology()) is is_wrong
