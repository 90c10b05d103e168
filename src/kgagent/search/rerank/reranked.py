"""An item with the score that reranking gave it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class Reranked(Generic[ItemT]):
    """An item with its new score."""

    item: ItemT
    score: float


def best_first(ranked: Iterable[Reranked[ItemT]], top_k: int | None) -> list[Reranked[ItemT]]:
    """Sort by score, keeping the order of equal scores, then cut to `top_k`; None keeps all."""
    return sorted(ranked, key=lambda one: -one.score)[:top_k]
