"""Compiles constraints to Cypher predicates.

A comparison of values of different types, such as text with a number, must fail the statement: the
predicate divides by `$zero`, which nothing else in the statement does. It first checks owner and
label, because the server may evaluate predicates in any order.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from kgagent.graph.history import HISTORY_FIELDS
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import as_text
from kgagent.graph.statements import statement
from kgagent.models.constraint import (
    EQUALITY_TYPES,
    LIST_TYPES,
    ORDER_OPERATORS,
    TEXT_OPERATORS,
    Constraint,
    ConstraintType,
    Position,
)
from kgagent.models.free_types import type_names
from kgagent.models.pattern import TraversalStep
from kgagent.names import normalised_type
from kgagent.patterns.names import FREE_TYPE
from kgagent.patterns.step_sequences import property_parts

TYPE_MISMATCH = "1 / $zero = 1"
"""A predicate that fails the statement."""

_LIKE_A_DATE = re.compile(r"[+-]?\d{4,}-?\d\d")
_TIMES: Mapping[str, str] = {
    "DATE": "date",
    "ZONED DATETIME": "datetime",
    "LOCAL DATETIME": "localdatetime",
    "ZONED TIME": "time",
    "LOCAL TIME": "localtime",
}

Matching = Mapping[str, Sequence[JsonValue]]
"""Stored values that satisfy each constraint that Cypher cannot evaluate, by `matching_key`."""


Then = Mapping[str, Mapping[str, Any]]
"""Of what has a history, the values at the time asked for, by element id, and `is_kept`: whether
the filter keeps it then. Statements have it as the parameter `then`.
"""

NodeAt = Callable[[Position], str]
"""Returns the variable of the node of the path at a position."""


def property_name(path: str) -> tuple[str, str]:
    """The name of the property, and the path inside its JSON (empty if the whole property is
    meant).
    """
    name, *inside = property_parts(path)
    return name, ".".join(inside)


def needs_matching(constraint: Constraint) -> bool:
    """Whether Cypher cannot evaluate the constraint, so that the stored values are evaluated
    beforehand.
    """
    return constraint.type is ConstraintType.REGEX_MATCH or is_inside_json(constraint)


def is_inside_json(constraint: Constraint) -> bool:
    """Whether the constraint refers to a value inside a property that holds JSON."""
    return bool(property_name(constraint.property_path)[1])


def matching_key(constraint: Constraint) -> str:
    """A hashable key for the constraint, independent of the step to which it applies."""
    return constraint.model_dump_json(exclude={"at_step"})


class StatementParameters:
    """Collects the parameters of a statement."""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401
        self._values = dict(values)

    def add(self, value: Any) -> str:  # noqa: ANN401
        """Add a value as a new parameter, and return its placeholder."""
        name = f"p{len(self._values)}"
        self._values[name] = value
        return f"${name}"

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters."""
        return dict(self._values)


