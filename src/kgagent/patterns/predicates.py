"""Constraints as Cypher predicates.

A comparison that makes no sense, such as of text with a number, ends the statement: it divides by `$zero`, which
nothing else in it does. It looks only at what may stand there, as the server may evaluate predicates in any order.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from kgagent.graph.identifiers import Identifier
from kgagent.models.constraint import ORDERS, TEXTS, Constraint, ConstraintType, Position
from kgagent.patterns.step_sequences import property_parts

TYPE_MISMATCH = "1 / $zero = 1"
"""Ends the statement."""

_LIKE_A_DATE = re.compile(r"[+-]?\d{4,}-?\d\d")
_TIMES: Mapping[str, str] = {
    "DATE": "date",
    "ZONED DATETIME": "datetime",
    "LOCAL DATETIME": "localdatetime",
    "ZONED TIME": "time",
    "LOCAL TIME": "localtime",
}

Matching = Mapping[str, Sequence[JsonValue]]
"""For constraints that the database cannot work out, by `matching_key`: the stored values that satisfy each."""


class NodeAt(Protocol):
    """Gives the variable of a node of the path."""

    def __call__(self, position: Position) -> str:
        """The variable."""
        ...


def property_name(path: str) -> tuple[str, str]:
    """The property that a path begins with, and the rest of the path, which leads into its JSON; may be empty."""
    name, *inside = property_parts(path)
    return name, ".".join(inside)


def needs_matching(constraint: Constraint) -> bool:
    """Whether stored values have to be looked at before the statement is made."""
    return constraint.type is ConstraintType.REGEX_MATCH or is_inside_json(constraint)


def is_inside_json(constraint: Constraint) -> bool:
    """Whether a constraint is about what stands inside the JSON that a property holds."""
    return bool(property_name(constraint.property_path)[1])


def matching_key(constraint: Constraint) -> str:
    """Stands for a constraint, which may hold lists and so is no key itself; where it holds makes no difference."""
    return constraint.model_dump_json(exclude={"at_step"})


class StatementParameters:
    """Collects parameters; `add` gives the text that stands for one in the statement."""

    def __init__(self, **known: Any) -> None:  # noqa: ANN401
        self._known = dict(known)

    def add(self, value: Any) -> str:  # noqa: ANN401
        """Make a value a parameter of its own."""
        name = f"p{len(self._known)}"
        self._known[name] = value
        return f"${name}"

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters."""
        return dict(self._known)


