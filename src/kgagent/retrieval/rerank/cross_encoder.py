"""Results in the order of a model that reads the query and each text together."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Protocol

from kgagent.errors import InputError, RerankingError
from kgagent.retrieval.rerank.reranked import ItemT, Reranked, best_first


class CrossEncoder(Protocol):
    """Says how well texts answer a query."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float] | Awaitable[Sequence[float]]:
        """Score texts; `def` or `async def`, as suits the model. One that is not async runs in a thread of its own.

        Args:
            query: what was looked for.
            texts: any number of texts.

        Returns:
            One number for each text, in their order; more is better, on a scale of the model's own.
        """
        ...


async def rerank_with(
    cross_encoder: CrossEncoder,
    query: str,
    items: Sequence[ItemT],
    *,
    text_of: Callable[[ItemT], str],
    top_k: int | None = None,
) -> list[Reranked[ItemT]]:
    """Put items into the order that a cross-encoder gives their texts; no items make no call.

    Args:
        cross_encoder: scores the texts, all of them in one call.
        query: what was looked for.
        items: what a search found.
        text_of: text of an item.
        top_k: items at the most, after the sorting; None keeps all.

    Returns:
        Items with their new scores, best first; of one score in the order given.

    Raises:
        InputError: top_k is below 0.
        RerankingError: the answer had another count, or something that is not a number.
    """
    if top_k is not None and top_k < 0:
        raise InputError(f"top_k must be 0 or more, got {top_k}")
    if not items:
        return []
    texts = [text_of(item) for item in items]
    answer = await asyncio.to_thread(cross_encoder.score, query, texts)
    scores = [float(score) for score in (await answer if isawaitable(answer) else answer)]
    if len(scores) != len(items):
        raise RerankingError(f"The cross-encoder was given {len(items)} texts and gave {len(scores)} scores")
    wrong = next((position for position, score in enumerate(scores) if not math.isfinite(score)), None)
    if wrong is not None:
        raise RerankingError(f"The cross-encoder gave no finite number for text {wrong + 1} of {len(items)}")
    return best_first(map(Reranked, items, scores), top_k)
