"""Compiles a query plan to one Cypher statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeGuard

from kgagent.graph.statements import Statement
from kgagent.models.constraint import Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, QueryCombinator
from kgagent.patterns.match_clauses import MatchClauses
from kgagent.patterns.plans import (
    EntryPoint,
    JoinCondition,
    PatternExpression,
    PlanPosition,
    QueryPlan,
    join_position,
    plans_of,
)
from kgagent.patterns.predicates import Matching, Predicates, StatementParameters


@dataclass(frozen=True)
class CompiledStatement:
    """A statement with its parameters."""

    text: Statement
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Compiler:
    """Compiles the statements of one query.

    Attributes:
        user_id: owner of the graph.
        entry_points: nodes at which paths start or end; empty for any.
        matching: stored values that satisfy the constraints that Cypher cannot evaluate.
        one_path_per: position at which only the best path for each node is kept.
    """

    user_id: str
    entry_points: Sequence[EntryPoint] = ()
    matching: Matching = field(default_factory=dict)
    one_path_per: Position | None = None

    def compile(self, plan: QueryPlan, limit: int) -> CompiledStatement:
        """Compile the statement that matches the paths of a plan.

        Its only row has `paths`: lists of nodes [id], relationships [id], lengths [relationships of each step] and `at`
        (id or null). Thousands of rows would take longer to transfer.

        Args:
            plan: the plan.
            limit: maximum number of paths.
        """
        values = StatementParameters(user_id=self.user_id, zero=0)
        entered = plan.entered_at(self.entry_points)
        chain = self._chain(plan, "", values, entered=entered)
        text = self._text(plan, chain, entered, "", values)
        return _path_statement(chain, text, self.best_place(plan), values, limit)

    def compile_narrowed(
        self, plan: QueryPlan, nodes: Sequence[Sequence[str] | None], limit: int, *, best: PlanPosition | None
    ) -> CompiledStatement:
        """Compile the statement that matches the paths through known nodes, following the steps from the start on.

        Args:
            plan: a plan of one pattern whose steps follow one relationship each.
            nodes: for each node of the pattern, from the start, the ids that it may have; None is any id. They replace
                the entry points.
            limit: maximum number of paths.
            best: place of the node for which only the best path is kept, for `at`.

        Returns:
            A statement with the same row as that of `compile`.
        """
        values = StatementParameters(user_id=self.user_id, zero=0)
        chain = self._chain(plan, "", values, in_order=True)
        for place, ids in enumerate(nodes):
            if ids is not None:
                chain[0].require_id(values.add(ids), place - 1 if place else "start")
        return _path_statement(chain, self._text(plan, chain, None, "", values), best, values, limit)

    def compile_step(
        self,
        step: GraphPattern,
        starts: Sequence[str] | None,
        ends: Sequence[str] | None,
        *,
        at: Literal["start", "end"],
        limit: int,
    ) -> CompiledStatement:
        """Compile the statement that finds the nodes at one end of a step. Its only row has `nodes`, their ids.

        Args:
            step: a pattern of one step.
            starts: ids that the start node may have; None is any id.
            ends: ids that the end node may have; None is any id.
            at: which of its nodes to return.
            limit: maximum number of them.
        """
        values = StatementParameters(user_id=self.user_id, zero=0)
        [clauses] = self._chain(QueryPlan((step,)), "", values)
        if starts is not None:
            clauses.require_id(values.add(starts), "start")
        if ends is not None:
            clauses.require_id(values.add(ends), "end")
        text = (
            f"{clauses.text}\nWITH DISTINCT {clauses.node(at)} AS node LIMIT {values.add(limit)}\n"
            "RETURN collect(elementId(node)) AS nodes"
        )
        return CompiledStatement(Statement(text, "match_step"), values.parameters)

    def best_place(self, plan: QueryPlan) -> PlanPosition | None:
        """The place for each of whose nodes only the best path is kept; None if all are kept."""
        if self.one_path_per is not None:
            return plan.place(self.one_path_per)
        return None if plan.best is None else plan.best.place

    def entered_ids(self, label: str | None) -> list[str]:
        """Ids of the entry points that fit a label."""
        return [point.element_id for point in self.entry_points if point.fits(label)]

    def _chain(
        self,
        plan: QueryPlan,
        prefix: str,
        values: StatementParameters,
        bound: Mapping[PlanPosition, str] | None = None,
        *,
        in_order: bool = False,
        entered: PlanPosition | None = None,
    ) -> list[MatchClauses]:
        """The patterns of the plan, each starting at the end variable of the one before."""
        predicates = Predicates(values, self.matching)
        chain: list[MatchClauses] = []
        for number, segment in enumerate(plan.segments):
            bound_here: dict[Position, str] = {
                place.position: variable for place, variable in (bound or {}).items() if place.segment == number
            }
            if chain:
                bound_here["start"] = chain[-1].node("end")
            chain.append(
                MatchClauses(
                    segment,
                    f"{prefix}s{number}",
                    values,
                    predicates,
                    bound=bound_here,
                    is_whole=len(plan.segments) == 1 and not prefix,
                    in_order=in_order,
                    is_entered=entered == PlanPosition(number, "start"),
                )
            )
        return chain

    def _text(
        self,
        plan: QueryPlan,
        chain: Sequence[MatchClauses],
        entered: PlanPosition | None,
        prefix: str,
        values: StatementParameters,
    ) -> str:
        """The clauses of a chain, with the predicates for entry points and joins."""
        if entered is not None:
            ids = values.add(self.entered_ids(plan.label(entered)))
            chain[entered.segment].require_id(ids, entered.position)
        for number, join in enumerate(plan.joins):
            text = self._join(join, _at(chain, join.place), f"{prefix}m{number}", values)
            chain[join.place.segment].require(text, join.place.position)
        return "\n".join(part.text for part in chain)

    def _join(self, join: JoinCondition, variable: str, prefix: str, values: StatementParameters) -> str:
        """A predicate: a node is also found by another pattern or combinator."""
        part = join.part
        if _is_intersection(part) and join_position(part) == join.position:
            # Split into plans, each of its patterns would be joined with all others again: exponential in the depth.
            inner = (JoinCondition(join.place, pattern, join.position) for pattern in part.patterns)
            texts = [self._join(each, variable, f"{prefix}i{number}", values) for number, each in enumerate(inner)]
            return f"({' AND '.join(texts)})"
        alternatives = [
            self._finds(plan, join.position, variable, f"{prefix}p{number}", values)
            for number, plan in enumerate(plans_of(join.part))
        ]
        return f"({' OR '.join(alternatives)})"

    def _finds(
        self, plan: QueryPlan, position: Position, variable: str, prefix: str, values: StatementParameters
    ) -> str:
        """A predicate: a plan has a path with the node at a position."""
        place, entered = plan.place(position), plan.entered_at(self.entry_points)
        chain = self._chain(plan, prefix, values, {place: variable})
        here = tuple(join for join in plan.joins if _at(chain, join.place) == variable)
        text = self._text(replace(plan, joins=here), chain, entered, prefix, values)
        elsewhere = [join for join in plan.joins if join not in here]
        if elsewhere:
            # Many paths may lead to a node: the other joins are evaluated once for each node.
            reached = {_at(chain, join.place): f"{prefix}d{number}" for number, join in enumerate(elsewhere)}
            once = ", ".join(f"{node} AS {name}" for node, name in reached.items())
            others = " AND ".join(
                self._join(join, reached[_at(chain, join.place)], f"{prefix}w{number}", values)
                for number, join in enumerate(elsewhere)
            )
            text = f"{text}\nWITH DISTINCT {once}\nWITH * WHERE {others}"
        return f"EXISTS {{\n{text}\nRETURN 1 AS found\n}}"


def _path_statement(
    chain: Sequence[MatchClauses],
    text: str,
    best: PlanPosition | None,
    values: StatementParameters,
    limit: int,
) -> CompiledStatement:
    nodes = " + ".join(part.nodes for part in chain)
    relationships = " + ".join(part.relationships for part in chain)
    path = ", ".join(
        (
            f"[n IN [{chain[0].node('start')}] + {nodes} | elementId(n)]",
            f"[r IN {relationships} | elementId(r)]",
            f"[{', '.join(length for part in chain for length in part.lengths)}]",
            "null" if best is None else f"elementId({_at(chain, best)})",
        )
    )
    limited = f"{text}\nWITH [{path}] AS path LIMIT {values.add(limit)}\nRETURN collect(path) AS paths"
    return CompiledStatement(Statement(limited, "match_pattern"), values.parameters)


def _is_intersection(part: PatternExpression) -> TypeGuard[QueryCombinator]:
    return isinstance(part, QueryCombinator) and part.type is CombinatorType.INTERSECTION


def _at(chain: Sequence[MatchClauses], place: PlanPosition) -> str:
    return chain[place.segment].node(place.position)
