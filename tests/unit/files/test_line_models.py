import json

import pytest

from kgagent.errors import InputError
from kgagent.files.load_lines import NodeLine, RelationshipLine, parse_line

NODE = {"kind": "node", "label": "Person", "name": "Ruth"}
RELATIONSHIP = {"kind": "relationship", "from": "a", "to": "b", "relationship_type": "mentor"}


def reason(line: object) -> str:
    with pytest.raises(InputError) as caught:
        parse_line(line if isinstance(line, str) else json.dumps(line))
    return str(caught.value)


def test_smallest_lines() -> None:
    node, relationship = parse_line(json.dumps(NODE)), parse_line(json.dumps(RELATIONSHIP))
    assert isinstance(node, NodeLine)
    assert (node.label, node.name, node.id, node.description) == ("Person", "Ruth", None, None)
    assert isinstance(relationship, RelationshipLine)
    assert (relationship.from_, relationship.to, relationship.attitude) == ("a", "b", None)


def test_a_note_is_a_text_or_an_object() -> None:
    line = parse_line(json.dumps({**NODE, "notes": ["plain", {"content": "said", "added_by": "eve"}]}))
    assert [(note.content, note.added_by) for note in line.notes] == [("plain", None), ("said", "eve")]


def test_properties_are_scalars() -> None:
    line = parse_line(json.dumps({**NODE, "properties": {"is_owner": True, "age": 40, "score": 0.5, "old": None}}))
    assert dict(line.properties) == {"is_owner": True, "age": 40, "score": 0.5, "old": None}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"kind": "node"', "not JSON: EOF while parsing an object at column 15"),
        ("[]", "not a JSON object"),
        ("3", "not a JSON object"),
        ("{}", 'kind must be "node" or "relationship"'),
        ({"kind": "edge"}, 'kind must be "node" or "relationship"'),
        ({"kind": "node", "label": "Person"}, "name is missing"),
        ({**NODE, "nmae": "x"}, "nmae is not a field of a node"),
        ({**RELATIONSHIP, "from_": "x"}, "from_ is not a field of a relationship"),
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
        ('{"kind": "node", "label": "P", "name": "x", "properties": {"a": NaN}}', "properties.a: must be a finite"),
        (r'{"kind": "node", "label": "P", "name": "\ud800"}', "not JSON"),
    ],
)
def test_a_problem_is_described_with_its_value(line: object, expected: str) -> None:
    assert expected in reason(line)


@pytest.mark.parametrize("name", ["user_id", "entity_key", "name", "embedding", "relationship_embedding", "version"])
def test_reserved_property_names_are_refused(name: str) -> None:
    assert f"properties.{name}: the name is reserved" in reason({**NODE, "properties": {name: 1}})


@pytest.mark.parametrize("name", ["", "a\nb", "a\\u0060b"])
def test_property_names_that_cannot_be_names_are_refused(name: str) -> None:
    assert "cannot be the name" in reason({**NODE, "properties": {name: 1}})


def test_all_problems_are_described() -> None:
    said = reason({**RELATIONSHIP, "attitude": 9, "proximity": 0, "to": ""})
    assert "attitude" in said
    assert "proximity" in said
    assert "to: " in said


def test_a_long_value_is_truncated() -> None:
    assert len(reason({**NODE, "notes": "x" * 5_000})) < 200
