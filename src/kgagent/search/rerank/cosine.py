"""Cosine similarity of vectors in memory."""

import math
from collections.abc import Sequence
from operator import mul


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Plain cosine of two vectors, -1 to 1.

    Args:
        one: shape (dimensions,).
        other: shape (dimensions,).

    Returns:
        0.0 if a vector is zero or not finite, or if the dimensions differ.
    """
    if len(one) != len(other):
        return 0.0
    return max(-1.0, min(1.0, dot(unit(one), unit(other))))


def unit(vector: Sequence[float]) -> list[float]:
    """The vector scaled to length 1; a vector that is zero or not finite becomes zero."""
    length = math.hypot(*vector)
    if length == 0.0 or not math.isfinite(length):
        return [0.0] * len(vector)
    return [value / length for value in vector]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Σ one[i] · other[i], over the components that both have."""
    return float(sum(map(mul, one, other)))
