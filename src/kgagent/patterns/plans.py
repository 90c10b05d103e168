"""Combinators taken apart: each plan is one statement, and the paths of all plans together are the answer."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kgagent.errors import InputError
from kgagent.models.constraint import Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, QueryCombinator

MAX_PLANS = 40
"""Statements of one query at the most."""

PatternExpression = GraphPattern | QueryCombinator


@dataclass(frozen=True)
class PlanPosition:
    """A node of a path that several patterns make one after the other.

    Attributes:
        segment: the pattern, from 0.
        position: the node in it.
    """

    segment: int
    position: Position


@dataclass(frozen=True)
class JoinCondition:
    """What the node at a place must be: one that another part finds at a position of its own paths."""

    place: PlanPosition
    part: PatternExpression
    position: Position


@dataclass(frozen=True)
class EntryPoint:
    """A node that paths start from or end at.

    Attributes:
        element_id: the database's own id.
        labels: its labels.
    """

    element_id: str
    labels: tuple[str, ...]

    def fits(self, label: str | None) -> bool:
        """Whether it may stand where a node of that label does."""
        return label is None or label in self.labels


@dataclass(frozen=True)
class BestPerNode:
    """Only the best path is kept for each node at a place, among all plans of a group."""

    place: PlanPosition
    group: int


@dataclass(frozen=True)
class QueryPlan:
    """One statement.

    Attributes:
        segments: patterns, each starting where the one before ends.
        joins: what else must hold.
        best: which paths are kept.
    """

    segments: tuple[GraphPattern, ...]
    joins: tuple[JoinCondition, ...] = ()
    best: BestPerNode | None = None

    @property
    def pattern_id(self) -> str:
        """Names of its patterns."""
        return " > ".join(segment.pattern_id for segment in self.segments)

    def place(self, position: Position) -> PlanPosition:
        """Where a node of the whole path stands; steps are counted on from one pattern to the next."""
        if position == "start":
            return PlanPosition(0, "start")
        if position != "end":
            for number, segment in enumerate(self.segments):
                if position < len(segment.steps):
                    return PlanPosition(number, position)
                position -= len(segment.steps)
        return PlanPosition(len(self.segments) - 1, "end")

    @property
    def places(self) -> Iterator[PlanPosition]:
        """Every node of the path: the start, the end, and those between them in their order."""
        yield from (self.place("start"), self.place("end"))
        for number, segment in enumerate(self.segments):
            yield from (PlanPosition(number, step) for step in range(len(segment.steps)))

    def label(self, place: PlanPosition) -> str | None:
        """The label that the node at a place must have; None for any."""
        segment = self.segments[place.segment]
        if place.position == "start":
            return segment.start_label
        return segment.end_label if place.position == "end" else segment.steps[place.position].target_label

    def entered_at(self, entry_points: Collection[EntryPoint]) -> PlanPosition | None:
        """The node of its paths that must be an entry point; None where none of them fits any."""
        return next(
            (place for place in self.places if any(point.fits(self.label(place)) for point in entry_points)), None
        )


def plans_of(part: PatternExpression) -> list[QueryPlan]:
    """Take a pattern or a combinator apart.

    Raises:
        InputError: it comes apart into too many statements.
    """
    plans = _plans(part, count())
    if len(plans) > MAX_PLANS:
        raise InputError(
            f"These combinators come apart into {len(plans)} statements, at most {MAX_PLANS} are run: "
            "put fewer UNIONs inside a SEQUENTIAL"
        )
    return plans


def join_position(combinator: QueryCombinator) -> Position:
    """The node that an INTERSECTION or a UNION joins on."""
    if combinator.join_on is not None:
        return combinator.join_on
    labels = {_start_label(part) for part in combinator.patterns}
    return "start" if len(labels) == 1 and None not in labels else "end"


def _start_label(part: PatternExpression) -> str | None:
    if isinstance(part, GraphPattern):
        return part.start_label
    if part.type is CombinatorType.SEQUENTIAL:
        return _start_label(part.patterns[0])
    labels = {_start_label(inner) for inner in part.patterns}
    return labels.pop() if len(labels) == 1 else None


def _plans(part: PatternExpression, groups: "count[int]") -> list[QueryPlan]:
    if isinstance(part, GraphPattern):
        return [QueryPlan((part,))]
    if part.type is CombinatorType.SEQUENTIAL:
        return _in_a_row([_plans(inner, groups) for inner in part.patterns])
    position = join_position(part)
    if part.type is CombinatorType.UNION:
        group = next(groups)
        return [
            replace(plan, best=BestPerNode(plan.place(position), group))
            for inner in part.patterns
            for plan in _plans(inner, groups)
        ]
    return [
        replace(plan, joins=(*plan.joins, *_others(part.patterns, number, plan.place(position), position)))
        for number, inner in enumerate(part.patterns)
        for plan in _plans(inner, groups)
    ]


def _others(
    parts: Sequence[PatternExpression], number: int, place: PlanPosition, position: Position
) -> list[JoinCondition]:
    return [JoinCondition(place, part, position) for other, part in enumerate(parts) if other != number]


def _in_a_row(parts: Sequence[list[QueryPlan]]) -> list[QueryPlan]:
    """Every way to go through the parts, one plan of each."""
    rows = [QueryPlan(())]
    for plans in parts:
        rows = [_joined(row, plan) for row in rows for plan in plans]
        if len(rows) > MAX_PLANS:
            return rows
    return rows


def _joined(first: QueryPlan, second: QueryPlan) -> QueryPlan:
    shift = len(first.segments)
    moved = (
        replace(member, place=replace(member.place, segment=member.place.segment + shift)) for member in second.joins
    )
    return QueryPlan((*first.segments, *second.segments), (*first.joins, *moved))