class Predicates:
    """Writes constraints on the variables of one statement."""

    def __init__(self, values: StatementParameters, matching: Matching) -> None:
        self._values = values
        self._matching = matching

    def on_node(self, constraint: Constraint, variable: str, node_at: NodeAt, *, label: str | None) -> str:
        """A constraint on a node.

        Args:
            constraint: what must hold.
            variable: the node.
            node_at: finds other nodes of the path.
            label: the label that the node is known to have.
        """
        others = f"coalesce({variable}.user_id, '') <> $user_id"
        if label is not None:
            others += f" OR NOT {variable}:{Identifier(label)}"
        told = self._holds(constraint, variable, node_at, others=others)
        if constraint.node_label is None or constraint.node_label == label:
            return told
        return f"CASE WHEN {variable}:{Identifier(constraint.node_label)} THEN {told} ELSE true END"

    def on_relationship(self, constraint: Constraint, variable: str, node_at: NodeAt) -> str:
        """A constraint on a relationship."""
        ends = (f"coalesce({end}({variable}).user_id, '') <> $user_id" for end in ("startNode", "endNode"))
        others = " OR ".join((*ends, f"coalesce({variable}.user_id, $user_id) <> $user_id"))
        return self._holds(constraint, variable, node_at, others=others)

    def _holds(self, constraint: Constraint, variable: str, node_at: NodeAt, *, others: str) -> str:
        name, _ = property_name(constraint.property_path)
        stored = f"{variable}.{Identifier(name)}"
        if needs_matching(constraint):
            return self._matches(constraint, stored, others)
        if constraint.value_from is not None:
            other = node_at(constraint.value_from.at_step)
            given = f"{other}.{Identifier(constraint.value_from.property_path)}"
            others += f" OR coalesce({other}.user_id, '') <> $user_id"
            return _compared(constraint.type, stored, given, others)
        return self._compared_with_value(constraint.type, stored, constraint.value, others)

    def _matches(self, constraint: Constraint, stored: str, others: str) -> str:
        among = f"{stored} IN {self._values.add(self._matching[matching_key(constraint)])}"
        if is_inside_json(constraint):
            return among
        return _guarded(others, stored, (f"{stored} IS :: STRING NOT NULL", among))

    def _compared_with_value(self, kind: ConstraintType, stored: str, value: JsonValue, others: str) -> str:
        given = self._values.add(value)
        if kind in TEXTS:
            return self._with_text(kind, stored, given, others, is_text=isinstance(value, str))
        if kind in ORDERS:
            return self._ordered(kind, stored, given, others, is_text=isinstance(value, str))
        if kind is ConstraintType.PROPERTY_IN:
            return f"{stored} IN {given}"
        if kind is ConstraintType.NOT_IN:
            return f"({stored} IS NOT NULL AND NOT {stored} IN {given})"
        if isinstance(value, str) and _LIKE_A_DATE.match(value):
            return f"({stored} = {given} OR {_is_time(stored)} AND toStringOrNull({stored}) = {given})"
        return f"{stored} = {given}"

    @staticmethod
    def _with_text(kind: ConstraintType, stored: str, given: str, others: str, *, is_text: bool) -> str:
        in_text = (f"{stored} IS :: STRING NOT NULL", f"{stored} {TEXTS[kind]} {given}")
        in_list = (_is_list(stored), f"{given} IN {stored}")
        cases = [in_list] if kind is ConstraintType.CONTAINS else []
        return _guarded(others, stored, *cases, *([in_text] if is_text else []))

    @staticmethod
    def _ordered(kind: ConstraintType, stored: str, given: str, others: str, *, is_text: bool) -> str:
        sign = ORDERS[kind]
        if not is_text:
            return _guarded(others, stored, (_is_number(stored), f"{stored} {sign} {given}"))
        times = [
            (f"{stored} IS :: {name} NOT NULL", f"{stored} {sign} {read}({given})") for name, read in _TIMES.items()
        ]
        return _guarded(others, stored, (f"{stored} IS :: STRING NOT NULL", f"{stored} {sign} {given}"), *times)


def _compared(kind: ConstraintType, stored: str, given: str, others: str) -> str:
    """Compare with a property of another node."""
    if kind is ConstraintType.PROPERTY_EQUALS:
        return f"{stored} = {given}"
    among = f"CASE WHEN {_is_list(given)} THEN {stored} IN {given} ELSE {stored} = {given} END"
    if kind is ConstraintType.PROPERTY_IN:
        return f"({given} IS NOT NULL AND {among})"
    if kind is ConstraintType.NOT_IN:
        return f"({stored} IS NOT NULL AND {given} IS NOT NULL AND NOT {among})"
    texts = f"{stored} IS :: STRING NOT NULL AND {given} IS :: STRING NOT NULL"
    either = f"{stored} IS NULL OR {given}"
    if kind in TEXTS:
        in_list = [(_is_list(stored), f"{given} IN {stored}")] if kind is ConstraintType.CONTAINS else []
        return _guarded(others, either, *in_list, (texts, f"{stored} {TEXTS[kind]} {given}"))
    alike = f"valueType({stored}) = valueType({given}) OR {_is_number(stored)} AND {_is_number(given)}"
    return _guarded(others, either, (alike, f"{stored} {ORDERS[kind]} {given}"))


def _guarded(others: str, stored: str, *cases: tuple[str, str]) -> str:
    """The first case whose condition holds; false for what is another user's or missing; else type_mismatch."""
    told = " ".join(f"WHEN {condition} THEN {result}" for condition, result in cases)
    return f"CASE WHEN {others} THEN false WHEN {stored} IS NULL THEN false {told} ELSE {TYPE_MISMATCH} END"


def _is_number(stored: str) -> str:
    return f"({stored} IS :: INTEGER NOT NULL OR {stored} IS :: FLOAT NOT NULL)"


def _is_list(stored: str) -> str:
    return f"{stored} IS :: LIST<ANY> NOT NULL"


def _is_time(stored: str) -> str:
    return "(" + " OR ".join(f"{stored} IS :: {name} NOT NULL" for name in _TIMES) + ")"
