"""The optional last steps of a hybrid search: recent items first, a cross-encoder's order, items that differ."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kgagent.concurrency import task_group
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridSearchOptions
from kgagent.models.llm_context import node_lines, relationship_lines
from kgagent.retrieval.cosine import cosine
from kgagent.retrieval.fusion import RRF_K
from kgagent.retrieval.hybrid_parts import Records
from kgagent.retrieval.rerank import CrossEncoder, decay_by_age, maximal_marginal_relevance, rerank_with, written_at
from kgagent.retrieval.stored_embeddings import StoredEmbeddings
from kgagent.retrieval.strategies import Fused

POOL = 3
"""Items that are read or compared anew, as a multiple of those that are answered."""

Vector = Sequence[float]


class Reranking:
    """Puts the items of one fused ranking into another order."""

    def __init__(self, records: Records, options: HybridSearchOptions) -> None:
        self._records = records
        self._options = options
        self._now = options.now or datetime.now(UTC)

    def recent_first(self, fused: Sequence[Fused]) -> list[Fused]:
        """Let items sink with their age; none is left out.

        Scores of strategies that put one ranking after another have no common scale: there, places decay.
        """
        scored = list(fused)
        if self._options.strategy not in {"rrf", "weighted"}:
            scored = [replace(item, score=1.0 / (RRF_K + rank)) for rank, item in enumerate(fused, start=1)]
        decayed = decay_by_age(
            scored,
            score=lambda item: item.score,
            timestamp=lambda item: written_at(self._records[item.key]),
            now=self._now,
            half_life_days=self._options.half_life_days,
            drop_below=0.0,
        )
        return [replace(one.item, score=one.score) for one in decayed]

    async def by_reading(self, fused: Sequence[Fused], cross_encoder: CrossEncoder, query: str) -> list[Fused]:
        """Take the order of a model that reads the query and each item together.

        Raises:
            RerankingError: it gave something else than one number for each.
        """
        read = await rerank_with(cross_encoder, query, fused, text_of=lambda item: self._text(item.key))
        return [replace(one.item, score=one.score) for one in read]

    async def diverse(
        self,
        fused: Sequence[Fused],
        query: Vector,
        embeddings: StoredEmbeddings,
        user_id: str,
        limit: int,
        *,
        lambda_: float,
        scored: bool,
    ) -> list[Fused]:
        """Choose items that are good and differ from one another.

        Good is what is near the query or, where a step before gave scores, what those say, from 0 for the worst.

        Raises:
            StoreError: the database failed.
        """
        vector = await self._vectors([item.key for item in fused], embeddings, user_id)
        if scored:
            relevance = _from_nothing_to_one({item.key: item.score for item in fused})
        else:
            relevance = {item.key: cosine(query, vector(item.key) or ()) for item in fused}

        def choose() -> list[Fused]:
            return maximal_marginal_relevance(
                fused,
                relevance=lambda item: relevance[item.key],
                vector=lambda item: vector(item.key),
                k=limit,
                lambda_=lambda_,
            )

        # In a thread, since it computes without ever waiting.
        return await asyncio.to_thread(choose)

    async def _vectors(
        self, keys: Sequence[str], embeddings: StoredEmbeddings, user_id: str
    ) -> Callable[[str], Vector | None]:
        records = {key: self._records[key] for key in keys}
        nodes = {key: record.entity_key for key, record in records.items() if isinstance(record, GraphNode)}
        pairs = {key: record.pair for key, record in records.items() if isinstance(record, GraphRelationship)}
        async with task_group() as group:
            of_nodes = group.create_task(embeddings.of_nodes(user_id, list(nodes.values())))
            of_relationships = group.create_task(embeddings.of_relationships(user_id, list(pairs.values())))
        stored: dict[str, Any] = {key: of_nodes.result().get(entity_key) for key, entity_key in nodes.items()}
        stored |= {key: of_relationships.result().get(pair) for key, pair in pairs.items()}
        return stored.get

    def _text(self, key: str) -> str:
        record, now = self._records[key], self._now
        lines = node_lines(record, now) if isinstance(record, GraphNode) else relationship_lines(record, now)
        return " ".join(line.strip() for line in lines)


def _from_nothing_to_one(scores: Mapping[str, float]) -> dict[str, float]:
    worst, best = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    span = (best - worst) or 1.0
    return {key: (score - worst) / span for key, score in scores.items()}
