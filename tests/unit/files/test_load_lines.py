import json
import math

import pytest

from kgagent.errors import InputError
from kgagent.files.json_lines import FileLine, parse_line
from kgagent.files.load_lines import LINES, Line, NodeLine, RelationshipLine

NODE = {"kind": "node", "label": "Person", "name": "Ruth"}
RELATIONSHIP = {"kind": "relationship", "from": "a", "to": "b", "relationship_type": "mentor"}


def parse(line: object) -> Line:
    return parse_line(FileLine(1, json.dumps(line).encode()), LINES)


def reason(line: object) -> str:
    with pytest.raises(InputError) as caught:
        parse(line)
    return str(caught.value)


def test_smallest_lines() -> None:
    node, relationship = parse(NODE), parse(RELATIONSHIP)
    assert isinstance(node, NodeLine)
    assert (node.label, node.name, node.id, node.description) == ("Person", "Ruth", None, None)
    assert isinstance(relationship, RelationshipLine)
    assert (relationship.from_, relationship.to, relationship.attitude) == ("a", "b", None)


def test_a_note_is_a_text_or_an_object() -> None:
    line = parse({**NODE, "notes": ["plain", {"content": "said", "added_by": "eve"}]})
    assert [(note.content, note.added_by) for note in line.notes] == [("plain", None), ("said", "eve")]


def test_properties_are_scalars() -> None:
    line = parse({**NODE, "properties": {"is_owner": True, "age": 40, "score": 0.5, "old": None}})
    assert dict(line.properties) == {"is_owner": True, "age": 40, "score": 0.5, "old": None}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({**NODE, "nmae": "x"}, "unknown field nmae"),
        ({**RELATIONSHIP, "from_": "x"}, "unknown field from_"),
        ({**RELATIONSHIP, "attitude": 7}, "attitude: must be 1 to 5, got 7"),
        ({**RELATIONSHIP, "attitude": 10**30}, f"attitude: must be 1 to 5, got {10**30}"),
        (
            {**RELATIONSHIP, "proximity": True},
            "proximity: must be 1 to 5, or a word of the relationship's type, got True",
        ),
        ({**RELATIONSHIP, "attitude": 4.0}, "attitude: must be 1 to 5, or a word of the relationship's type, got 4.0"),
        ({**NODE, "notes": [3]}, "notes.0: must be text, or an object with content, got 3"),
        (
            {**NODE, "notes": [{"content": "x", "lifetime": "week"}]},
            "notes.0: lifetime needs date_added, which is missing",
        ),
        ({**NODE, "properties": {"a": [1]}}, "properties.a: must be text, a number, true, false or null, got [1]"),
        ({**NODE, "properties": {"a": 2**63}}, f"properties.a: must fit into 64 bits, got {2**63}"),
        ({**NODE, "properties": {"a": math.nan}}, "properties.a: must be a finite"),
    ],
)
def test_a_problem_is_described_with_its_value(line: object, expected: str) -> None:
    assert expected in reason(line)


@pytest.mark.parametrize("name", ["user_id", "entity_key", "name", "embedding", "relationship_embedding", "version"])
def test_reserved_property_names_are_refused(name: str) -> None:
    assert "the name is reserved" in reason({**NODE, "properties": {name: 1}})


@pytest.mark.parametrize("name", ["", "a\nb", "a\\u0060b"])
def test_property_names_that_cannot_be_names_are_refused(name: str) -> None:
    assert "cannot be the name" in reason({**NODE, "properties": {name: 1}})


def test_all_problems_are_described() -> None:
    assert reason({**RELATIONSHIP, "attitude": 9, "proximity": 0, "to": ""}) == (
        "to must not be empty, got ''; attitude: must be 1 to 5, got 9; proximity: must be 1 to 5, got 0"
    )


def test_a_long_value_is_truncated() -> None:
    assert len(reason({**NODE, "notes": "x" * 5_000})) < 200
