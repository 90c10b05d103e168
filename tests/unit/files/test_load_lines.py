import json
import math

import pytest

from kgagent.errors import InputError
from kgagent.files.json_lines import FileLine, parse_line
from kgagent.files.load_lines import LINES

NODE = {"kind": "node", "label": "Person", "name": "Ruth"}
RELATIONSHIP = {"kind": "relationship", "from": "a", "to": "b", "relationship_type": "mentor"}


def reason(line: object) -> str:
    with pytest.raises(InputError) as caught:
        parse_line(FileLine(1, json.dumps(line).encode()), LINES)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({**NODE, "nmae": "x"}, "unknown field nmae"),
        ({**RELATIONSHIP, "proximity": True}, "proximity must be a whole number or text, got True"),
        ({**RELATIONSHIP, "attitude": 4.5}, "attitude must be a whole number or text, got 4.5"),
        ({**NODE, "notes": [3]}, "notes.0 must be an object or text, got 3"),
        (
            {**NODE, "notes": [{"content": "x", "lifetime": "week"}]},
            "notes.0: lifetime needs date_added, which is missing",
        ),
        (
            {**NODE, "properties": {"a": [1]}},
            "properties.a must be text or true or false or a whole number or a number, got [1]",
        ),
        ({**NODE, "properties": {"a": math.nan}}, "a finite number, got nan"),
        ({**NODE, "properties": {"user_id": 1}}, "the name is reserved"),
        ({**NODE, "properties": {"relationship_embedding": 1}}, "the name is reserved"),
        ({**NODE, "properties": {"": 1}}, "cannot be the name"),
        (
            {**RELATIONSHIP, "proximity": [], "to": ""},
            "to must not be empty, got ''; proximity must be",
        ),
    ],
)
def test_a_problem_is_described_with_its_value(line: object, expected: str) -> None:
    assert expected in reason(line)


def test_a_long_value_is_truncated() -> None:
    assert len(reason({**NODE, "notes": "x" * 5_000})) < 200
