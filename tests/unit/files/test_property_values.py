"""Values in a file: each comes back as it was, and nothing else is accepted."""

import json
import math
from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Duration
from neo4j.vector import Vector

from kgagent import InputError
from kgagent.files.json_lines import dump_json
from kgagent.files.property_values import decode_property, encode_property

KINDS = (
    st.text(st.characters(codec="utf-8")),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.builds(
        Duration,
        months=st.integers(-1000, 1000),
        days=st.integers(-1000, 1000),
        seconds=st.integers(-(2**40), 2**40),
        nanoseconds=st.integers(-(10**9), 10**9),
    ),
    st.builds(WGS84Point, st.tuples(st.floats(-180, 180), st.floats(-90, 90))),
    st.builds(CartesianPoint, st.tuples(st.floats(), st.floats(), st.floats())),
)
VALUES = st.one_of(st.binary(), *KINDS, *map(st.lists, KINDS))


def as_in_a_file(value: Any) -> Any:
    return json.loads(dump_json(value))


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same type and bits."""
    if isinstance(one, float):
        return type(other) is float and (
            math.isnan(one) if math.isnan(other) else repr(one) == repr(other)
        )
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


@settings(max_examples=60)
@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode_property(as_in_a_file(encode_property("x", None, value))), value)


@settings(max_examples=60)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_an_embedding_comes_back_with_the_same_bits(values: list[float]) -> None:
    decoded = decode_property(as_in_a_file(encode_property("embedding", None, values)))
    assert isinstance(decoded, array)
    assert same(decoded.tolist(), values)


@pytest.mark.parametrize("values", [[0.1], [1e300], [math.nan], [math.inf], [1, 2], []])
def test_an_embedding_that_float32_does_not_hold_stays_a_list(values: list[Any]) -> None:
    decoded = decode_property(as_in_a_file(encode_property("embedding", None, values)))
    assert same(decoded, values)


def test_a_vector_comes_back() -> None:
    decoded = decode_property(as_in_a_file(encode_property("v", None, Vector([1.0, 2.0], "f32"))))
    assert isinstance(decoded, Vector)
    assert (decoded.dtype, decoded.to_native()) == ("f32", [1.0, 2.0])


def test_a_value_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(
        InputError, match="Property 'x' has a value that cannot be exported: object"
    ):
        encode_property("x", None, object())


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"a": 1},
        {"$bytes": "%"},
        {"$integer": str(2**63)},
        {"$float32": "AAA="},
        math.nan,
        [1, 1.0],
        ["a", {"$date": "2024-01-01"}],
        [{"$float32": ""}],
    ],
)
def test_what_export_does_not_write_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="not a value that export writes"):
        decode_property(value)
