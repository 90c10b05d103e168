"""The steps of patterns and branches, with the labels and types that each step and constraint
refers to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep

PROPERTIES_PREFIX = "properties"
"""Optional first part of a property path: `properties.name` is `name`."""


def property_parts(path: str) -> tuple[str, ...]:
    """The name of a property, followed by the names inside its JSON; a leading `properties.` is
    dropped.
    """
    first, *inner = path.split(".")
    return tuple(inner) if first == PROPERTIES_PREFIX and inner else (first, *inner)


def node_number(position: Position, steps: int) -> int:
    """Index of a node in the pattern: 0 is the start, i + 1 the node at which step i arrives."""
    if position == "start":
        return 0
    return steps if position == "end" else position + 1


def place_name(place: int | str) -> str:
    """A node or step in words, for messages."""
    if isinstance(place, str):
        return f"the {place}"
    return "any step" if place == -1 else f"step {place}"


@dataclass(frozen=True)
class StepSequence:
    """The steps of a pattern or of one of its branches, with its constraints.

    Attributes:
        where: the pattern and the branch, for messages.
        steps: its steps.
        labels: labels of the nodes, from the start, including those that adjacent steps determine;
            None for any.
        constraints: its constraints.
    """

    where: str
    steps: Sequence[TraversalStep]
    labels: Sequence[str | None]
    constraints: Sequence[Constraint]

    def label_at(self, position: Position) -> str | None:
        """Label of a node; None for any."""
        return self.labels[node_number(position, len(self.steps))]

    def scope(self, constraint: Constraint) -> tuple[str, ...]:
        """Labels of the nodes, or Neo4j types of the relationships, to which a constraint applies;
        empty for any.
        """
        place = constraint.at_step
        if constraint.on == "relationship":
            last = len(self.steps) - 1
            steps = (
                self.steps
                if place == -1
                else [self.steps[last if isinstance(place, str) else place]]
            )
            types = [step.types for step in steps]
            return (
                ()
                if () in types
                else tuple(dict.fromkeys(name for names in types for name in names))
            )
        labels: Sequence[str | None] = [constraint.node_label]
        if constraint.node_label is None:
            # The inner nodes of a repeated step may have any label.
            every = [None] if any(step.repeats for step in self.steps) else self.labels
            labels = every if place == -1 else [self.label_at(place)]
        return () if None in labels else tuple(dict.fromkeys(filter(None, labels)))


def step_sequences(pattern: GraphPattern) -> Iterator[StepSequence]:
    """The steps of the pattern, then those of each branch."""
    where = f"pattern {pattern.pattern_id!r}"
    end_of_cycle = pattern.start_label or pattern.end_label if pattern.cycle else None
    sequence = _sequence(where, pattern, start=end_of_cycle, end=end_of_cycle)
    yield sequence
    for number, branch in enumerate(pattern.branches):
        end = None if branch.ends_at is None else sequence.label_at(branch.ends_at)
        yield _sequence(
            f"{where}, branch {number}", branch, start=sequence.label_at(branch.at_step), end=end
        )


def _sequence(
    where: str, part: GraphPattern | Branch, *, start: str | None, end: str | None
) -> StepSequence:
    arriving = [start, *(step.target_label for step in part.steps)]
    leaving = [*(step.source_label for step in part.steps), end]
    labels = [left or arrived for left, arrived in zip(leaving, arriving, strict=True)]
    return StepSequence(where, part.steps, labels, part.constraints)
