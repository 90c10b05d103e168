"""Graph patterns evaluated by walking through lists in Python, independent of the compiler."""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent.models.constraint import Constraint
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.models.pattern_query import QueryCombinator

Walked = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Nodes, relationships, and where among the nodes each step arrives."""


ORDERS = {"GREATER_THAN", "LESS_THAN", "GREATER_THAN_EQUALS", "LESS_THAN_EQUALS"}
TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "GREATER_THAN": operator.gt,
    "LESS_THAN": operator.lt,
    "GREATER_THAN_EQUALS": operator.ge,
    "LESS_THAN_EQUALS": operator.le,
    "CONTAINS": operator.contains,
    "STARTS_WITH": str.startswith,
    "ENDS_WITH": str.endswith,
    "REGEX_MATCH": lambda stored, value: re.fullmatch(value, stored) is not None,
}


class NonsenseError(Exception):
    """Text was compared with a number."""


@dataclass(frozen=True)
class PlainNode:
    """A node: its number, labels, properties and user."""

    number: int
    labels: frozenset[str]
    properties: Mapping[str, Any]
    user: str


@dataclass(frozen=True)
class PlainRelationship:
    """A relationship between two nodes by their numbers; `user` is None where it does not say whose
    it is.
    """

    number: int
    start: int
    end: int
    type: str
    properties: Mapping[str, Any]
    user: str | None


@dataclass
class PlainGraph:
    """A graph as lists."""

    nodes: Sequence[PlainNode]
    relationships: Sequence[PlainRelationship]
    user: str
    must_fail: bool = field(default=False)

    def paths(self, part: GraphPattern | QueryCombinator) -> list[Walked]:
        """All paths of a pattern or a combinator; a UNION's are those of all its parts."""
        if isinstance(part, GraphPattern):
            return [
                path
                for start in self.nodes
                if self._is_own(start)
                for path in self._of_pattern(part, start.number)
            ]
        found = [self.paths(inner) for inner in part.patterns]
        if part.type == "UNION":
            return [path for paths in found for path in paths]
        if part.type == "SEQUENTIAL":
            rows = found[0]
            for paths in found[1:]:
                rows = [
                    _joined(row, path) for row in rows for path in paths if row[0][-1] == path[0][0]
                ]
            return rows
        assert part.join_on in {"start", "end"}
        end = 0 if part.join_on == "start" else -1
        common = set.intersection(*({path[0][end] for path in paths} for paths in found))
        return [path for paths in found for path in paths if path[0][end] in common]

    def _is_own(self, node: PlainNode) -> bool:
        return node.user == self.user

    def _of_pattern(self, pattern: GraphPattern, start: int) -> Iterator[Walked]:
        for nodes, followed, arrivals in self._walk(pattern, start):
            if pattern.cycle and nodes[-1] != start:
                continue
            if pattern.distinct_nodes and len(set(nodes)) < len(nodes):
                continue
            if self._labels_fit(pattern.steps, nodes, arrivals) and self._holds(
                pattern, nodes, followed, arrivals
            ):
                yield nodes, followed, arrivals

    def _walk(self, pattern: GraphPattern | Branch, start: int) -> Iterator[Walked]:
        repeats = isinstance(pattern, GraphPattern) and pattern.repeat_relationships
        rows: list[Walked] = [((start,), (), ())]
        for step in pattern.steps:
            reached = []
            for nodes, followed, arrivals in rows:
                for more, along in self._follow(step, nodes[-1], followed, repeats=repeats):
                    reached.append(
                        (
                            (*nodes, *more),
                            (*followed, *along),
                            (*arrivals, len(nodes) + len(more) - 1),
                        )
                    )
            rows = reached
        yield from rows

    def _follow(
        self, step: TraversalStep, start: int, before: tuple[int, ...], *, repeats: bool
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        rows: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
        for hops in range(1, step.max_hops + 1):
            longer = []
            for nodes, along in rows:
                here = nodes[-1] if nodes else start
                for relationship in self.relationships:
                    if not repeats and relationship.number in (*before, *along):
                        continue
                    longer += [
                        ((*nodes, there), (*along, relationship.number))
                        for there in self._ends(step, relationship, here)
                    ]
            rows = longer
            if hops >= step.min_hops:
                yield from rows

    def _ends(
        self, step: TraversalStep, relationship: PlainRelationship, here: int
    ) -> Iterator[int]:
        if (step.types and relationship.type not in step.types) or relationship.user not in {
            None,
            self.user,
        }:
            return
        forth = relationship.start == here and step.direction != "INCOMING"
        back = relationship.end == here and step.direction != "OUTGOING"
        ends = {*([relationship.end] if forth else []), *([relationship.start] if back else [])}
        yield from (end for end in ends if self._is_own(self.nodes[end]))

    def _labels_fit(
        self, steps: Sequence[TraversalStep], nodes: tuple[int, ...], arrivals: tuple[int, ...]
    ) -> bool:
        places = (0, *arrivals)
        return all(
            label is None or label in self.nodes[nodes[place]].labels
            for step, before, after in zip(steps, places[:-1], arrivals, strict=True)
            for label, place in ((step.source_label, before), (step.target_label, after))
        )

    def _holds(
        self,
        part: GraphPattern | Branch,
        nodes: tuple[int, ...],
        followed: tuple[int, ...],
        arrivals: tuple[int, ...],
    ) -> bool:
        """Whether all constraints and branches hold; nonsense counts only where nothing else
        fails.
        """
        nonsense, holds = False, True
        for constraint in part.constraints:
            try:
                holds = holds and self._constraint(constraint, nodes, followed, arrivals)
            except NonsenseError:
                nonsense = True
        for branch in part.branches if isinstance(part, GraphPattern) else ():
            holds = holds and self._branch(branch, nodes, arrivals)
        self.must_fail |= holds and nonsense
        return holds and not nonsense

    def _constraint(
        self,
        constraint: Constraint,
        nodes: tuple[int, ...],
        followed: tuple[int, ...],
        arrivals: tuple[int, ...],
    ) -> bool:
        places = {"start": [0], "end": [len(nodes) - 1], -1: list(range(len(nodes)))}
        if constraint.on == "relationship":
            step = len(arrivals) - 1 if constraint.at_step == "end" else constraint.at_step
            first = 0 if step in {-1, 0} else arrivals[int(step) - 1]
            last = len(followed) if step == -1 else arrivals[int(step)]
            held = [self.relationships[one].properties for one in followed[first:last]]
            return all_satisfy(constraint, held, constraint.value)
        at = places.get(constraint.at_step) or [arrivals[int(constraint.at_step)]]
        value = constraint.value
        if constraint.value_from is not None:
            other = constraint.value_from.at_step
            place = places[other][0] if isinstance(other, str) else arrivals[other]
            value = self.nodes[nodes[place]].properties.get(constraint.value_from.property_path)
            if (
                constraint.type in {"PROPERTY_IN", "NOT_IN"}
                and value is not None
                and not isinstance(value, list)
            ):
                value = [value]
        meant = [self.nodes[nodes[place]] for place in at]
        held = [node.properties for node in meant if constraint.node_label in {None, *node.labels}]
        return all_satisfy(constraint, held, value)

    def _branch(self, branch: Branch, nodes: tuple[int, ...], arrivals: tuple[int, ...]) -> bool:
        def at(position: int | str) -> int:
            return nodes[
                {"start": 0, "end": -1}[position]
                if isinstance(position, str)
                else arrivals[position]
            ]

        ends = {
            walked[0][-1]
            for walked in self._walk(branch, at(branch.at_step))
            if self._labels_fit(branch.steps, walked[0], walked[2])
            and (branch.ends_at is None or walked[0][-1] == at(branch.ends_at))
            and self._holds(branch, *walked)
        }
        return (
            branch.minimum <= len(ends) <= (len(ends) if branch.at_most is None else branch.at_most)
        )


def _joined(first: Walked, second: Walked) -> Walked:
    shift = len(first[0]) - 1
    return (
        (*first[0], *second[0][1:]),
        (*first[1], *second[1]),
        (*first[2], *(place + shift for place in second[2])),
    )


def all_satisfy(constraint: Constraint, held: Sequence[Mapping[str, Any]], value: Any) -> bool:
    """Whether all of some properties satisfy a constraint; nonsense counts only where no other
    fails.
    """
    results, nonsense = [], False
    for properties in held:
        try:
            results.append(value is not None and satisfies(constraint, properties, value))
        except NonsenseError:
            nonsense = True
    if nonsense and all(results):
        raise NonsenseError
    return all(results)


def satisfies(constraint: Constraint, properties: Mapping[str, Any], value: Any) -> bool:
    """Whether the property satisfies the constraint."""
    stored = looked_up(properties, constraint.property_path)
    if stored is None:
        return False
    kind = constraint.type.value
    if kind in {"PROPERTY_EQUALS", "PROPERTY_IN", "NOT_IN"}:
        among = any(same(stored, one) for one in (value if kind != "PROPERTY_EQUALS" else [value]))
        return among == (kind != "NOT_IN")
    if kind == "CONTAINS" and isinstance(stored, list):
        return any(same(one, value) for one in stored)
    sorts = {sort(stored), sort(value)}
    # Two stored truth values have an order in Cypher; a constraint cannot give one.
    ordered = {"number"}, *([{"truth"}] if constraint.value_from is not None else [])
    if sorts != {"text"} and (kind not in ORDERS or sorts not in ordered):
        raise NonsenseError
    return TESTS[kind](stored, value)


def looked_up(properties: Mapping[str, Any], path: str) -> Any:
    """The property, or what stands in the JSON that it holds; None where there is nothing."""
    name, _, inside = path.partition(".")
    stored = properties.get(name)
    if not inside:
        return stored
    try:
        return json.loads(stored).get(inside) if isinstance(stored, str) else None
    except (ValueError, AttributeError):
        return None


def same(first: Any, second: Any) -> bool:
    """Equality of values of one sort; true is not 1."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return sort(first) == sort(second) and bool(first == second)


def sort(value: Any) -> str:
    """What sort of value it is."""
    if isinstance(value, bool):
        return "truth"
    return (
        "number" if isinstance(value, int | float) else "text" if isinstance(value, str) else "list"
    )
