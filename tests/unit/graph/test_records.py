import math
from datetime import UTC, datetime
from typing import Any

import neo4j.time
import pytest

from kgagent.graph.record_saver import stored_version
from kgagent.graph.records import Record, RelationshipRecord, ontology_label, plain
from kgagent.ontology import default_ontology
from tests.support import facts


def relationship(**properties: Any) -> RelationshipRecord:
    return RelationshipRecord.read(
        {
            "element_id": "x",
            "neo4j_type": "engages_with",
            "from_entity_key": "p",
            "to_entity_key": "c",
            "from_name": "Ann",
            "to_name": None,
            "vector_length": None,
            "has_old_embeddings": False,
            "properties": properties,
        }
    )


@pytest.mark.parametrize(
    ("stored", "level"),
    [
        (5, 5),
        (4.0, 4),
        (4.5, None),
        ("close", None),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        ([1], None),
    ],
)
def test_a_level_is_a_whole_number(stored: object, level: int | None) -> None:
    assert relationship(attitude=stored).level("attitude") == level


def test_a_record_that_kgagent_never_wrote_has_version_0() -> None:
    assert stored_version(Record(element_id="x", vector_length=None, properties={})) == 0


def test_nothing_internal_is_shown() -> None:
    internal = dict.fromkeys(
        [*facts.NEVER_RETURNED, "user_id", "version", "relationship_key", "embedding_hash"], "x"
    )
    assert relationship(**internal, since=2019).to_model(default_ontology()).properties == {
        "since": 2019
    }


def test_a_long_list_of_numbers_is_not_shown_whatever_its_name() -> None:
    shown = relationship(emb=[0.1] * 384, vector=[*range(32)], years=[2019, 2020], names=["a"] * 99)
    assert shown.to_model(default_ontology()).properties == {
        "names": ["a"] * 99,
        "years": [2019, 2020],
    }


def test_values_of_the_database_become_json() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert plain(neo4j.time.DateTime.from_native(moment)) == "2026-01-01T00:00:00.000000000+00:00"
    assert plain(neo4j.time.Date(2026, 1, 1)) == "2026-01-01"
    assert plain(moment) == "2026-01-01T00:00:00+00:00"
    assert plain([1, math.nan, {"a": math.inf}]) == [1, "nan", {"a": "inf"}]
    assert plain(b"x") == "b'x'"


def test_the_first_label_of_the_ontology_counts() -> None:
    assert ontology_label(["Entity", "Other", "Person"], default_ontology()) == "Person"
