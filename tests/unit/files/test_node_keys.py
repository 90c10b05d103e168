import json

import pytest

from kgagent import default_ontology
from kgagent.errors import InputError
from kgagent.files.load_lines import NodeLine, parse_line
from kgagent.files.node_keys import node_key


def key(user_id: str = "me", **fields: object) -> str:
    text = json.dumps({"kind": "node", **fields})
    line = parse_line(text)
    assert isinstance(line, NodeLine)
    return node_key(line, text, user_id=user_id, ontology=default_ontology())


def test_given_key_is_taken() -> None:
    assert key(label="Person", name="Ruth", id="r", entity_key="k-1") == "k-1"


def test_concept_has_the_key_of_its_rule() -> None:
    expected = default_ontology().label("Concept").entity_key(name="Debt", description="", user_id="me", created_at="")
    assert key(label="Concept", name="debt", id="x") == expected


def test_source_has_the_same_key_at_every_load_with_a_time_and_without() -> None:
    assert key(label="Source", name="Diary", description="d") == key(label="Source", name="Diary", description="d")
    at = "2024-05-01T12:00:00+02:00"
    assert key(label="Source", name="Diary", created_at=at) == key(
        label="Source", name="Diary", created_at="2024-05-01T10:00:00Z"
    )
    assert key(label="Source", name="Diary", created_at=at) != key(label="Source", name="Diary")


def test_person_has_the_key_of_user_and_id() -> None:
    assert key(label="Person", name="Ruth", id="r") == key(label="Person", name="Ruth A.", id="r")
    assert key(label="Person", name="Ruth", id="r") != key(label="Person", name="Ruth", id="s")
    assert key(label="Person", name="Ruth", id="r") != key("you", label="Person", name="Ruth", id="r")


def test_person_without_id_has_the_key_of_user_and_line() -> None:
    assert key(label="Person", name="Ruth") == key(label="Person", name="Ruth")
    assert key(label="Person", name="Ruth") != key(label="Person", name="Ruth", description="Another")


def test_unknown_label_is_named() -> None:
    with pytest.raises(InputError, match=r"Unknown label: Persn\. Known labels: Person"):
        key(label="Persn", name="Ruth")


def test_time_out_of_range_is_named() -> None:
    with pytest.raises(InputError, match="created_at: the time is out of range in UTC"):
        key(label="Source", name="Diary", created_at="0001-01-01T00:00:00+12:00")
