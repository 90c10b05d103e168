"""Compiles one pattern to MATCH clauses."""

from collections.abc import Iterator, Mapping

from kgagent.graph.identifiers import Identifier
from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, StepDirection, TraversalStep
from kgagent.patterns.predicates import Predicates, StatementParameters
from kgagent.patterns.step_sequences import node_number

_ARROWS: Mapping[StepDirection, tuple[str, str]] = {
    StepDirection.OUTGOING: ("-", "->"),
    StepDirection.INCOMING: ("<-", "-"),
    StepDirection.BOTH: ("-", "-"),
}


class MatchClauses:
    """The MATCH clauses of one pattern, and expressions for the nodes and relationships that they
    bind.

    Args:
        pattern: the pattern.
        prefix: prefix of its variables.
        values: parameters of the statement.
        predicates: compiles the constraints.
        bound: variables that are already bound, by their position.
        in_order: whether to follow the steps from the start on, each of them one relationship,
            instead of in the order that the planner estimates to be cheapest.
    """

    def __init__(
        self,
        pattern: GraphPattern,
        prefix: str,
        values: StatementParameters,
        predicates: Predicates,
        *,
        bound: Mapping[Position, str] | None = None,
        in_order: bool = False,
    ) -> None:
        self._pattern = pattern
        self._in_order = in_order
        self._prefix = prefix
        self._values = values
        self._predicates = predicates
        self._bindings: list[tuple[str, int]] = []
        """MATCH clauses, each with the index of the last node that is bound after it."""
        self._required: list[tuple[int, str]] = []
        """Predicates, each with the index of the last node that it refers to."""
        self._nodes = self._variables(bound or {})
        self._hops: list[tuple[str, str]] = []
        self._write()

    def node(self, position: Position) -> str:
        """The variable of the node at a position."""
        return self._nodes[node_number(position, len(self._pattern.steps))]

    @property
    def text(self) -> str:
        """The clauses, each followed by the predicates whose variables are bound by then."""
        lines, decided = [], -1
        for clause, known in self._bindings:
            lines.append(clause)
            due = [predicate for place, predicate in self._required if decided < place <= known]
            if due:
                lines.append("WHERE " + "\n  AND ".join(due))
            decided = known
        return "\n".join(lines)

    def require(self, predicate: str, position: Position = "end") -> None:
        """Add a predicate on a node."""
        self._require(predicate, node_number(position, len(self._pattern.steps)))

    def require_id(self, ids: str, position: Position) -> None:
        """Require that the id of a node is in a list."""
        self.require(f"elementId({self.node(position)}) IN {ids}", position)

    def _require(self, predicate: str, *places: int) -> None:
        """Add a predicate on the nodes at some places; it is placed where the last of them is
        bound.
        """
        self._required.append(
            (max(self._nodes.index(self._nodes[place]) for place in places), predicate)
        )

    def _bind(self, clause: str, known: int) -> None:
        self._bindings.append((clause, known))

    @property
    def nodes(self) -> str:
        """Expression for the list of nodes after the start."""
        return " + ".join(nodes for nodes, _ in self._hops)

    @property
    def relationships(self) -> str:
        """Expression for the list of relationships."""
        return " + ".join(relationships for _, relationships in self._hops)

    @property
    def lengths(self) -> list[str]:
        """Expressions for the number of relationships that each step followed."""
        return [
            f"size({relationships})" if step.repeats else "1"
            for step, (_, relationships) in zip(self._pattern.steps, self._hops, strict=True)
        ]

    def _variables(self, bound: Mapping[Position, str]) -> list[str]:
        steps = len(self._pattern.steps)
        known = {node_number(position, steps): variable for position, variable in bound.items()}
        names = [known.get(place, f"{self._prefix}n{place}") for place in range(steps + 1)]
        if self._pattern.cycle:
            # A node may be bound at either end; the other end is the same node.
            if steps in known and 0 not in known:
                names[0] = names[-1]
            elif steps in known:
                self._required.append((0, f"{names[0]} = {names[-1]}"))
            names[-1] = names[0]
        return names

    def _write(self) -> None:
        pattern = self._pattern
        self._steps()
        self._scope()
        self._constraints()
        for number, branch in enumerate(pattern.branches):
            ends = [branch.at_step, *([] if branch.ends_at is None else [branch.ends_at])]
            self._require(
                self._branch(branch, number),
                *(node_number(end, len(pattern.steps)) for end in ends),
            )
        if pattern.distinct_nodes:
            nodes = f"([{self._nodes[0]}] + {self.nodes})"
            self._require(
                f"all(place IN range(1, size{nodes} - 1) WHERE NOT {nodes}[place] IN "
                f"{nodes}[..place])",
                len(pattern.steps),
            )

    def _steps(self) -> None:
        """The steps as one path; or each as a clause, in order or where relationships may be
        followed twice.

        The planner combines clauses and reorders them unless a WITH between them adds a variable.
        """
        pattern, path = self._pattern, ""
        if self._in_order:
            self._bind(f"MATCH ({self._nodes[0]}{_label(pattern.steps[0].source_label)})", 0)
        for place, step in enumerate(pattern.steps):
            before, after = self._nodes[place : place + 2]
            if path and step.source_label not in {None, pattern.steps[place - 1].target_label}:
                self._require(f"{before}:{Identifier(step.source_label)}", place)
            path = path or f"({before}{_label(step.source_label)})"
            path += f"{self._hop(place, step)}({after}{_label(step.target_label)})"
            if self._in_order:
                self._bind(f"WITH *, {place} AS {self._prefix}o{place}\nMATCH {path}", place + 1)
                for other in range(place):
                    self._of_hop(f"{self._prefix}r{place} <> {self._prefix}r{other}", place)
            elif pattern.repeat_relationships:
                self._bind(f"MATCH {path}", place + 1)
            if self._in_order or pattern.repeat_relationships:
                path = ""
        if path:
            self._bind(f"MATCH {path}", len(pattern.steps))

    def _hop(self, place: int, step: TraversalStep) -> str:
        """The part of a path between the two nodes of a step."""
        left, right = _ARROWS[step.direction]
        relationship, node = f"{self._prefix}r{place}", f"{self._prefix}m{place}"
        if not step.repeats:
            self._hops.append((f"[{self._nodes[place + 1]}]", f"[{relationship}]"))
            return f"{left}[{relationship}{_types(step)}]{right}"
        self._hops.append((node, relationship))
        inner = " AND ".join(self._repeated(place, relationship, node))
        way = f"({self._prefix}l{place}){left}[{relationship}{_types(step)}]{right}({node})"
        return f" ({way} WHERE {inner}){{{step.min_hops},{step.max_hops}}} "

    def _repeated(self, place: int, relationship: str, node: str) -> Iterator[str]:
        """The predicates on each relationship that a repeated step follows."""
        yield f"{node}.user_id = $user_id"
        yield f"coalesce({relationship}.user_id, $user_id) = $user_id"
        yield from self._predicates.on_step(self._pattern.steps[place], relationship)
        for constraint in self._pattern.constraints:
            if constraint.on == "relationship" and self._is_of_step(constraint, place):
                yield self._predicates.on_relationship(constraint, relationship, self.node)
            elif (
                constraint.on == "node"
                and constraint.at_step == -1
                and constraint.value_from is None
            ):
                yield self._predicates.on_node(constraint, node, self.node, label=None)

    def _scope(self) -> None:
        """Restrict nodes and relationships to the user's; repeated steps do so inside."""
        for node in dict.fromkeys(self._nodes):
            self._require(f"{node}.user_id = $user_id", self._nodes.index(node))
        for place, step in enumerate(self._pattern.steps):
            if not step.repeats:
                relationship = f"{self._prefix}r{place}"
                self._of_hop(f"coalesce({relationship}.user_id, $user_id) = $user_id", place)
                for predicate in self._predicates.on_step(step, relationship):
                    self._of_hop(predicate, place)

    def _of_hop(self, predicate: str, place: int) -> None:
        """Add a predicate on the relationship of a step, which is bound together with its target
        node.
        """
        self._required.append((place + 1, predicate))

    def _constraints(self) -> None:
        for constraint in self._pattern.constraints:
            if constraint.on == "relationship":
                for place, step in enumerate(self._pattern.steps):
                    if not step.repeats and self._is_of_step(constraint, place):
                        relationship = f"{self._prefix}r{place}"
                        self._of_hop(
                            self._predicates.on_relationship(constraint, relationship, self.node),
                            place,
                        )
                continue
            if constraint.at_step != -1:
                self._on_node(constraint, node_number(constraint.at_step, len(self._pattern.steps)))
                continue
            for place in range(len(self._nodes)):
                self._on_node(constraint, place)
            if constraint.value_from is not None:
                for predicate in self._on_repeated(constraint):
                    self._of_hop(predicate, len(self._pattern.steps) - 1)

    def _on_node(self, constraint: Constraint, place: int) -> None:
        steps = self._pattern.steps
        label = steps[place - 1].target_label if place else steps[0].source_label
        other = (
            0
            if constraint.value_from is None
            else node_number(constraint.value_from.at_step, len(steps))
        )
        predicate = self._predicates.on_node(constraint, self._nodes[place], self.node, label=label)
        self._require(predicate, place, other)

    def _on_repeated(self, constraint: Constraint) -> Iterator[str]:
        """Predicates that compare the inner nodes of repeated steps with another node of the
        path.
        """
        for place, step in enumerate(self._pattern.steps):
            if step.repeats:
                inner = self._predicates.on_node(constraint, "inner", self.node, label=None)
                yield f"all(inner IN {self._prefix}m{place} WHERE {inner})"

    def _is_of_step(self, constraint: Constraint, place: int) -> bool:
        last = len(self._pattern.steps) - 1
        return constraint.at_step in {-1, place} or (constraint.at_step == "end" and place == last)

    def _branch(self, branch: Branch, place: int) -> str:
        """A branch as a subquery expression."""
        bound: dict[Position, str] = {"start": self.node(branch.at_step)}
        if branch.ends_at is not None:
            bound["end"] = self.node(branch.ends_at)
        inner = MatchClauses(
            GraphPattern(steps=branch.steps, constraints=branch.constraints),
            f"{self._prefix}b{place}",
            self._values,
            self._predicates,
            bound=bound,
        )
        if branch.minimum <= 1 and branch.at_most is None:
            return f"EXISTS {{ {inner.text} }}" if branch.minimum else "true"
        if branch.at_most == 0:
            return f"NOT EXISTS {{ {inner.text} }}"
        counted = f"COUNT {{ {inner.text} RETURN DISTINCT {inner.node('end')} }}"
        least, most = self._values.add(branch.minimum), self._values.add(branch.at_most)
        return (
            f"{least} <= {counted}" if branch.at_most is None else f"{least} <= {counted} <= {most}"
        )


def _label(label: str | None) -> str:
    return "" if label is None else f":{Identifier(label)}"


def _types(step: TraversalStep) -> str:
    return f":{Identifier.any_of(step.types)}" if step.types else ""
