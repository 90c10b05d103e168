"""Evaluates constraints that Cypher cannot: regular expressions, which could block the server, and values inside JSON.

The stored values are read and evaluated here; those that satisfy the constraint become a list with which the statement
compares. RE2 takes time linear in the length of the text, whatever the expression.
"""

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import re2
from pydantic import JsonValue

from kgagent.errors import InputError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import plain
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.models.constraint import LIST_TYPES, ORDER_OPERATORS, Constraint, ConstraintType
from kgagent.patterns.predicates import property_name
from kgagent.patterns.reads import UserReads

MAX_DISTINCT_VALUES = 100_000
"""Maximum number of distinct values of one property that are evaluated."""

_MEMORY = 8 << 20

_COMPARE: Mapping[ConstraintType, Callable[[Any, Any], bool]] = {
    ConstraintType.GREATER_THAN: operator.gt,
    ConstraintType.LESS_THAN: operator.lt,
    ConstraintType.GREATER_THAN_EQUALS: operator.ge,
    ConstraintType.LESS_THAN_EQUALS: operator.le,
}

_MAX_INSTRUCTIONS = 100_000_000
"""Instructions of an expression times characters of a text, the cost of a match at worst: about a second."""


class StoredValues:
    """Finds the stored values that satisfy constraints."""

    def __init__(self, reads: UserReads) -> None:
        self._reads = reads

    async def matching(self, constraint: Constraint, scope: Sequence[str]) -> list[JsonValue]:
        """The user's values of the constraint's property that satisfy it.

        Args:
            constraint: a constraint for which `needs_matching` is true.
            scope: labels of the nodes, or Neo4j types of the relationships, to which it applies; empty for any.

        Raises:
            InputError: the regular expression is invalid, there are too many values, evaluating them takes too long, or
                text would be compared with a number.
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        name, inside = property_name(constraint.property_path)
        is_satisfied = _check(constraint)
        distinct = await self._distinct_values(name, constraint, scope)
        values = [value for value, is_time in distinct if not is_time]
        # Many values take seconds, during which the event loop would be blocked.
        return await asyncio.to_thread(self._satisfying, values, inside, constraint, is_satisfied)

    def _satisfying(
        self,
        values: Iterable[JsonValue],
        inside: str,
        constraint: Constraint,
        is_satisfied: Callable[[Sequence[JsonValue]], bool],
    ) -> list[JsonValue]:
        """The values that satisfy a constraint, within the time limit."""
        satisfying: list[JsonValue] = []
        for value in values:
            if self._reads.deadline.is_over:
                raise InputError(
                    f"Evaluating {constraint.type} on {constraint.property_path!r} took too long: add a node_label, or "
                    "use a simpler constraint"
                )
            if isinstance(value, str) and is_satisfied(list(_inside(value, inside.split("."))) if inside else [value]):
                satisfying.append(value)
        return satisfying

    async def type_mismatch(self, constraint: Constraint, scope: Sequence[str]) -> InputError | None:
        """The error for a comparison with a stored value of another type; None if there is no such value."""
        name, _ = property_name(constraint.property_path)
        wanted = _kind(constraint.value) if constraint.type in ORDER_OPERATORS else "text"
        for value, is_time in await self._distinct_values(name, constraint, scope):
            if is_time and constraint.type in ORDER_OPERATORS and wanted == "text":
                continue
            if isinstance(value, list) and constraint.type is ConstraintType.CONTAINS:
                continue
            if is_time or _kind(value) != wanted or _kind(constraint.value) != wanted:
                return _type_mismatch(constraint, value)
        return None

    async def _distinct_values(
        self, name: str, constraint: Constraint, scope: Sequence[str]
    ) -> list[tuple[JsonValue, bool]]:
        """The values, each with whether it is a date or a time, which is returned as text."""
        parameters: dict[str, object] = {"limit": MAX_DISTINCT_VALUES + 1}
        names = {"property": Identifier(name)}
        if constraint.on == "relationship":
            text = statement("distinct_relationship_values", **names)
            parameters["types"] = list(scope)
        elif scope:
            text = statement("distinct_node_values", label=Identifier.any_of(scope), **names)
        else:
            text = statement("distinct_node_values_any", own_labels=Identifier.any_of(sorted(OWN_LABELS)), **names)
        rows = await self._reads.read(text, parameters)
        if len(rows) > MAX_DISTINCT_VALUES:
            raise InputError(
                f"{constraint.type} on {constraint.property_path!r} would evaluate more than {MAX_DISTINCT_VALUES:,} "
                "distinct values: add a node_label, or use STARTS_WITH, CONTAINS or PROPERTY_EQUALS"
            )
        return [(plain(row["value"]), row["is_time"]) for row in rows]


def _compiled(constraint: Constraint) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(str(constraint.value), options)
    except re2.error as error:
        raise InputError(
            f"REGEX_MATCH on {constraint.property_path!r} cannot use {str(constraint.value)[:80]!r}: {_reason(error)}. "
            "Use RE2 syntax, without look-around and back-references"
        ) from None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _check(constraint: Constraint) -> Callable[[Sequence[JsonValue]], bool]:
    """A predicate that tells whether any of some values satisfies the constraint."""
    if constraint.type is ConstraintType.REGEX_MATCH:
        expression = _compiled(constraint)
        return lambda values: any(
            _matches(expression, item, constraint) for value in values for item in _scalars(value)
        )
    if constraint.type not in LIST_TYPES:
        return lambda values: any(_satisfies(constraint, value) for value in values)
    among = frozenset((_kind(item), item) for item in _items(constraint.value))
    if constraint.type is ConstraintType.PROPERTY_IN:
        return lambda values: any(_is_in(item, among) for value in values for item in _scalars(value))
    return lambda values: bool(values) and not any(_is_in(item, among) for value in values for item in _scalars(value))


def _matches(expression: "re2._Regexp", value: JsonValue, constraint: Constraint) -> bool:
    if isinstance(value, str):
        if expression.programsize * len(value) > _MAX_INSTRUCTIONS:
            raise InputError(
                f"REGEX_MATCH on {constraint.property_path!r} cannot use {str(constraint.value)[:80]!r}: it is too "
                f"large for a stored text of {len(value):,} characters. Use fewer repetitions"
            )
        return expression.fullmatch(value) is not None
    if property_name(constraint.property_path)[1]:
        raise _type_mismatch(constraint, value)
    return False


def _inside(value: JsonValue, path: Iterable[str]) -> Iterator[JsonValue]:
    """The values at a path inside JSON text; each item of a list is followed."""
    if not isinstance(value, str):
        return
    try:
        reached = [json.loads(value)]
    except (ValueError, RecursionError):
        return
    for name in path:
        reached = [part[name] for item in reached for part in _items(item) if isinstance(part, dict) and name in part]
    yield from (item for item in reached if item is not None)


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _scalars(value: JsonValue) -> Iterator[JsonValue]:
    """The scalars in a list, at any depth; another value is returned as it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        elif item is not None:
            yield item


