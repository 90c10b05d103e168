"""Which labels and relationship types stand at the places of a path."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.models.constraint import Constraint
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep

PREFIX = "properties"
"""What may stand before a property's name: `properties.name` is `name`."""


def property_parts(path: str) -> tuple[str, ...]:
    """The name of a property, and the names inside it; the prefix `properties.` says nothing."""
    first, *inner = path.split(".")
    return tuple(inner) if first == PREFIX and inner else (first, *inner)


@dataclass(frozen=True)
class ResolvedStep:
    """A step with the labels that it leads between, whichever step says them.

    Attributes:
        where: the pattern and the step, as an error names them.
        step: the step.
        source: label of the node that it starts from; None is any.
        target: label of the node that it arrives at; None is any.
    """

    where: str
    step: TraversalStep
    source: str | None
    target: str | None


@dataclass(frozen=True)
class ConstraintScope:
    """What a constraint is about.

    Attributes:
        on: nodes or relationships.
        label: of the nodes; None is any.
        types: of the relationships; none is any.
    """

    on: Literal["node", "relationship"]
    label: str | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepSequence:
    """The steps of a pattern, or of one of its branches, and what must hold along them.

    Attributes:
        where: what an error calls it.
        steps: its steps.
        constraints: what must hold along it.
    """

    where: str
    steps: Sequence[ResolvedStep]
    constraints: Sequence[Constraint]

    def label_at(self, place: int | str) -> str | None:
        """Label of a node: "start", "end", or the node that a step arrives at; None is any."""
        if place == "start":
            return self.steps[0].source
        return self.steps[-1 if isinstance(place, str) else place].target

    def labels_at(self, place: int | str) -> tuple[str | None, ...]:
        """Labels of the nodes that a constraint is about; -1 is every node."""
        if place != -1:
            return (self.label_at(place),)
        return (self.steps[0].source, *(resolved.target for resolved in self.steps))

    def scope(self, constraint: Constraint) -> ConstraintScope:
        """What a constraint is about."""
        place = constraint.at_step
        if constraint.on == "relationship":
            return ConstraintScope("relationship", types=self.types_at(place))
        return ConstraintScope("node", constraint.node_label or (None if place == -1 else self.label_at(place)))

    def types_at(self, place: int | str) -> tuple[str, ...]:
        """Relationship types that a constraint is about; -1 is every step. None is any."""
        steps = [resolved.step for resolved in self.steps]
        meant = steps if place == -1 else steps[-1:] if isinstance(place, str) else [steps[place]]
        return () if any(not step.types for step in meant) else tuple(name for step in meant for name in step.types)


def place_name(place: int | str) -> str:
    """What a sentence calls a node of a path, or a step."""
    if isinstance(place, str):
        return f"the {place}"
    return "any step" if place == -1 else f"step {place}"


def step_sequences(pattern: GraphPattern) -> Iterator[StepSequence]:
    """The pattern's own steps, then those of each of its branches."""
    where = f"pattern {pattern.pattern_id!r}"
    ends = pattern.start_label or pattern.end_label if pattern.cycle else None
    sequence = _step_sequence(where, pattern, start=ends, end=ends)
    yield sequence
    for number, branch in enumerate(pattern.branches):
        end = None if branch.ends_at is None else sequence.label_at(branch.ends_at)
        yield _step_sequence(f"{where}, branch {number}", branch, start=sequence.label_at(branch.at_step), end=end)


def _step_sequence(where: str, of: GraphPattern | Branch, *, start: str | None, end: str | None) -> StepSequence:
    steps = of.steps
    sources = [step.source_label for step in steps]
    targets = [step.target_label for step in steps]
    before = [start, *targets[:-1]]
    after = [*sources[1:], end]
    resolved = [
        ResolvedStep(f"{where}, step {number}", step, source or left, target or right)
        for number, (step, source, left, target, right) in enumerate(
            zip(steps, sources, before, targets, after, strict=True)
        )
    ]
    return StepSequence(where, resolved, of.constraints)
