"""Evaluates constraints that Cypher cannot: regular expressions, which could block the server, and
values inside JSON.

The stored values are read and evaluated here; those that satisfy the constraint become a list with
which the statement compares. RE2 takes time linear in the length of the text, whatever the
expression.
"""

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import re2
from pydantic import JsonValue

from kgagent.errors import InputError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import plain
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.models.constraint import EQUALITY_TYPES, ORDER_OPERATORS, Constraint, ConstraintType
from kgagent.patterns.predicates import Then, property_name
from kgagent.patterns.reads import UserReads

MAX_DISTINCT_VALUES = 100_000
"""Maximum number of distinct values of one property that are evaluated."""

_MEMORY = 1 << 20
"""Bytes of a compiled expression, which bounds the time that a match takes to seconds."""

_COMPARISONS: Mapping[ConstraintType, Callable[[Any, Any], bool]] = {
    ConstraintType.GREATER_THAN: operator.gt,
    ConstraintType.LESS_THAN: operator.lt,
    ConstraintType.GREATER_THAN_EQUALS: operator.ge,
    ConstraintType.LESS_THAN_EQUALS: operator.le,
    ConstraintType.CONTAINS: operator.contains,
    ConstraintType.STARTS_WITH: str.startswith,
    ConstraintType.ENDS_WITH: str.endswith,
}


