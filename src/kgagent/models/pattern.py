"""Graph patterns: the steps of a path, the constraints along it, and the branches of its nodes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from kgagent.models.constraint import (
    MAX_STEPS,
    Constraint,
    LenientEnum,
    Name,
    PatternModel,
    Position,
    RelationTypes,
    accepts,
)

MAX_CONSTRAINTS = 50
MAX_BRANCHES = 10
MAX_BRANCH_COUNT = 1_000_000


class StepDirection(LenientEnum):
    """Direction in which a step follows relationships."""

    OUTGOING = "OUTGOING"
    INCOMING = "INCOMING"
    BOTH = "BOTH"

    @classmethod
    def synonyms(cls) -> Mapping[str, str]:
        """See `LenientEnum`."""
        return {
            "OUTGOING": "OUT -> FORWARD",
            "INCOMING": "IN <- BACKWARD",
            "BOTH": "ANY EITHER UNDIRECTED - -- <->",
        }


class TraversalStep(PatternModel):
    """One step: follows one or several relationships from a node to the next node of the path."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"step_index", "min_hops", "current"})

    source_label: Name | None = Field(
        None,
        validation_alias=accepts("source_label", "source", "from_label", "start_label"),
        description="Label where it starts. Default: any.",
    )
    relation_type: Name | RelationTypes | None = Field(
        None,
        validation_alias=accepts(
            *("relation_type", "relation_types", "relationship_type", "relationship_types"),
            *("neo4j_type", "neo4j_types", "rel_type", "edge_type", "type"),
        ),
        description="Neo4j type, or a list of them. Default: any.",
    )
    target_label: Name | None = Field(
        None,
        validation_alias=accepts("target_label", "target", "to_label", "end_label"),
        description="Label where it arrives. Default: any.",
    )
    step_index: int | None = Field(
        None,
        ge=0,
        lt=MAX_STEPS,
        description="Position of the step, from 0; by default the position in the list.",
    )
    direction: StepDirection = Field(
        StepDirection.OUTGOING, description="INCOMING: against the stored direction."
    )
    min_hops: int = Field(
        1, ge=1, le=MAX_STEPS, description="Minimum number of relationships that the step follows."
    )
    max_hops: int = Field(
        1, ge=1, le=MAX_STEPS, description="Relationships that the step may follow in a row."
    )
    current: bool = Field(False, description="Only relationships that hold now.")

    @model_validator(mode="before")
    @classmethod
    def _default_max_hops(cls, given: Any) -> Any:  # noqa: ANN401
        """Without max_hops, exactly min_hops relationships are followed."""
        if isinstance(given, Mapping) and not {"max_hops", "maxHops"} & given.keys():
            least = given.get("min_hops", given.get("minHops"))
            return {**given, "max_hops": least} if isinstance(least, int) else given
        return given

    @model_validator(mode="after")
    def _hops_are_a_range(self) -> Self:
        if self.min_hops > self.max_hops:
            raise ValueError(
                f"min_hops must not be above max_hops, got {self.min_hops} and {self.max_hops}"
            )
        return self

    @property
    def types(self) -> tuple[str, ...]:
        """The Neo4j types that the step follows; empty for any."""
        if self.relation_type is None:
            return ()
        return (self.relation_type,) if isinstance(self.relation_type, str) else self.relation_type

    @property
    def repeats(self) -> bool:
        """Whether the step may follow more than one relationship."""
        return self.max_hops > 1


def _in_order(steps: Sequence[TraversalStep]) -> tuple[TraversalStep, ...]:
    """Sort the steps by `step_index`, and check that each starts where the one before arrives."""
    given = [step.step_index for step in steps]
    ordered = tuple(steps)
    if given != [None] * len(steps):
        if set(given) != set(range(len(steps))):
            raise ValueError(
                f"step_index must number the steps 0 to {len(steps) - 1}, or be omitted, got "
                f"{given}"
            )
        ordered = tuple(sorted(steps, key=lambda step: step.step_index or 0))
    for place, (before, after) in enumerate(pairwise(ordered), 1):
        if (
            None not in (before.target_label, after.source_label)
            and before.target_label != after.source_label
        ):
            raise ValueError(
                f"step {place} starts at {after.source_label}, but step {place - 1} arrives at "
                f"{before.target_label}"
            )
    if (hops := sum(step.max_hops for step in ordered)) > MAX_STEPS:
        raise ValueError(
            f"a path has at most {MAX_STEPS} relationships, but these steps may follow {hops}"
        )
    return ordered


