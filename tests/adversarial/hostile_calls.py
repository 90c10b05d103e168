"""Calls that are expensive to refuse: very many, very long or very deep values in each argument of each tool."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.tools import BoundTool, Tool

MANY = 100_000
DEEP = 5_000
LONG_TEXT = "x" * 1_000_000
WIDE_TEXT = "\ufb03\u0301 " * 125_000

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
        arguments: its arguments; None if they exist only as JSON.
        text: the arguments as JSON; None: made of `arguments`.
    """

    tool: str
    name: str
    arguments: Mapping[str, Any] | None
    text: str | None = None

    def json(self) -> str:
        """The arguments as JSON."""
        return json.dumps(self.arguments) if self.text is None else self.text


_MANY_FIELDS = {f"k{i}": 1 for i in range(190)}
_NAMES = [f"name {i}" for i in range(MANY)]
_SOME_NAMES = _NAMES[:5_900]
_LISTS: list[list[Any]] = [[] for _ in range(5 * MANY)]
_SOME_LISTS = _LISTS[:5_900]
_NUMBERED = {f"k{i}": i for i in range(MANY)}
_UNKNOWN = {f"unknown{i}": i for i in range(MANY)}
_DEEP_OBJECTS = json.loads('{"a":' * 100 + "1" + "}" * 100)


def hostile_calls(tools: Mapping[str, BoundTool | Tool[Any]]) -> Iterator[Call]:
    """The calls, for every tool."""
    yield from _batches()
    yield from _patterns()
    yield from _searches()
    yield from _long_notes()
    yield from _fields(tools)


def _batches() -> Iterator[Call]:
    misnamed = [{"from": f"a{i}", "to": f"b{i}", "kind": "x", "text": "y"} for i in range(500)]
    wrong = [{"from_entity_key": f"a{i}", "to_entity_key": f"b{i}", "attitude": {"a": 1}} for i in range(500)]
    for tool in ("create_relationships", "update_relationships"):
        yield Call(tool, "500 with wrong names", {"relationships": misnamed})
        yield Call(tool, "500 with wrong values", {"relationships": wrong})
        yield Call(tool, "100,000 empty", {"relationships": [{}] * MANY})
    for field in ("nodes", "relationships", "notes"):
        yield Call("remember", f"{field}: 200 with wrong names", {field: [{f"k{i}": 1 for i in range(400)}] * 100})
        yield Call("remember", f"{field}: 100,000 empty", {field: [{}] * MANY})
    for name, text in (("long", "xy " * 160), ("wide", "\u5b57" * 480), ("widening", "\ufdfa" * 480)):
        people = [{"label": "Person", "name": f"{text} p{i}"} for i in range(100)]
        unknown = [{"from": f"{text} r{i}", "to": f"{text} s{i}", "relationship_type": "friend"} for i in range(200)]
        yield Call("remember", f"{name} names", {"nodes": people, "relationships": unknown})
    notes = {"from_entity_key": "a", "to_entity_key": "b", "relationship_type": "c", "notes": [{}] * 100}
    yield Call("create_relationships", "many wrong notes", {"relationships": [notes] * 55})
    yield Call("create_relationships", "many wrong fields", {"relationships": [_MANY_FIELDS] * 30})


def _patterns() -> Iterator[Call]:
    yield Call("query_patterns", "many wrong fields", {"patterns": [_MANY_FIELDS] * 20})
    nested: Any = {"type": "UNION", "patterns": [_MANY_FIELDS] * 19}
    yield Call("query_patterns", "many wrong fields of combinators", {"combinator": nested})
    nested = {"type": "UNION", "patterns": [nested]}
    yield Call("query_patterns", "many wrong fields, nested", {"combinator": nested})
    wide: Any = {"stepz": []}
    for _ in range(4):
        wide = {"type": "UNION", "patterns": [wide] * 9}
    yield Call("query_patterns", "wide combinators", {"combinator": wide})
    deep_combinator: Any = {"steps": []}
    for _ in range(150):
        deep_combinator = {"type": "UNION", "patterns": [deep_combinator]}
    step = {"source_label": "Person", "relation_type": "engages_with", "target_label": "Concept"}
    yield Call("query_patterns", "100,000 patterns", {"patterns": [{"steps": [step]}] * MANY})
    yield Call("query_patterns", "5,000 patterns with wrong names", {"patterns": [{"stepz": [{"a": 1}]}] * 5_000})
    yield Call("query_patterns", "100,000 steps", {"patterns": [{"steps": [step] * MANY}]})
    types = [f"t{i}" for i in range(MANY)]
    yield Call("query_patterns", "100,000 types", {"patterns": [{"steps": [step | {"relation_type": types}]}]})
    yield Call("query_patterns", "deep combinators", {"combinator": deep_combinator})
    values = {"type": "PROPERTY_IN", "property_path": "name", "value": types, "at_step": 0}
    yield Call("query_patterns", "100,000 values", {"patterns": [{"steps": [step], "constraints": [values]}]})
    some = values | {"value": types[:5_900]}
    yield Call("query_patterns", "9,000 values", {"patterns": [{"steps": [step], "constraints": [some]}]})