class StoredValues:
    """Finds the stored values that satisfy constraints, former ones too.

    Args:
        reads: reads of the user's graph.
        then: what has a history, at the time asked for.
    """

    def __init__(self, reads: UserReads, then: Then = MappingProxyType({})) -> None:
        self._reads = reads
        self._then = then

    async def matching(self, constraint: Constraint, scope: Sequence[str]) -> list[JsonValue]:
        """The user's values of the constraint's property that satisfy it.

        Args:
            constraint: a constraint for which `needs_matching` is true.
            scope: labels of the nodes, or Neo4j types of the relationships, to which it applies;
                empty for any.

        Raises:
            InputError: the regular expression is invalid, there are too many values, evaluating
                them takes too long, or text would be compared with a number.
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        is_satisfied = _test(constraint)
        distinct = await self._distinct_values(constraint, scope)
        texts = [value for value, is_time in distinct if isinstance(value, str) and not is_time]
        name, _ = property_name(constraint.property_path)
        former = (values.get(name) for values in self._then.values())
        texts += {value for value in former if isinstance(value, str)}
        # Many values take seconds, during which the event loop would be blocked.
        return await asyncio.to_thread(self._satisfying, texts, constraint, is_satisfied)

    def _satisfying(
        self,
        texts: Iterable[str],
        constraint: Constraint,
        is_satisfied: Callable[[Sequence[JsonValue]], bool],
    ) -> list[JsonValue]:
        """The texts that satisfy a constraint, within the time limit."""
        _, inside = property_name(constraint.property_path)
        satisfying: list[JsonValue] = []
        for text in texts:
            if self._reads.is_over:
                raise InputError(
                    f"Evaluating {constraint.type} on {constraint.property_path!r} took too long: "
                    f"add a node_label, or "
                    "use a simpler constraint"
                )
            if is_satisfied(list(_inside(text, inside.split("."))) if inside else [text]):
                satisfying.append(text)
        return satisfying

    async def type_mismatch(
        self, constraint: Constraint, scope: Sequence[str]
    ) -> InputError | None:
        """The error for a comparison with a stored value of another type; None if there is no such
        value.
        """
        wanted = _kind(constraint.value) if constraint.type in ORDER_OPERATORS else "text"
        for value, is_time in await self._distinct_values(constraint, scope):
            if is_time and constraint.type in ORDER_OPERATORS and wanted == "text":
                continue
            if isinstance(value, list) and constraint.type is ConstraintType.CONTAINS:
                continue
            if is_time or _kind(value) != wanted or _kind(constraint.value) != wanted:
                return _type_mismatch(constraint, value)
        return None

    async def _distinct_values(
        self, constraint: Constraint, scope: Sequence[str]
    ) -> list[tuple[JsonValue, bool]]:
        """The values of a property, each with whether it is a date or a time, which is returned as
        text.
        """
        parameters: dict[str, object] = {"limit": MAX_DISTINCT_VALUES + 1}
        names = {"property": Identifier(property_name(constraint.property_path)[0])}
        if constraint.on == "relationship":
            text = statement("distinct_relationship_values", **names)
            parameters["types"] = list(scope)
        elif scope:
            text = statement("distinct_node_values", label=Identifier.any_of(scope), **names)
        else:
            text = statement(
                "distinct_node_values_any",
                own_labels=Identifier.any_of(sorted(OWN_LABELS)),
                **names,
            )
        rows = await self._reads.read(text, parameters)
        if len(rows) > MAX_DISTINCT_VALUES:
            raise InputError(
                f"{constraint.type} on {constraint.property_path!r} would evaluate more than "
                f"{MAX_DISTINCT_VALUES:,} "
                "distinct values: add a node_label, or use STARTS_WITH, CONTAINS or PROPERTY_EQUALS"
            )
        return [(plain(row["value"]), row["is_time"]) for row in rows]


def _test(constraint: Constraint) -> Callable[[Sequence[JsonValue]], bool]:
    """A predicate: whether any of the values that stand at a path satisfies the constraint; for
    NOT_IN, all of them.
    """
    kind, given = constraint.type, constraint.value
    if kind in EQUALITY_TYPES:
        wanted = frozenset((_kind(value), value) for value in constraint.compared_values)

        def is_among(values: Sequence[JsonValue]) -> bool:
            items = (item for value in values for item in _scalars(value))
            among = any(
                not isinstance(item, dict) and (_kind(item), item) in wanted for item in items
            )
            return bool(values) and not among if kind is ConstraintType.NOT_IN else among

        return is_among
    if kind is ConstraintType.REGEX_MATCH:
        expression = _compiled(constraint)
        return lambda values: any(
            expression.fullmatch(_comparable(item, constraint))
            for value in values
            for item in _scalars(value)
        )
    compare = _COMPARISONS[kind]

    def is_satisfied(values: Sequence[JsonValue]) -> bool:
        for value in values:
            if kind is ConstraintType.CONTAINS and isinstance(value, list):
                if any(_kind(item) == _kind(given) and item == given for item in value):
                    return True
            elif any(compare(_comparable(item, constraint), given) for item in _scalars(value)):
                return True
        return False

    return is_satisfied


def _compiled(constraint: Constraint) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(str(constraint.value), options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InputError(
            f"REGEX_MATCH on {constraint.property_path!r} cannot use "
            f"{str(constraint.value)[:80]!r}: {text}. "
            "Use RE2 syntax, without look-around and back-references"
        ) from None


def _comparable(stored: JsonValue, constraint: Constraint) -> Any:  # noqa: ANN401
    """A stored value that the constraint can compare with its own: text, or a number for the
    orders.

    Raises:
        InputError: the types differ.
    """
    kinds = {"text", "number"} if constraint.type in ORDER_OPERATORS else {"text"}
    if _kind(stored) != _kind(constraint.value) or _kind(stored) not in kinds:
        raise _type_mismatch(constraint, stored)
    return stored


def _inside(text: str, path: Iterable[str]) -> Iterator[JsonValue]:
    """The values at a path inside JSON text; each item of a list is followed."""
    try:
        reached = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    for name in path:
        items = (
            item for value in reached for item in (value if isinstance(value, list) else [value])
        )
        reached = [item[name] for item in items if isinstance(item, dict) and name in item]
    yield from (item for item in reached if item is not None)


def _scalars(value: JsonValue) -> Iterator[JsonValue]:
    """The scalars in a list, at any depth; another value is returned as it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(reversed(item))
        elif item is not None:
            yield item


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _type_mismatch(constraint: Constraint, stored: JsonValue) -> InputError:
    hint = (
        f"; {constraint.property_path} is a number from 1 to 5"
        if constraint.property_path in LEVEL_FIELDS
        else ""
    )
    return InputError(
        f"{constraint.type} on {constraint.property_path!r} cannot compare the stored value "
        f"{str(stored)[:60]!r} with "
        f"{str(constraint.value)[:60]!r}: their types differ{hint}"
    )
