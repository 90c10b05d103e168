"""Query plans: a combinator is split into plans, each of which becomes one statement."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kgagent.errors import InputError
from kgagent.models.constraint import Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, QueryCombinator

MAX_PLANS = 40
"""Maximum number of statements of one combinator."""

PatternExpression = GraphPattern | QueryCombinator


@dataclass(frozen=True)
class PlanPosition:
    """A node of a path that consists of several patterns in a sequence.

    Attributes:
        segment: number of the pattern, from 0.
        position: node of the pattern.
    """

    segment: int
    position: Position


@dataclass(frozen=True)
class JoinCondition:
    """A condition: the node at a place is also at a position of a path of another pattern or combinator."""

    place: PlanPosition
    part: PatternExpression
    position: Position


@dataclass(frozen=True)
class EntryPoint:
    """A node at which paths start or end.

    Attributes:
        element_id: id in the database.
        labels: its labels.
    """

    element_id: str
    labels: tuple[str, ...]

    def fits(self, label: str | None) -> bool:
        """Whether the node may be where a node with the label is required; None is any label."""
        return label is None or label in self.labels


@dataclass(frozen=True)
class BestPerNode:
    """Keeps only the best path for each node at a place, among all plans of the same group."""

    place: PlanPosition
    group: int


@dataclass(frozen=True)
class QueryPlan:
    """One statement.

    Attributes:
        segments: patterns, each starting at the end node of the one before.
        joins: conditions on nodes of the path.
        best: which paths are kept; None for all.
    """

    segments: tuple[GraphPattern, ...]
    joins: tuple[JoinCondition, ...] = ()
    best: BestPerNode | None = None

    @property
    def pattern_id(self) -> str:
        """Names of its patterns, joined by " > "."""
        return " > ".join(segment.pattern_id for segment in self.segments)

    @property
    def max_hops(self) -> int:
        """Maximum number of relationships of a path."""
        return sum(segment.max_hops for segment in self.segments)

    def place(self, position: Position) -> PlanPosition:
        """The place of a node of the whole path; step numbers continue from one pattern to the next."""
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
        """Every node of the path: the start, the end, then the nodes at which the steps arrive."""
        yield from (self.place("start"), self.place("end"))
        for number, segment in enumerate(self.segments):
            yield from (PlanPosition(number, step) for step in range(len(segment.steps)))

    def label(self, place: PlanPosition) -> str | None:
        """Required label of the node at a place; None for any."""
        return self.segments[place.segment].label_at(place.position)

    def entered_at(self, entry_points: Collection[EntryPoint]) -> PlanPosition | None:
        """The first place that accepts the label of an entry point; None if there is none."""
        return next(
            (place for place in self.places if any(point.fits(self.label(place)) for point in entry_points)), None
        )


def plans_of(part: PatternExpression) -> list[QueryPlan]:
    """Split a pattern or a combinator into plans.

    Raises:
        InputError: there would be too many plans.
    """
    plans = _plans(part, count())
    if len(plans) > MAX_PLANS:
        raise InputError(
            f"The combinator needs {len(plans)} statements, at most {MAX_PLANS} are allowed: use fewer UNIONs inside "
            "SEQUENTIAL"
        )
    return plans


def join_position(combinator: QueryCombinator) -> Position:
    """The position at which an INTERSECTION or a UNION joins."""
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
        return _in_sequence([_plans(inner, groups) for inner in part.patterns])
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


def _in_sequence(parts: Sequence[list[QueryPlan]]) -> list[QueryPlan]:
    """Every sequence of one plan of each part."""
    sequences = [QueryPlan(())]
    for plans in parts:
        sequences = [_append(sequence, plan) for sequence in sequences for plan in plans]
        if len(sequences) > MAX_PLANS:
            return sequences
    return sequences


def _append(first: QueryPlan, second: QueryPlan) -> QueryPlan:
    shift = len(first.segments)
    moved = (
        replace(member, place=replace(member.place, segment=member.place.segment + shift)) for member in second.joins
    )
    return QueryPlan((*first.segments, *second.segments), (*first.joins, *moved))