def _searches() -> Iterator[Call]:
    yield Call("explore", "8,000 queries", {"queries": [{"query": f"mentor {i}"} for i in range(8_000)]})
    yield Call("explore", "2,000 wrong queries", {"queries": [{"qeury": f"mentor {i}", "b": 1} for i in range(2_000)]})
    yield Call("explore", "8,000 characters", {"queries": [{"query": "word " * 1_600}]})
    yield Call("explore", "8,000 signs", {"queries": [{"query": "?!" * 4_000}]})
    chinese = ["\u5b57\u8a9e\u6587\u56fd"[i % 4 :] + "\u5b57\u8a9e\u6587\u56fd" * 1_999 for i in range(10)]
    yield Call("explore", "10 queries of 8,000 Chinese characters", {"queries": [{"query": text} for text in chinese]})
    yield Call("hybrid_search", "8,000 characters", {"query": "Ab " * 2_600})
    yield Call("hybrid_search", "8,000 letters", {"query": "ab" * 4_000})


def _long_notes() -> Iterator[Call]:
    """Valid calls with as much text as a call may have."""
    ends = {"from_entity_key": "Ada Long", "to_entity_key": "Bo Long"}
    people = [{"label": "Person", "name": name} for name in ("Ada Long", "Bo Long")]
    friends = {"from": "Ada Long", "to": "Bo Long", "relationship_type": "friend"}
    for count, words in ((200, 1_100), (50, 4_750)):
        contents = [f"{i} " + "row " * words for i in range(count)]
        notes = [{"on": ["Ada Long", "Bo Long"] if i % 2 else "Ada Long", "content": contents[i]} for i in range(count)]
        title = f"{count} notes of {4 * words:,} characters"
        yield Call("remember", title, {"nodes": people, "relationships": [friends], "notes": notes})
        yield Call("update_node", title, {"entity_key": "Ada Long", "notes": [f"x{text}" for text in contents[:100]]})
        yield Call(
            "update_relationship", title, {**ends, "notes": [{"content": f"x{text}"} for text in contents[:100]]}
        )
        yield Call("get_relationship", title, ends)


def _fields(tools: Mapping[str, BoundTool | Tool[Any]]) -> Iterator[Call]:
    for name, bound in tools.items():
        valid = _VALID.get(name, {})
        yield Call(name, "8,000 unknown", {**valid, **{f"unknown{i}": i for i in range(8_000)}})
        yield Call(name, "190 unknown", {**valid, **{f"unknown{i}": i for i in range(190)}})
        yield Call(name, "100,000 unknown", {**valid, **_UNKNOWN})
        first, *_ = fields = list(bound.arguments.model_fields)
        yield Call(name, f"{first}: 500,000 lists", {**valid, first: _LISTS})
        yield Call(name, f"{first}: 5,900 lists", {**valid, first: _SOME_LISTS})
        yield Call(name, f"{first}: 100,000 fields", {**valid, first: _NUMBERED})
        for field in fields:
            yield Call(name, f"{field}: 100,000 names", {**valid, field: _NAMES})
            yield Call(name, f"{field}: 5,900 names", {**valid, field: _SOME_NAMES})
            yield Call(name, f"{field}: one text", {**valid, field: LONG_TEXT})
            yield Call(name, f"{field}: wide text", {**valid, field: WIDE_TEXT})
            yield Call(name, f"{field}: long number", {**valid, field: 10**4_000})
            yield Call(name, f"{field}: deep lists", None, f'{{"{field}": {"[" * DEEP}{"]" * DEEP}}}')
            yield Call(name, f"{field}: deep objects", {field: _DEEP_OBJECTS})
