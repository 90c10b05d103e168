"""A plan as one Cypher statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from kgagent.graph.statements import Statement
from kgagent.models.constraint import Position
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
from kgagent.patterns.reverse import reverse_plan, reverse_position


@dataclass(frozen=True)
class CompiledStatement:
    """A statement with its parameters."""

    text: Statement
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Compiler:
    """Makes statements for one query.

    Attributes:
        user_id: whose graph.
        entry_points: where paths start or end; none for anywhere.
        matching: stored values for the constraints that the database cannot work out.
        one_path_per: the node of which only the best path is kept.
    """

    user_id: str
    entry_points: Sequence[EntryPoint] = ()
    matching: Matching = field(default_factory=dict)
    one_path_per: Position | None = None

    def matched(self, plan: QueryPlan, explored: int) -> CompiledStatement:
        """The statement that matches a plan's paths.

        Rows: nodes [id], relationships [id], lengths [relationships of each step], at (id or null).

        Args:
            plan: what is matched.
            explored: paths at the most.
        """
        values = StatementParameters(user_id=self.user_id, zero=0)
        chain = self._chain(plan, "", values)
        best = plan.best.place if plan.best is not None else None
        if self.one_path_per is not None:
            best = plan.place(self.one_path_per)
        text = self._text(plan, chain, plan.entered_at(self.entry_points), "", values)
        nodes = " + ".join(part.nodes for part in chain)
        relationships = " + ".join(part.relationships for part in chain)
        told = {
            "nodes": f"[n IN [{chain[0].node('start')}] + {nodes} | elementId(n)]",
            "relationships": f"[r IN {relationships} | elementId(r)]",
            "lengths": f"[{', '.join(length for part in chain for length in part.lengths)}]",
            "at": "null" if best is None else f"elementId({_at(chain, best)})",
        }
        rows = ", ".join(f"{expression} AS {name}" for name, expression in told.items())
        limited = f"{text}\nRETURN {rows}\nLIMIT {values.add(explored)}"
        return CompiledStatement(Statement(limited, "match_pattern"), values.parameters)

    def _chain(
        self, plan: QueryPlan, prefix: str, values: StatementParameters, bound: Mapping[PlanPosition, str] | None = None
    ) -> list[MatchClauses]:
        """The plan's patterns, each starting at the variable that the one before ends at."""
        predicates = Predicates(values, self.matching)
        chain: list[MatchClauses] = []
        for number, segment in enumerate(plan.segments):
            known: dict[Position, str] = {
                place.position: variable for place, variable in (bound or {}).items() if place.segment == number
            }
            if chain:
                known["start"] = chain[-1].node("end")
            chain.append(MatchClauses(segment, f"{prefix}s{number}", values, predicates, bound=known))
        return chain

    def _text(
        self,
        plan: QueryPlan,
        chain: Sequence[MatchClauses],
        entered: PlanPosition | None,
        prefix: str,
        values: StatementParameters,
    ) -> str:
        """The clauses of a chain, with what holds of its entry points and its joins."""
        if entered is not None:
            label = plan.label(entered)
            ids = [point.element_id for point in self.entry_points if point.fits(label)]
            chain[entered.segment].require(f"elementId({_at(chain, entered)}) IN {values.add(ids)}", entered.position)
        for number, member in enumerate(plan.joins):
            text = self._member(member, _at(chain, member.place), f"{prefix}m{number}", values)
            chain[member.place.segment].require(text, member.place.position)
        return "\n".join(part.text for part in chain)

    def _member(self, member: JoinCondition, variable: str, prefix: str, values: StatementParameters) -> str:
        """Whether a node is one that another part finds."""
        part = member.part
        if _is_intersection(part) and join_position(part) == member.position:
            # Taken apart, each of its patterns would be held to all others again: exponential in the depth.
            inner = (JoinCondition(member.place, one, member.position) for one in part.patterns)
            texts = [self._member(one, variable, f"{prefix}i{number}", values) for number, one in enumerate(inner)]
            return f"({' AND '.join(texts)})"
        found = [
            self._finds(plan, member.position, variable, f"{prefix}p{number}", values)
            for number, plan in enumerate(plans_of(member.part))
        ]
        return f"({' OR '.join(found)})"

    def _finds(
        self, plan: QueryPlan, position: Position, variable: str, prefix: str, values: StatementParameters
    ) -> str:
        """Whether a plan finds a node at a position of its paths."""
        place, entered = plan.place(position), plan.entered_at(self.entry_points)
        if position == "end" and any(segment.repeat_relationships for segment in plan.segments):
            place, entered = reverse_position(plan, place), entered and reverse_position(plan, entered)
            plan = reverse_plan(plan)
        chain = self._chain(plan, prefix, values, {place: variable})
        here = tuple(one for one in plan.joins if _at(chain, one.place) == variable)
        text = self._text(replace(plan, joins=here), chain, entered, prefix, values)
        elsewhere = [one for one in plan.joins if one not in here]
        if elsewhere:
            # Many paths may lead to a node: whether others find it too is looked at once.
            reached = {_at(chain, one.place): f"{prefix}d{number}" for number, one in enumerate(elsewhere)}
            once = ", ".join(f"{node} AS {name}" for node, name in reached.items())
            others = " AND ".join(
                self._member(one, reached[_at(chain, one.place)], f"{prefix}w{number}", values)
                for number, one in enumerate(elsewhere)
            )
            text = f"{text}\nWITH DISTINCT {once}\nWITH * WHERE {others}"
        return f"EXISTS {{\n{text}\nRETURN 1 AS found\n}}"


def _is_intersection(part: PatternExpression) -> TypeGuard[QueryCombinator]:
    return isinstance(part, QueryCombinator) and part.type is CombinatorType.INTERSECTION


def _at(chain: Sequence[MatchClauses], place: PlanPosition) -> str:
    return chain[place.segment].node(place.position)
