"""A published scenario as a pattern query, with the answer of a walk in plain Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from _walks import Facts, Keys

from kgagent.models.constraint import Constraint, ConstraintType, Position
from kgagent.models.pattern import Branch, GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import GraphQuery, QueryCombinator, RankingStrategy

MAX_PATHS = 10_000

Covered = Literal["whole", "part", "none"]


@dataclass(frozen=True)
class Scenario:
    """A scenario.

    Attributes:
        release: the list of the file that contains it.
        name: name in the file.
        reading: the question to the data, or why the data cannot answer it.
        covered: how much of the scenario the data can answer.
        asked: the query; None if the data cannot answer it.
        answer_at: positions of the answer in each path.
        labels: labels of the answer nodes.
        right: computes the expected answer in plain Python.
        variant: distinguishes two readings of one scenario.
    """

    release: Literal["v0.6", "legacy"]
    name: str
    reading: str
    covered: Covered
    asked: GraphQuery | None = None
    answer_at: tuple[Position, ...] = ("start",)
    labels: tuple[str, ...] = ()
    right: Callable[[Facts], Keys] | None = None
    variant: str = ""

    @property
    def title(self) -> str:
        """Name of the scenario and of the reading."""
        return f"{self.name} ({self.variant})" if self.variant else self.name


def unanswerable(release: Literal["v0.6", "legacy"], name: str, reason: str) -> Scenario:
    """A scenario that the data cannot answer."""
    return Scenario(release, name, reason, "none")


def out(neo4j_type: str, label: str, **more: Any) -> TraversalStep:  # noqa: ANN401
    """A step along a relationship."""
    return TraversalStep(relation_type=neo4j_type, target_label=label, **more)


def into(neo4j_type: str, label: str, **more: Any) -> TraversalStep:  # noqa: ANN401
    """A step against a relationship."""
    return out(neo4j_type, label, direction=StepDirection.INCOMING, **more)


def pattern(name: str, source: str, *steps: TraversalStep, **more: Any) -> GraphPattern:  # noqa: ANN401
    """A pattern that starts at nodes of a label."""
    first, *others = steps
    return GraphPattern(
        pattern_id=name, steps=(first.model_copy(update={"source_label": source}), *others), **more
    )


def where(at_step: Position, name: str, value: Any, **more: Any) -> Constraint:  # noqa: ANN401
    """A property that must equal a value."""
    return Constraint(
        type=ConstraintType.PROPERTY_EQUALS,
        property_path=name,
        value=value,
        at_step=at_step,
        **more,
    )


def holds(
    kind: ConstraintType,
    at_step: Position,
    name: str,
    value: Any = None,  # noqa: ANN401
    **more: Any,  # noqa: ANN401
) -> Constraint:
    """A comparison of a property with a value."""
    return Constraint(type=kind, property_path=name, value=value, at_step=at_step, **more)


def branch(at_step: Position, *steps: TraversalStep, **more: Any) -> Branch:  # noqa: ANN401
    """A branch from a node of a path."""
    return Branch(at_step=at_step, steps=steps, **more)


def ask(*patterns: GraphPattern, combinator: QueryCombinator | None = None) -> GraphQuery:
    """A query for all paths, without embeddings."""
    return GraphQuery(
        patterns=patterns,
        combinator=combinator,
        ranking=RankingStrategy.PATH_LENGTH,
        max_paths=MAX_PATHS,
        top_k=0,
    )
