"""The filters of LangGraph's stores."""

from typing import Any

import pytest

from kgagent.adapters.langgraph.filters import accepts

VALUE = {
    "n": 5,
    "f": 5.5,
    "day": "2026-03-01",
    "flag": True,
    "none": None,
    "tags": ["a", {"b": 1}],
    "in": {"x": {"y": 2}},
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"n": 5, "day": "2026-03-01"}, True),
        ({"n": 5, "day": "2026-03-02"}, False),
        ({"n": {"$gt": 4, "$lte": 5}}, True),
        ({"n": {"$gt": 5}}, False),
        ({"f": {"$gte": 5}}, True),
        ({"n": {"$eq": 5}}, True),
        ({"n": {"$ne": 5}}, False),
        ({"missing": {"$ne": 5}}, True),
        ({"day": {"$lt": "2026-03-02"}}, True),
        ({"day": {"$gt": 4}}, False),
        ({"missing": {"$lt": 4}}, False),
        ({"missing": None}, True),
        ({"none": None}, True),
        ({"in": {"x": {"y": {"$gt": 1}}}}, True),
        ({"in": {"x": {"y": 3}}}, False),
        ({"n": {"x": 1}}, False),
        ({"tags": ["a", {"b": 1}]}, True),
        ({"tags": ("a", {"b": {"$lt": 1}})}, False),
        ({"tags": ["a"]}, False),
        ({"n": [5]}, False),
    ],
)
def test_a_filter_compares_fields(wanted: dict[str, Any], expected: bool) -> None:
    assert accepts(VALUE, wanted) is expected
