"""Points of the cost curve, laws fitted to them, and what they predict for sizes that were not
measured.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

Growth = Callable[[float], float]


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one size costs. Seconds of the processor are summed over all cores.

    Attributes:
        relationships: number of relationships, half of them of one user.
        load_seconds: to write the CSV files and import them.
        load_cpu: of that, seconds of the processor.
        range_seconds: to create constraints and range indexes over the loaded data.
        text_seconds: to create full-text indexes.
        vector_seconds: to create the vector index of the relationships.
        vector_cpu: of that, seconds of the processor.
        disk_bytes: of the database with its indexes, without transaction logs.
        vector_bytes: of these, the vector indexes.
        server_bytes: resident memory of the server after the questions.
        search_cpu_ms: milliseconds of the server's processor that a search takes, the mean.
        p50_ms: median time of a search of the user who owns half, 20 results.
        p95_ms: 95th percentile of it.
        recall: share of the true 20 that it finds, the mean of the questions.
        min_recall: of the worst question.
        foreign_rows: rows of other users among the results.
        questions: number of questions.
    """

    relationships: int
    load_seconds: float
    load_cpu: float
    range_seconds: float
    text_seconds: float
    vector_seconds: float
    vector_cpu: float
    disk_bytes: int
    vector_bytes: int
    server_bytes: int
    search_cpu_ms: float
    p50_ms: float
    p95_ms: float
    recall: float
    min_recall: float
    foreign_rows: int
    questions: int

    @property
    def build_seconds(self) -> float:
        """Seconds from the embeddings to the indexes."""
        return self.load_seconds + self.range_seconds + self.text_seconds + self.vector_seconds

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Read a point from JSON; other values are ignored."""
        return cls(**{field.name: values[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Law:
    """A figure `y` as a function of the number of relationships: y = fixed + rate · growth(number).

    Attributes:
        fixed: what a graph costs that has nothing, at least 0.
        rate: what growth by one costs, at least 0.
        growth: how the figure grows.
    """

    fixed: float
    rate: float
    growth: Growth

    def __call__(self, relationships: float) -> float:
        """The predicted figure."""
        return self.fixed + self.rate * self.growth(relationships)

    @classmethod
    def fitted(cls, sizes: Sequence[int], values: Sequence[float], growth: Growth) -> Self:
        """Fit by least squares of relative errors, with no negative part.

        Args:
            sizes: numbers of relationships, at least two different ones.
            values: the figure at these sizes, positive.
            growth: how it grows.
        """
        grown = np.array([growth(size) for size in sizes])
        values_ = np.array(values, dtype=float)
        weighted = np.column_stack([1.0 / values_, grown / values_])
        fixed, rate = np.linalg.lstsq(weighted, np.ones(len(sizes)), rcond=None)[0]
        if rate < 0:
            fixed, rate = _alone(1.0 / values_), 0.0
        elif fixed < 0:
            fixed, rate = 0.0, _alone(grown / values_)
        return cls(float(fixed), float(rate), growth)


@dataclass(frozen=True)
class Figure:
    """A figure that the model predicts.

    Attributes:
        name: as in a table.
        value: of a point.
        growth: how it grows.
        formula: the growth in words.
    """

    name: str
    value: Callable[[Point], float]
    growth: Growth
    formula: str

    def law(self, points: Sequence[Point]) -> Law:
        """Fit it to some points."""
        return Law.fitted(
            [point.relationships for point in points],
            [self.value(point) for point in points],
            self.growth,
        )


def linear(relationships: float) -> float:
    """Grows with the number."""
    return relationships


def inserting(relationships: float) -> float:
    """Grows as inserting each into a graph whose searches take the logarithm of its size."""
    return relationships * math.log2(relationships)


def searching(relationships: float) -> float:
    """Grows with the logarithm of the number."""
    return math.log2(relationships)


FIGURES = (
    Figure("disk, bytes", lambda point: point.disk_bytes, linear, "a + b · N"),
    Figure("vector index, bytes", lambda point: point.vector_bytes, linear, "a + b · N"),
    Figure("loading, CPU seconds", lambda point: point.load_cpu, linear, "a + b · N"),
    Figure(
        "vector index, CPU seconds", lambda point: point.vector_cpu, inserting, "a + b · N · log₂ N"
    ),
    Figure("a search, CPU ms", lambda point: point.search_cpu_ms, searching, "a + b · log₂ N"),
)


@dataclass(frozen=True)
class Check:
    """A law that was fitted to all points but the largest, and what it says of that one."""

    figure: Figure
    relationships: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Relative error of the prediction; positive if it is too high."""
        return self.predicted / self.measured - 1.0


def checks(points: Sequence[Point]) -> list[Check]:
    """Predict the largest of at least three points from the others."""
    *smaller, largest = sorted(points, key=lambda point: point.relationships)
    size = largest.relationships
    return [
        Check(figure, size, figure.law(smaller)(size), figure.value(largest)) for figure in FIGURES
    ]


def _alone(ratios: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
    """The factor that brings all ratios nearest to one."""
    return float(np.sum(ratios) / np.sum(ratios**2))
