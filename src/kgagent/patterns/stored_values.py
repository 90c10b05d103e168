"""Constraints that the database cannot work out: regular expressions, which could hold it up, and paths into JSON.

The stored values are looked at here, and those that satisfy the constraint become a list that the statement compares
with. RE2 takes time linear in the length of the text, whatever the expression.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import re2
from pydantic import JsonValue

from kgagent.errors import InputError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import plain
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models.constraint import LISTS, ORDERS, Constraint, ConstraintType
from kgagent.patterns.predicates import property_name
from kgagent.patterns.step_sequences import ConstraintScope

MAX_DIFFERENT = 100_000
"""Different values of one property that are looked at."""

_MEMORY = 8 << 20

_MAX_STEPS = 100_000_000
"""Instructions of an expression times characters of a text: what a match takes at the worst, seconds at this bound."""


class StoredValues:
    """Finds the stored values that satisfy constraints."""

    def __init__(self, store: Store, *, timeout: float) -> None:
        self._store = store
        self._timeout = timeout

    async def matching(self, constraint: Constraint, scope: ConstraintScope, user_id: str) -> list[JsonValue]:
        """The values of the constraint's property, among those of the user, that satisfy it.

        Args:
            constraint: one for which `needs_matching` holds.
            scope: what it is about.
            user_id: whose graph.

        Raises:
            InputError: the regular expression cannot be used, there are too many values, they take too long to look
                at, or text would be compared with a number.
            StoreError: the database failed.
        """
        name, inside = property_name(constraint.property_path)
        is_satisfied = _check(constraint)
        different = await self._different(name, constraint, scope, user_id)
        values = [value for value, is_time in different if not is_time]
        # Many values take seconds, in which everything else on the event loop would stand still.
        return await asyncio.to_thread(self._satisfying, values, inside, constraint, is_satisfied)

    def _satisfying(
        self,
        values: Iterable[JsonValue],
        inside: str,
        constraint: Constraint,
        is_satisfied: Callable[[Sequence[JsonValue]], bool],
    ) -> list[JsonValue]:
        """The values that satisfy a constraint, as long as the time of a statement lasts."""
        end = time.monotonic() + self._timeout
        found: list[JsonValue] = []
        for value in values:
            if time.monotonic() > end:
                raise InputError(
                    f"{constraint.type} on {constraint.property_path!r} took longer than {self._timeout:g} s to look "
                    "at what is stored: name a label (node_label), or compare with less"
                )
            if isinstance(value, str) and is_satisfied(list(_inside(value, inside.split("."))) if inside else [value]):
                found.append(value)
        return found

    async def type_mismatch(self, constraint: Constraint, scope: ConstraintScope, user_id: str) -> InputError | None:
        """The error of a comparison with a stored value of another kind; None where there is no such value."""
        name, _ = property_name(constraint.property_path)
        wanted = _kind(constraint.value) if constraint.type in ORDERS else "text"
        for value, is_time in await self._different(name, constraint, scope, user_id):
            if is_time and constraint.type in ORDERS and wanted == "text":
                continue
            if isinstance(value, list) and constraint.type is ConstraintType.CONTAINS:
                continue
            if is_time or _kind(value) != wanted or _kind(constraint.value) != wanted:
                return _type_mismatch(constraint, value)
        return None

    async def _different(
        self, name: str, constraint: Constraint, scope: ConstraintScope, user_id: str
    ) -> list[tuple[JsonValue, bool]]:
        """StatementParameters, each with whether it is a date or a time, which is told as text."""
        parameters: dict[str, object] = {"user_id": user_id, "limit": MAX_DIFFERENT + 1}
        names = {"property": Identifier(name)}
        if scope.on == "relationship":
            text = statement("distinct_relationship_values", **names)
            parameters["types"] = list(scope.types)
        elif scope.label is not None:
            text = statement("distinct_node_values", label=Identifier(scope.label), **names)
        else:
            text = statement("distinct_node_values_any", **names)
        rows = await self._store.read(text, parameters, timeout=self._timeout)
        if len(rows) > MAX_DIFFERENT:
            raise InputError(
                f"{constraint.type} on {constraint.property_path!r} would look at more than {MAX_DIFFERENT:,} "
                "different values: name a label (node_label), or use STARTS_WITH, CONTAINS or PROPERTY_EQUALS"
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
            f"REGEX_MATCH on {constraint.property_path!r} cannot use {str(constraint.value)[:80]!r}: {_why(error)}. "
            "The syntax is that of RE2, without look-around and back-references"
        ) from None


def _why(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _check(constraint: Constraint) -> Callable[[Sequence[JsonValue]], bool]:
    """Whether any of some values satisfies a constraint; what it is compared with is made ready once."""
    if constraint.type is ConstraintType.REGEX_MATCH:
        expression = _compiled(constraint)
        return lambda found: any(_matches(expression, one, constraint) for value in found for one in _scalars(value))
    if constraint.type not in LISTS:
        return lambda found: any(_satisfies(constraint, value) for value in found)
    among = frozenset((_kind(one), one) for one in _items(constraint.value))
    if constraint.type is ConstraintType.PROPERTY_IN:
        return lambda found: any(_is_in(one, among) for value in found for one in _scalars(value))
    return lambda found: bool(found) and not any(_is_in(one, among) for value in found for one in _items(value))


def _matches(expression: "re2._Regexp", value: JsonValue, constraint: Constraint) -> bool:
    if isinstance(value, str):
        if expression.programsize * len(value) > _MAX_STEPS:
            raise InputError(
                f"REGEX_MATCH on {constraint.property_path!r} cannot use {str(constraint.value)[:80]!r}: it is too "
                f"large for a stored text of {len(value):,} characters. Repeat less in it"
            )
        return expression.fullmatch(value) is not None
    if property_name(constraint.property_path)[1]:
        raise _type_mismatch(constraint, value)
    return False


def _inside(value: JsonValue, path: Iterable[str]) -> Iterator[JsonValue]:
    """What stands at a path inside JSON text; lists are gone through."""
    if not isinstance(value, str):
        return
    try:
        reached = [json.loads(value)]
    except (ValueError, RecursionError):
        return
    for name in path:
        reached = [one[name] for item in reached for one in _items(item) if isinstance(one, dict) and name in one]
    yield from (item for item in reached if item is not None)


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _scalars(value: JsonValue) -> Iterator[JsonValue]:
    """What a list holds, however deep; any other value is itself."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        elif one is not None:
            yield one