class Predicates:
    """Compiles the constraints of one statement, whose parameter `filter` is that of a search.

    Args:
        values: its parameters.
        matching: stored values that satisfy the constraints that Cypher cannot evaluate.
        then: what has a history, at the time asked for.
        is_as_of: whether the filter asks for a time.
    """

    def __init__(
        self, values: StatementParameters, matching: Matching, then: Then, *, is_as_of: bool
    ) -> None:
        self._values = values
        self._matching = matching
        self._then = then
        self._is_as_of = is_as_of

    def on_step(self, step: TraversalStep, variable: str) -> Iterator[str]:
        """What a step, and the time asked for, require of a relationship that it follows."""
        if self._is_as_of:
            yield f"all(r IN [{variable}] WHERE {statement('_allowed_relationship')})"
        if self._then:
            yield f"coalesce($then[elementId({variable})].is_kept, true)"
        if step.current:
            yield f"all(r IN [{variable}] WHERE {statement('_current')})"

    def on_node(
        self, constraint: Constraint, variable: str, node_at: NodeAt, *, label: str | None
    ) -> str:
        """Compile a constraint on a node.

        Args:
            constraint: the constraint.
            variable: variable of the node.
            node_at: returns the variables of other nodes of the path.
            label: label that the pattern requires of the node; None for any.
        """
        excluded = f"coalesce({variable}.user_id, '') <> $user_id"
        if label is not None:
            excluded += f" OR NOT {variable}:{Identifier(label)}"
        predicate = self._compile(constraint, variable, node_at, excluded=excluded)
        if constraint.node_label is None or constraint.node_label == label:
            return predicate
        return (
            f"CASE WHEN {variable}:{Identifier(constraint.node_label)} THEN {predicate} ELSE true "
            f"END"
        )

    def on_relationship(self, constraint: Constraint, variable: str, node_at: NodeAt) -> str:
        """Compile a constraint on a relationship."""
        ends = (
            f"coalesce({end}({variable}).user_id, '') <> $user_id"
            for end in ("startNode", "endNode")
        )
        excluded = " OR ".join((*ends, f"coalesce({variable}.user_id, $user_id) <> $user_id"))
        return self._compile(constraint, variable, node_at, excluded=excluded)

    def _compile(
        self, constraint: Constraint, variable: str, node_at: NodeAt, *, excluded: str
    ) -> str:
        constraint = self._with_former_types(constraint)
        kind, (name, _) = constraint.type, property_name(constraint.property_path)
        stored = self._stored(variable, name)
        if needs_matching(constraint):
            return self._is_among_matching(constraint, stored, excluded)
        if constraint.value_from is None:
            given = self._values.add(constraint.value)
            if kind in EQUALITY_TYPES:
                return _equals_value(kind, stored, given, constraint.value)
        else:
            other = node_at(constraint.value_from.at_step)
            given = self._stored(other, constraint.value_from.property_path)
            if kind in EQUALITY_TYPES:
                return _equals_property(kind, stored, given)
            excluded += f" OR coalesce({other}.user_id, '') <> $user_id"
        if kind in TEXT_OPERATORS:
            texts = f"{stored} IS :: STRING NOT NULL AND {given} IS :: STRING NOT NULL"
            cases = (
                [(_is_list(stored), f"{given} IN {stored}")]
                if kind is ConstraintType.CONTAINS
                else []
            )
            cases.append((texts, f"{stored} {TEXT_OPERATORS[kind]} {given}"))
        else:
            sign = ORDER_OPERATORS[kind]
            alike = (
                f"valueType({stored}) = valueType({given}) OR {_is_number(stored)} AND "
                f"{_is_number(given)}"
            )
            cases = [(alike, f"{stored} {sign} {given}")]
            if isinstance(constraint.value, str):
                cases += [
                    (f"{stored} IS :: {time_type} NOT NULL", f"{stored} {sign} {read}({given})")
                    for time_type, read in _TIMES.items()
                ]
        return _guarded(excluded, f"{stored} IS NULL OR {given}", *cases)

    def _stored(self, variable: str, name: str) -> str:
        """The value of a property, at the time asked for."""
        if self._then and name in HISTORY_FIELDS:
            variable = f"coalesce($then[elementId({variable})], {variable})"
        return f"{variable}.{Identifier(name)}"

    def _with_former_types(self, constraint: Constraint) -> Constraint:
        """A constraint on free types with the former texts that list one of them."""
        is_of_types = constraint.on == "relationship" and constraint.property_path == FREE_TYPE
        if not self._then or not is_of_types or constraint.type not in EQUALITY_TYPES:
            return constraint
        given = [str(value) for value in constraint.compared_values]
        names = set(map(normalised_type, given))
        texts = {as_text(values[FREE_TYPE]) for values in self._then.values()}
        former = [text for text in texts if names & {normalised_type(text), *type_names(text)}]
        kind = constraint.type if constraint.type in LIST_TYPES else ConstraintType.PROPERTY_IN
        return constraint.model_copy(update={"type": kind, "value": [*given, *former]})

    def _is_among_matching(self, constraint: Constraint, stored: str, excluded: str) -> str:
        among = f"{stored} IN {self._values.add(self._matching[matching_key(constraint)])}"
        if is_inside_json(constraint):
            return among
        return _guarded(excluded, stored, (f"{stored} IS :: STRING NOT NULL", among))


def _equals_value(kind: ConstraintType, stored: str, given: str, value: object) -> str:
    if kind is ConstraintType.PROPERTY_IN:
        return f"{stored} IN {given}"
    if kind is ConstraintType.NOT_IN:
        return f"({stored} IS NOT NULL AND NOT {stored} IN {given})"
    if isinstance(value, str) and _LIKE_A_DATE.match(value):
        is_time = " OR ".join(f"{stored} IS :: {name} NOT NULL" for name in _TIMES)
        return f"({stored} = {given} OR ({is_time}) AND toStringOrNull({stored}) = {given})"
    return f"{stored} = {given}"


def _equals_property(kind: ConstraintType, stored: str, given: str) -> str:
    """A comparison for equality with a property of another node."""
    if kind is ConstraintType.PROPERTY_EQUALS:
        return f"{stored} = {given}"
    among = f"CASE WHEN {_is_list(given)} THEN {stored} IN {given} ELSE {stored} = {given} END"
    if kind is ConstraintType.PROPERTY_IN:
        return f"({given} IS NOT NULL AND {among})"
    return f"({stored} IS NOT NULL AND {given} IS NOT NULL AND NOT {among})"


def _guarded(excluded: str, stored: str, *cases: tuple[str, str]) -> str:
    """The first case that applies; false for another user's or a missing value; otherwise a type
    mismatch.
    """
    branches = " ".join(f"WHEN {condition} THEN {result}" for condition, result in cases)
    return (
        f"CASE WHEN {excluded} THEN false WHEN {stored} IS NULL THEN false {branches} ELSE "
        f"{TYPE_MISMATCH} END"
    )


def _is_number(stored: str) -> str:
    return f"({stored} IS :: INTEGER NOT NULL OR {stored} IS :: FLOAT NOT NULL)"


def _is_list(stored: str) -> str:
    return f"{stored} IS :: LIST<ANY> NOT NULL"
