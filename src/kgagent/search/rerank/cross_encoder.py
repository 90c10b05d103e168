"""Reranking by a cross-encoder, a model that reads the query and a text together."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Protocol

from kgagent.errors import InputError, RerankingError
from kgagent.search.rerank.reranked import ItemT, Reranked, best_first


class CrossEncoder(Protocol):
    """Scores how well texts answer a query."""

    def score(
        self, query: str, texts: Sequence[str]
    ) -> Sequence[float] | Awaitable[Sequence[float]]:
        """Score texts; either `def`, which runs in a thread, or `async def`.

        Args:
            query: the query.
            texts: any number of texts.

        Returns:
            One number for each text, in their order; higher is better, on any scale.
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
    """Sort items by the scores that a cross-encoder gives their texts; without items there is no
    call.

    Args:
        cross_encoder: scores the texts, all of them in one call.
        query: the query.
        items: results of a search.
        text_of: text of an item.
        top_k: maximum number of items; None keeps all.

    Returns:
        Items with their new scores, best first; equal scores keep the given order.

    Raises:
        InputError: top_k is below 0.
        RerankingError: the number of scores is wrong, or a score is not a finite number.
    """
    if top_k is not None and top_k < 0:
        raise InputError(f"top_k must be 0 or more, got {top_k}")
    if not items:
        return []
    texts = [text_of(item) for item in items]
    answer = await asyncio.to_thread(cross_encoder.score, query, texts)
    scores = [float(score) for score in (await answer if isawaitable(answer) else answer)]
    if len(scores) != len(items):
        raise RerankingError(
            f"The cross-encoder was given {len(items)} texts and returned {len(scores)} scores"
        )
    wrong = next(
        (position for position, score in enumerate(scores) if not math.isfinite(score)), None
    )
    if wrong is not None:
        raise RerankingError(
            f"The cross-encoder returned no finite number for text {wrong + 1} of {len(items)}"
        )
    return best_first(map(Reranked, items, scores), top_k)
