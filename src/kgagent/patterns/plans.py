"""Query plans: a query is split into plans, each of which becomes one statement."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kgagent.formatting import counted
from kgagent.models.constraint import Position
from kgagent.models.matched_path import MatchedNode
from kgagent.models.pattern import GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import CombinatorType, GraphQuery, QueryCombinator


class PlanPosition(NamedTuple):
    """A node of a path: the number of its pattern in the plan, from 0, and its position there."""

    segment: int
    position: Position


@dataclass(frozen=True)
class Join:
    """A condition: the node of the path at `at` is also at `on` of a path of each of the other
    patterns.
    """

    at: Position
    others: tuple[GraphPattern, ...]
    on: Position


@dataclass(frozen=True)
class EntryPoint:
    """A node at which paths start or end, with its id in the database."""

    element_id: str
    node: MatchedNode

    def fits(self, label: str | None) -> bool:
        """Whether the node may be where a node with the label is required; None is any label."""
        return label is None or label in {self.node.label, *self.node.labels}


@dataclass(frozen=True)
class QueryPlan:
    """One statement.

    Attributes:
        segments: patterns, each starting at the end node of the one before.
        join: a condition on a node of the path, for a plan of one pattern.
        best_at: position at which only the best path for each node is kept, among all plans of a
            query; None for all.
    """

    segments: tuple[GraphPattern, ...]
    join: Join | None = None
    best_at: Position | None = None

    @property
    def pattern_id(self) -> str:
        """Names of its patterns, joined by " > "."""
        return " > ".join(segment.pattern_id for segment in self.segments)

    @property
    def max_hops(self) -> int:
        """Maximum number of relationships of a path."""
        return sum(segment.max_hops for segment in self.segments)

    def place(self, position: Position) -> PlanPosition:
        """The place of a node of the whole path; step numbers continue from one pattern to the
        next.
        """
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
            (
                place
                for place in self.places
                if any(point.fits(self.label(place)) for point in entry_points)
            ),
            None,
        )


def query_plans(query: GraphQuery, *, all_types: bool) -> list[QueryPlan]:
    """The plans of a query: of its patterns or combinator, otherwise of its traversal.

    Args:
        query: the query.
        all_types: whether a traversal follows all of its types, or only the first, if the query
            does not say so.
    """
    if query.combinator is not None:
        return _of_combinator(query.combinator, query.one_path_per)
    if query.patterns:
        return [QueryPlan((pattern,), best_at=query.one_path_per) for pattern in query.patterns]
    if not query.targets or query.traversal is None:
        return []
    types = query.traversal.relation_types
    if not (all_types if query.use_all_relation_hints is None else query.use_all_relation_hints):
        types = types[:1]
    # One pattern for each distance, so that far paths displace no near ones.
    return [
        QueryPlan((_expansion(types, hops),), best_at="end")
        for hops in range(1, query.traversal.max_depth + 1)
    ]


def _expansion(types: tuple[str, ...], hops: int) -> GraphPattern:
    """The pattern of the nodes at a distance from the targets."""
    step = TraversalStep(
        relation_type=types or None, direction=StepDirection.BOTH, min_hops=hops, max_hops=hops
    )
    return GraphPattern(
        pattern_id=f"traversal, {counted(hops, 'hop')}", steps=(step,), distinct_nodes=True
    )


def _of_combinator(combinator: QueryCombinator, one_path_per: Position | None) -> list[QueryPlan]:
    patterns = combinator.patterns
    if combinator.type is CombinatorType.SEQUENTIAL:
        return [QueryPlan(patterns, best_at=one_path_per)]
    position = join_position(combinator)
    if combinator.type is CombinatorType.UNION:
        best_at = position if one_path_per is None else one_path_per
        return [QueryPlan((pattern,), best_at=best_at) for pattern in patterns]
    joins = (
        Join(position, (*patterns[:number], *patterns[number + 1 :]), position)
        for number in range(len(patterns))
    )
    return [
        QueryPlan((pattern,), join, one_path_per)
        for pattern, join in zip(patterns, joins, strict=True)
    ]


def join_position(combinator: QueryCombinator) -> Position:
    """The position at which an INTERSECTION or a UNION joins."""
    if combinator.join_on is not None:
        return combinator.join_on
    labels = {pattern.start_label for pattern in combinator.patterns}
    return "start" if len(labels) == 1 and None not in labels else "end"