def _satisfies(constraint: Constraint, stored: JsonValue) -> bool:
    """Whether a value satisfies a constraint; a list does if one of its items does."""
    if isinstance(stored, list) and constraint.type is ConstraintType.CONTAINS:
        return any(_is_same(constraint.value, item) for item in stored)
    return any(_scalar_satisfies(constraint, item) for item in _scalars(stored))


def _scalar_satisfies(constraint: Constraint, stored: JsonValue) -> bool:
    kind, value = constraint.type, constraint.value
    if kind is ConstraintType.PROPERTY_EQUALS:
        return _is_same(stored, value)
    if kind in ORDER_OPERATORS:
        if _kind(stored) != _kind(value) or _kind(stored) not in {"text", "number"}:
            raise _type_mismatch(constraint, stored)
        return _COMPARE[kind](stored, value)
    if not isinstance(stored, str) or not isinstance(value, str):
        raise _type_mismatch(constraint, stored)
    return {
        ConstraintType.CONTAINS: value in stored,
        ConstraintType.STARTS_WITH: stored.startswith(value),
        ConstraintType.ENDS_WITH: stored.endswith(value),
    }[kind]


def _is_in(item: JsonValue, among: "frozenset[tuple[str, JsonValue]]") -> bool:
    return not isinstance(item, list | dict) and (_kind(item), item) in among


def _is_same(first: JsonValue, second: JsonValue) -> bool:
    return _kind(first) == _kind(second) and first == second


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _type_mismatch(constraint: Constraint, stored: JsonValue) -> InputError:
    hint = f"; {constraint.property_path} is a number from 1 to 5" if constraint.property_path in LEVEL_FIELDS else ""
    return InputError(
        f"{constraint.type} on {constraint.property_path!r} cannot compare the stored value {str(stored)[:60]!r} with "
        f"{str(constraint.value)[:60]!r}: their types differ{hint}"
    )