def _satisfies(constraint: Constraint, stored: JsonValue) -> bool:
    """Whether a value satisfies a constraint; a list does where it holds what is looked for."""
    if isinstance(stored, list) and constraint.type is ConstraintType.CONTAINS:
        return any(_is_same(constraint.value, one) for one in stored)
    return any(_scalar_satisfies(constraint, one) for one in _scalars(stored))


def _scalar_satisfies(constraint: Constraint, stored: JsonValue) -> bool:
    kind, value = constraint.type, constraint.value
    if kind is ConstraintType.PROPERTY_EQUALS:
        return _is_same(stored, value)
    if kind in ORDERS:
        if _kind(stored) != _kind(value) or _kind(stored) not in {"text", "number"}:
            raise _type_mismatch(constraint, stored)
        return {">": stored > value, "<": stored < value, ">=": stored >= value, "<=": stored <= value}[ORDERS[kind]]  # type: ignore[operator]
    if not isinstance(stored, str) or not isinstance(value, str):
        raise _type_mismatch(constraint, stored)
    return {
        ConstraintType.CONTAINS: value in stored,
        ConstraintType.STARTS_WITH: stored.startswith(value),
        ConstraintType.ENDS_WITH: stored.endswith(value),
    }[kind]


def _is_in(one: JsonValue, among: "frozenset[tuple[str, JsonValue]]") -> bool:
    return not isinstance(one, list | dict) and (_kind(one), one) in among


def _is_same(first: JsonValue, second: JsonValue) -> bool:
    return _kind(first) == _kind(second) and first == second


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _type_mismatch(constraint: Constraint, stored: JsonValue) -> InputError:
    return InputError(
        f"{constraint.type} on {constraint.property_path!r} cannot compare {str(stored)[:60]!r}, which is stored "
        f"there, with {str(constraint.value)[:60]!r}: one is text, the other is not"
    )