def _check_positions(constraints: Sequence[Constraint], steps: int) -> None:
    for constraint in constraints:
        for place in (
            constraint.at_step,
            constraint.value_from.at_step if constraint.value_from else 0,
        ):
            if isinstance(place, int) and place >= steps:
                raise ValueError(f"at_step {place} does not exist: the steps are 0 to {steps - 1}")


class Branch(PatternModel):
    """A condition on a node of a path: steps that must, or must not, start there. It is not part of
    the path.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"ends_at"})

    at_step: Position = Field("end", description="Node at which it starts.")
    steps: tuple[TraversalStep, ...] = Field(
        min_length=1, max_length=MAX_STEPS, description="Its steps."
    )
    constraints: tuple[Constraint, ...] = Field(
        default=(),
        max_length=MAX_CONSTRAINTS,
        description="Its constraints; at_step counts the steps of the branch.",
    )
    ends_at: Position | None = Field(
        None, description="The node of the path at which the branch must end."
    )
    at_least: int | None = Field(
        None,
        ge=0,
        le=MAX_BRANCH_COUNT,
        description="Minimum number of distinct end nodes. Default: 1.",
    )
    at_most: int | None = Field(
        None, ge=0, le=MAX_BRANCH_COUNT, description="Maximum number; 0: there must be none."
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        object.__setattr__(self, "steps", _in_order(self.steps))
        _check_positions(self.constraints, len(self.steps))
        if self.at_most is not None and self.minimum > self.at_most:
            raise ValueError(
                f"at_least must not be above at_most, got {self.minimum} and {self.at_most}"
            )
        return self

    @property
    def minimum(self) -> int:
        """`at_least`; by default 1, or 0 if the branch must not exist."""
        if self.at_least is not None:
            return self.at_least
        return 0 if self.at_most == 0 else 1


class GraphPattern(PatternModel):
    """A path through the graph."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {"pattern_id", "distinct_nodes", "repeat_relationships", "description"}
    )

    pattern_id: Name = Field("pattern", description="Name of the pattern in results and errors.")
    steps: tuple[TraversalStep, ...] = Field(
        min_length=1, max_length=MAX_STEPS, description="1 to 8 steps."
    )
    constraints: tuple[Constraint, ...] = Field(
        default=(), max_length=MAX_CONSTRAINTS, description="Conditions on properties."
    )
    branches: tuple[Branch, ...] = Field(
        default=(),
        max_length=MAX_BRANCHES,
        description="Conditions on a node of the path: steps that must, or must not, start there.",
    )
    cycle: bool = Field(False, description="The path ends at its start node.")
    distinct_nodes: bool = Field(False, description="The path visits no node twice.")
    repeat_relationships: bool = Field(
        False, description="The path may follow a relationship twice."
    )
    description: str = Field(
        "", max_length=2_000, description="Purpose; repeated in the explanation of each path."
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        object.__setattr__(self, "steps", _in_order(self.steps))
        _check_positions(self.constraints, len(self.steps))
        for branch in self.branches:
            for place in (branch.at_step, branch.ends_at):
                if isinstance(place, int) and place >= len(self.steps):
                    raise ValueError(
                        f"a branch refers to step {place}, but the steps are 0 to "
                        f"{len(self.steps) - 1}"
                    )
        if self.cycle and self.distinct_nodes:
            raise ValueError("a cycle visits its start node twice: omit distinct_nodes")
        if self.repeat_relationships and any(step.repeats for step in self.steps):
            raise ValueError(
                "with repeat_relationships, write each relationship as a step of its own: omit "
                "max_hops"
            )
        first, last = self.start_label, self.end_label
        if self.cycle and None not in (first, last) and first != last:
            raise ValueError(
                f"a cycle ends at its start node, but this one starts at {first} and ends at {last}"
            )
        return self

    @classmethod
    def single_hop(cls, source_label: str, relation_type: str, target_label: str) -> Self:
        """A pattern of one step."""
        step = TraversalStep(
            source_label=source_label, relation_type=relation_type, target_label=target_label
        )
        return cls(pattern_id="single_hop", steps=(step,), description="Single hop traversal")

    def label_at(self, position: Position) -> str | None:
        """Label that the pattern requires of a node; None for any."""
        if position == "start":
            return self.steps[0].source_label
        return self.steps[-1 if position == "end" else position].target_label

    @property
    def start_label(self) -> str | None:
        """Label of the start node; None for any."""
        return self.label_at("start")

    @property
    def end_label(self) -> str | None:
        """Label of the end node; None for any."""
        return self.label_at("end")

    @property
    def max_hops(self) -> int:
        """Maximum number of relationships of a path."""
        return sum(step.max_hops for step in self.steps)
