"""Graph patterns: which steps a path takes, and what leads away from its nodes."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from kgagent.models.constraint import MAX_STEPS, Constraint, Name, PatternModel, Position, RelationTypes, upper


class StepDirection(StrEnum):
    """How a step follows relationships."""

    OUTGOING = "OUTGOING"
    INCOMING = "INCOMING"
    BOTH = "BOTH"

    @property
    def reversed(self) -> "StepDirection":
        """The other way round; BOTH stays as it is."""
        return {StepDirection.OUTGOING: StepDirection.INCOMING, StepDirection.INCOMING: StepDirection.OUTGOING}.get(
            self, self
        )


class TraversalStep(PatternModel):
    """One step of a path: a relationship, or several of a kind one after the other, and the node that they lead to.

    Attributes:
        source_label: label of the node that it starts from; None is whatever the step before arrived at.
        relation_type: Neo4j type of the relationship, or several of which any will do; None is any.
        target_label: label of the node that it arrives at; None is any.
        step_index: its place, from 0; the place in the list where left out.
        direction: OUTGOING follows relationships from their start, INCOMING from their end, BOTH from either.
        min_hops: relationships that it follows, at the least.
        max_hops: and at the most; those between its ends may lead through nodes of any label.
    """

    source_label: Name | None = None
    relation_type: Name | RelationTypes | None = None
    target_label: Name | None = None
    step_index: int | None = Field(None, ge=0, lt=MAX_STEPS)
    direction: Annotated[StepDirection, BeforeValidator(upper)] = StepDirection.OUTGOING
    min_hops: int = Field(1, ge=1, le=MAX_STEPS)
    max_hops: int = Field(1, ge=1, le=MAX_STEPS)

    @model_validator(mode="before")
    @classmethod
    def _least_says_most(cls, given: Any) -> Any:  # noqa: ANN401
        """Where only the least is given, the most is not below it."""
        if isinstance(given, Mapping) and not {"max_hops", "maxHops"} & given.keys():
            least = given.get("min_hops", given.get("minHops"))
            return {**given, "max_hops": least} if isinstance(least, int) else given
        return given

    @model_validator(mode="after")
    def _hops_are_a_range(self) -> Self:
        if self.min_hops > self.max_hops:
            raise ValueError(f"min_hops must not be above max_hops, got {self.min_hops} and {self.max_hops}")
        return self

    @property
    def types(self) -> tuple[str, ...]:
        """The Neo4j types that it follows; empty for any."""
        if self.relation_type is None:
            return ()
        return (self.relation_type,) if isinstance(self.relation_type, str) else self.relation_type

    @property
    def repeats(self) -> bool:
        """Whether it may follow more than one relationship, or must."""
        return self.max_hops > 1


def _in_order(steps: Sequence[TraversalStep]) -> tuple[TraversalStep, ...]:
    """The steps by their `step_index`, and checked to lead from one to the next."""
    given = [step.step_index for step in steps]
    ordered = tuple(steps)
    if given != [None] * len(steps):
        if set(given) != set(range(len(steps))):
            raise ValueError(f"step_index must number the steps 0 to {len(steps) - 1}, or be left out, got {given}")
        ordered = tuple(sorted(steps, key=lambda step: step.step_index or 0))
    for place, (before, after) in enumerate(pairwise(ordered), 1):
        if None not in (before.target_label, after.source_label) and before.target_label != after.source_label:
            raise ValueError(
                f"step {place} starts from {after.source_label}, but step {place - 1} arrives at {before.target_label}"
            )
    if (hops := sum(step.max_hops for step in ordered)) > MAX_STEPS:
        raise ValueError(f"a path has at most {MAX_STEPS} relationships, these steps may follow {hops}")
    return ordered


def _check_positions(constraints: Sequence[Constraint], steps: int) -> None:
    for constraint in constraints:
        for place in (constraint.at_step, constraint.value_from.at_step if constraint.value_from else 0):
            if isinstance(place, int) and place >= steps:
                raise ValueError(f"at_step {place} does not exist: there are {steps} steps, 0 to {steps - 1}")


class Branch(PatternModel):
    """What must lead, or must not lead, away from a node of a path; it tells nothing, it only decides.

    Attributes:
        at_step: the node that it leads away from.
        steps: its steps.
        constraints: what must hold on it; `at_step` counts its own steps, "start" is the node that it leads away from.
        ends_at: a node of the path that it must end at.
        at_least: different nodes that it must end at, at the least.
        at_most: and at the most; 0 says that there must be none.
    """

    at_step: Position = "end"
    steps: tuple[TraversalStep, ...] = Field(min_length=1, max_length=MAX_STEPS)
    constraints: tuple[Constraint, ...] = Field(default=(), max_length=50)
    ends_at: Position | None = None
    at_least: int | None = Field(None, ge=0, le=1_000_000)
    at_most: int | None = Field(None, ge=0, le=1_000_000)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        object.__setattr__(self, "steps", _in_order(self.steps))
        _check_positions(self.constraints, len(self.steps))
        if self.at_most is not None and self.least > self.at_most:
            raise ValueError(f"at_least must not be above at_most, got {self.least} and {self.at_most}")
        return self

    @property
    def least(self) -> int:
        """The least count: 1, unless it is said or there must be none."""
        if self.at_least is not None:
            return self.at_least
        return 0 if self.at_most == 0 else 1


class GraphPattern(PatternModel):
    """A path through a graph: steps one after the other, and what must hold along it.

    Attributes:
        pattern_id: names it in answers.
        steps: 1 to 8 steps.
        constraints: what must hold of the properties along the path.
        branches: what must lead, or must not lead, away from its nodes.
        cycle: whether the path ends at the node that it starts from.
        distinct_nodes: whether it comes to no node twice.
        repeat_relationships: whether it may follow a relationship twice (a walk); else it may not, as in one MATCH.
        description: what it is for, told in the explanation of its paths.
    """

    pattern_id: Name = "pattern"
    steps: tuple[TraversalStep, ...] = Field(min_length=1, max_length=MAX_STEPS)
    constraints: tuple[Constraint, ...] = Field(default=(), max_length=50)
    branches: tuple[Branch, ...] = Field(default=(), max_length=10)
    cycle: bool = False
    distinct_nodes: bool = False
    repeat_relationships: bool = False
    description: str = Field("", max_length=2_000)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        object.__setattr__(self, "steps", _in_order(self.steps))
        _check_positions(self.constraints, len(self.steps))
        for branch in self.branches:
            for place in (branch.at_step, branch.ends_at):
                if isinstance(place, int) and place >= len(self.steps):
                    raise ValueError(f"a branch at step {place} has no node: steps are 0 to {len(self.steps) - 1}")
        if self.cycle and self.distinct_nodes:
            raise ValueError("a path that ends where it starts (cycle) comes to a node twice: leave out distinct_nodes")
        first, last = self.start_label, self.end_label
        if self.cycle and None not in (first, last) and first != last:
            raise ValueError(f"a cycle ends where it starts, but this one starts at {first} and ends at {last}")
        return self

    @classmethod
    def single_hop(cls, source_label: str, relation_type: str, target_label: str) -> Self:
        """A pattern of one step."""
        step = TraversalStep(source_label=source_label, relation_type=relation_type, target_label=target_label)
        return cls(pattern_id="single_hop", steps=(step,), description="Single hop traversal")

    @property
    def start_label(self) -> str | None:
        """Label of the start nodes; None is any."""
        return self.steps[0].source_label

    @property
    def end_label(self) -> str | None:
        """Label of the end nodes; None is any."""
        return self.steps[-1].target_label

    @property
    def least_hops(self) -> int:
        """Relationships of its shortest path."""
        return sum(step.min_hops for step in self.steps)
