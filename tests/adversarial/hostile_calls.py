"""Calls that are expensive to refuse: very many, very long or very deep values in each argument of
each tool.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.tools import BoundTool, Tool

_VALID: Mapping[str, Mapping[str, Any]] = {
    "explore": {"queries": [{"query": "mentors"}]},
    "hybrid_search": {"query": "mentors"},
    "query_patterns": {"query": "mentors"},
}


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    Attributes:
        tool: its name.
        name: what is hostile.
        arguments: its arguments.
    """

    tool: str
    name: str
    arguments: Mapping[str, Any]


_WRONG_NAMES = {f"k{i}": 1 for i in range(190)}
_UNKNOWN = {f"unknown{i}": i for i in range(100_000)}
_VALUES: Mapping[str, object] = {
    "100,000 names": [f"name {i}" for i in range(100_000)],
    "5,900 lists": [[] for _ in range(5_900)],
    "one text": "x" * 1_000_000,
    "wide text": "\ufb03\u0301 " * 125_000,
    "long number": 10**4_000,
    "deep objects": json.loads('{"a":' * 100 + "1" + "}" * 100),
}


def hostile_calls(tools: Mapping[str, BoundTool | Tool[Any]]) -> Iterator[Call]:
    """The calls, for every tool."""
    for field in ("nodes", "relationships", "notes"):
        yield Call("remember", f"{field}: 100 with wrong names", {field: [_WRONG_NAMES] * 100})
    people = [{"label": "Person", "name": "\ufdfa" * 480 + f" p{i}"} for i in range(100)]
    yield Call("remember", "names that normalization widens", {"nodes": people})
    wide: Any = {"stepz": []}
    for _ in range(4):
        wide = {"type": "UNION", "patterns": [wide] * 9}
    yield Call("query_patterns", "wide combinators", {"combinator": wide})
    deep: Any = {"steps": []}
    for _ in range(150):
        deep = {"type": "UNION", "patterns": [deep]}
    yield Call("query_patterns", "deep combinators", {"combinator": deep})
    yield Call(
        "explore", "8,000 queries", {"queries": [{"query": f"mentor {i}"} for i in range(8_000)]}
    )
    yield Call("explore", "8,000 signs", {"queries": [{"query": "?!" * 4_000}]})
    for name, bound in tools.items():
        valid = _VALID.get(name, {})
        yield Call(name, "100,000 unknown", {**valid, **_UNKNOWN})
        for field in bound.arguments.model_fields:
            for value_name, value in _VALUES.items():
                yield Call(name, f"{field}: {value_name}", {**valid, field: value})
