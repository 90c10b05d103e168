"""Data is refused by its size before anything else is done with it."""

from typing import Any

import pytest

from kgagent.errors import InputError
from kgagent.validation import MAX_DEPTH, MAX_FIELDS, check_size


def refused(data: object, max_values: int = 100) -> str:
    with pytest.raises(InputError) as raised:
        check_size(data, max_values=max_values, noun="A call")
    return str(raised.value)


def nested(levels: int) -> Any:
    data: Any = 1
    for _ in range(levels):
        data = [data]
    return data


def test_data_within_the_limits_is_accepted() -> None:
    check_size({"a": [1] * 98, "b": "text"}, max_values=100, noun="A call")
    check_size(nested(MAX_DEPTH), max_values=100, noun="A call")
    check_size({f"k{i}": None for i in range(MAX_FIELDS)}, max_values=MAX_FIELDS, noun="A call")


def test_too_many_values_are_refused_with_their_number() -> None:
    assert refused({"a": [1] * 5_000}) == "A call may have at most 100 values, got a list of 5,000. Split it"
    assert refused({"a": [[1] * 60, [1] * 60]}) == "A call may have at most 100 values, got at least 123. Split it"
    assert "got a list of 500" in refused({"a": tuple([()] * 500)})


def test_an_object_with_too_many_fields_is_refused() -> None:
    assert refused({"a": {f"k{i}": i for i in range(300)}}, 1_000) == (
        "A call may have at most 200 fields in one object, got 300"
    )


def test_values_that_are_nested_too_deeply_are_refused() -> None:
    assert (
        refused(nested(MAX_DEPTH + 1)) == f"A call may be nested at most {MAX_DEPTH} levels deep, got more. Flatten it"
    )
    assert "nested at most" in refused(nested(100_000))
