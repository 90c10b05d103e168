"""The steps of patterns and branches, with the labels and types that each constraint and step refers to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.models.constraint import Constraint
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep

PROPERTIES_PREFIX = "properties"
"""Optional first part of a property path: `properties.name` is `name`."""


def property_parts(path: str) -> tuple[str, ...]:
    """The name of a property, followed by the names inside its JSON; a leading `properties.` is dropped."""
    first, *inner = path.split(".")
    return tuple(inner) if first == PROPERTIES_PREFIX and inner else (first, *inner)


@dataclass(frozen=True)
class ResolvedStep:
    """A step with the labels of its ends, including those that its neighbors determine.

    Attributes:
        where: the pattern and the step, for messages.
        step: the step.
        source: label of the node at which it starts; None for any.
        target: label of the node at which it arrives; None for any.
    """

    where: str
    step: TraversalStep
    source: str | None
    target: str | None


@dataclass(frozen=True)
class ConstraintScope:
    """The nodes or relationships to which a constraint applies.

    Attributes:
        on: nodes or relationships.
        label: label of the nodes; None for any.
        types: Neo4j types of the relationships; empty for any.
    """

    on: Literal["node", "relationship"]
    label: str | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepSequence:
    """The steps of a pattern or of one of its branches, with its constraints.

    Attributes:
        where: the pattern and the branch, for messages.
        steps: its steps.
        constraints: its constraints.
    """

    where: str
    steps: Sequence[ResolvedStep]
    constraints: Sequence[Constraint]

    def label_at(self, place: int | str) -> str | None:
        """Label of the node at "start", at "end", or at which a step arrives; None for any."""
        if place == "start":
            return self.steps[0].source
        return self.steps[-1 if isinstance(place, str) else place].target

    def labels_at(self, place: int | str) -> tuple[str | None, ...]:
        """Labels of the nodes at a place; -1 is every node."""
        if place != -1:
            return (self.label_at(place),)
        return (self.steps[0].source, *(resolved.target for resolved in self.steps))

    def types_at(self, place: int | str) -> tuple[str, ...]:
        """Neo4j types of the relationships at a place, -1 being every step; empty for any."""
        steps = [resolved.step for resolved in self.steps]
        chosen = steps if place == -1 else steps[-1:] if isinstance(place, str) else [steps[place]]
        return () if any(not step.types for step in chosen) else tuple(name for step in chosen for name in step.types)

    def scope(self, constraint: Constraint) -> ConstraintScope:
        """The nodes or relationships to which a constraint applies."""
        place = constraint.at_step
        if constraint.on == "relationship":
            return ConstraintScope("relationship", types=self.types_at(place))
        return ConstraintScope("node", constraint.node_label or (None if place == -1 else self.label_at(place)))


def place_name(place: int | str) -> str:
    """A node or step in words, for messages."""
    if isinstance(place, str):
        return f"the {place}"
    return "any step" if place == -1 else f"step {place}"


def step_sequences(pattern: GraphPattern) -> Iterator[StepSequence]:
    """The steps of the pattern, then those of each branch."""
    where = f"pattern {pattern.pattern_id!r}"
    end_of_cycle = pattern.start_label or pattern.end_label if pattern.cycle else None
    sequence = _sequence(where, pattern, start=end_of_cycle, end=end_of_cycle)
    yield sequence
    for number, branch in enumerate(pattern.branches):
        end = None if branch.ends_at is None else sequence.label_at(branch.ends_at)
        yield _sequence(f"{where}, branch {number}", branch, start=sequence.label_at(branch.at_step), end=end)


def _sequence(where: str, part: GraphPattern | Branch, *, start: str | None, end: str | None) -> StepSequence:
    sources = [step.source_label for step in part.steps]
    targets = [step.target_label for step in part.steps]
    before = [start, *targets[:-1]]
    after = [*sources[1:], end]
    resolved = [
        ResolvedStep(f"{where}, step {number}", step, source or left, target or right)
        for number, (step, source, left, target, right) in enumerate(
            zip(part.steps, sources, before, targets, after, strict=True)
        )
    ]
    return StepSequence(where, resolved, part.constraints)
