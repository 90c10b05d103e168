"""Compiles a query plan to one Cypher statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kgagent.graph.statements import Statement, statement
from kgagent.models.constraint import Position
from kgagent.models.pattern import GraphPattern
from kgagent.patterns.match_clauses import MatchClauses
from kgagent.patterns.plans import EntryPoint, QueryPlan
from kgagent.patterns.predicates import Matching, Predicates, StatementParameters, Then
from kgagent.search.scope import RelationshipFilter


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
        kept: the time asked for.
        then: what has a history, at that time.
    """

    user_id: str
    entry_points: Sequence[EntryPoint] = ()
    matching: Matching = field(default_factory=dict)
    kept: RelationshipFilter = field(default_factory=RelationshipFilter)
    then: Then = field(default_factory=dict)

    def compile(self, plan: QueryPlan, limit: int) -> CompiledStatement:
        """Compile the statement that matches the paths of a plan.

        Its only row has `paths`: lists of nodes [id], relationships [id], lengths [relationships of
            each step], `at`
        (id of the node for which only the best path is kept, or null) and whether a relationship is
        past. Thousands of rows would take longer to transfer.

        Args:
            plan: the plan.
            limit: maximum number of paths.
        """
        values = self._parameters()
        entered = plan.entered_at(self.entry_points)
        chain = self._chain(plan, values)
        if entered is not None:
            chain[entered.segment].require_id(
                values.add(self.entered_ids(plan.label(entered))), entered.position
            )
        return self._path_statement(plan, chain, values, limit)

    def compile_narrowed(
        self, plan: QueryPlan, nodes: Sequence[Sequence[str] | None], limit: int
    ) -> CompiledStatement:
        """Compile the statement that matches the paths through known nodes, following the steps
        from the start on.

        Args:
            plan: a plan of one pattern whose steps follow one relationship each.
            nodes: for each node of the pattern, from the start, the ids that it may have; None is
                any id. They replace the entry points.
            limit: maximum number of paths.

        Returns:
            A statement with the same row as that of `compile`.
        """
        values = self._parameters()
        chain = self._chain(plan, values, in_order=True)
        for place, ids in enumerate(nodes):
            if ids is not None:
                chain[0].require_id(values.add(ids), place - 1 if place else "start")
        return self._path_statement(plan, chain, values, limit)

    def compile_step(
        self,
        step: GraphPattern,
        starts: Sequence[str] | None,
        ends: Sequence[str] | None,
        *,
        at: Literal["start", "end"],
        limit: int,
    ) -> CompiledStatement:
        """Compile the statement that finds the nodes at one end of a step. Its only row has
        `nodes`, their ids.

        Args:
            step: a pattern of one step.
            starts: ids that the start node may have; None is any id.
            ends: ids that the end node may have; None is any id.
            at: which of its nodes to return.
            limit: maximum number of them.
        """
        values = self._parameters()
        [clauses] = self._chain(QueryPlan((step,)), values)
        if starts is not None:
            clauses.require_id(values.add(starts), "start")
        if ends is not None:
            clauses.require_id(values.add(ends), "end")
        text = (
            f"{clauses.text}\nWITH DISTINCT {clauses.node(at)} AS node LIMIT {values.add(limit)}\n"
            "RETURN collect(elementId(node)) AS nodes"
        )
        return CompiledStatement(Statement(text, "match_step"), values.parameters)

    def entered_ids(self, label: str | None) -> list[str]:
        """Ids of the entry points that fit a label."""
        return [point.element_id for point in self.entry_points if point.fits(label)]

    def _parameters(self) -> StatementParameters:
        then = {"then": self.then} if self.then else {}
        return StatementParameters(
            user_id=self.user_id, zero=0, filter=self.kept.parameters["filter"], **then
        )

    def _predicates(self, values: StatementParameters) -> Predicates:
        is_as_of = self.kept.as_of is not None
        return Predicates(values, self.matching, self.then, is_as_of=is_as_of)

    def _chain(
        self, plan: QueryPlan, values: StatementParameters, *, in_order: bool = False
    ) -> list[MatchClauses]:
        """The patterns of the plan, each starting at the end variable of the one before."""
        predicates = self._predicates(values)
        chain: list[MatchClauses] = []
        for number, segment in enumerate(plan.segments):
            clauses = MatchClauses(
                segment,
                f"s{number}",
                values,
                predicates,
                bound={"start": chain[-1].node("end")} if chain else {},
                in_order=in_order,
            )
            chain.append(clauses)
        return chain

    def _path_statement(
        self,
        plan: QueryPlan,
        chain: Sequence[MatchClauses],
        values: StatementParameters,
        limit: int,
    ) -> CompiledStatement:
        if plan.join is not None:
            variable = chain[0].node(plan.join.at)
            for number, other in enumerate(plan.join.others):
                exists = self._exists(other, plan.join.on, variable, f"j{number}", values)
                chain[0].require(exists, plan.join.at)
        best = None if plan.best_at is None else plan.place(plan.best_at)
        relationships = " + ".join(part.relationships for part in chain)
        past = f"any(r IN {relationships} WHERE {statement('_past')})"
        path = ", ".join(
            (
                f"[n IN [{chain[0].node('start')}] + {' + '.join(part.nodes for part in chain)} | "
                f"elementId(n)]",
                f"[r IN {relationships} | elementId(r)]",
                f"[{', '.join(length for part in chain for length in part.lengths)}]",
                "null" if best is None else f"elementId({chain[best.segment].node(best.position)})",
                past if self.kept.as_of is None else "false",
            )
        )
        clauses = "\n".join(part.text for part in chain)
        text = (
            f"{clauses}\nWITH [{path}] AS path LIMIT {values.add(limit)}\nRETURN collect(path) AS "
            f"paths"
        )
        return CompiledStatement(Statement(text, "match_pattern"), values.parameters)

    def _exists(
        self,
        pattern: GraphPattern,
        position: Position,
        variable: str,
        prefix: str,
        values: StatementParameters,
    ) -> str:
        """A predicate: the pattern has a path with the node at a position."""
        clauses = MatchClauses(
            pattern, prefix, values, self._predicates(values), bound={position: variable}
        )
        plan = QueryPlan((pattern,))
        if (entered := plan.entered_at(self.entry_points)) is not None:
            clauses.require_id(values.add(self.entered_ids(plan.label(entered))), entered.position)
        return f"EXISTS {{ {clauses.text} }}"
