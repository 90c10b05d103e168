"""Rerank: optional steps that reorder hydrated candidates by age, by a cross-encoder, and by
diversity.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kgagent.answers.document_text import node_lines, relationship_lines
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridSearchOptions
from kgagent.search.attempt import attempt
from kgagent.search.candidates import Candidate
from kgagent.search.rerank.cosine import cosine
from kgagent.search.rerank.cross_encoder import CrossEncoder, rerank_with
from kgagent.search.rerank.diversity import maximal_marginal_relevance
from kgagent.search.rerank.recency import decay_by_age, half_life_of, written_at
from kgagent.search.rerank.stored_embeddings import embeddings_of
from kgagent.search.scope import SearchScope
from kgagent.search.strategies import RRF_K


@dataclass(frozen=True)
class Reranking:
    """The reranking steps that the options of one search ask for.

    Attributes:
        scope: whose graph.
        options: which steps, and their parameters.
        timeout: seconds for each step.
        limit: number of results.
        pool: number of items that the cross-encoder and diversity see.
        vector: vector of the query; None if it could not be embedded.
    """

    scope: SearchScope
    options: HybridSearchOptions
    timeout: float
    limit: int
    pool: int
    vector: Sequence[float] | None

    async def run(
        self, candidates: list[Candidate], cross_encoder: CrossEncoder | None
    ) -> tuple[list[Candidate], list[str]]:
        """Rerank; a step that fails leaves the order as it was and becomes a warning."""
        warnings: list[str] = []
        if self.options.half_life_days is not None:
            candidates = self._by_age(candidates)
        candidates = candidates[: self.pool]
        if cross_encoder is not None and self.options.query is not None:
            reranking = rerank_with(
                cross_encoder, self.options.query, candidates, text_of=self._text
            )
            reranked, failure = await attempt(reranking, self.timeout, default=None)
            if reranked is not None:
                candidates = [replace(scored.item, score=scored.score) for scored in reranked]
            warnings += [f"Skipped the cross-encoder: {failure.reason}"] if failure else []
        if self.options.mmr_lambda is not None and self.vector is None:
            warnings.append("Skipped diversity (MMR): the query has no embedding")
        elif self.options.mmr_lambda is not None and self.vector is not None:
            is_scored = cross_encoder is not None or self.options.half_life_days is not None
            choosing = self._diverse(
                candidates, self.vector, self.options.mmr_lambda, is_scored=is_scored
            )
            candidates, failure = await attempt(choosing, self.timeout, default=candidates)
            warnings += [f"Skipped diversity (MMR): {failure.reason}"] if failure else []
        return candidates, warnings

    def _by_age(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Let scores decay with age.

        Scores of strategies that concatenate rankings have no common scale: there, 1 / (60 + rank)
        decays.
        """
        scored = list(candidates)
        if self.options.strategy not in {"calibrated", "rrf", "weighted"}:
            scored = [
                replace(one, score=1.0 / (RRF_K + rank))
                for rank, one in enumerate(candidates, start=1)
            ]
        decayed = decay_by_age(
            scored,
            score=lambda one: one.score,
            timestamp=lambda one: written_at(_result(one)),
            now=self._now,
            half_life_days=half_life_of(self.options.half_life_days),
            accesses=_accesses if self.options.use_access_counts else None,
            drop_below=self.options.drop_below,
        )
        return [replace(one.item, score=one.score) for one in decayed]

    async def _diverse(
        self,
        candidates: Sequence[Candidate],
        query: Sequence[float],
        lambda_: float,
        *,
        is_scored: bool,
    ) -> list[Candidate]:
        """Choose items that are relevant and differ from one another.

        Relevance is the cosine with the query or, if an earlier step set scores, those scores
        scaled to 0 to 1.

        Raises:
            StoreError: the database failed.
        """
        results = {one.key: _result(one) for one in candidates}
        vectors = await embeddings_of(self.scope, results)
        if is_scored:
            relevance = _scaled({one.key: one.score for one in candidates})
        else:
            relevance = {one.key: cosine(query, vectors.get(one.key, ())) for one in candidates}

        def choose() -> list[Candidate]:
            return maximal_marginal_relevance(
                candidates,
                relevance=lambda one: relevance[one.key],
                vector=lambda one: vectors.get(one.key),
                k=self.limit,
                lambda_=lambda_,
            )

        # In a thread, since it computes without ever awaiting.
        return await asyncio.to_thread(choose)

    def _text(self, candidate: Candidate) -> str:
        result = _result(candidate)
        if isinstance(result, GraphNode):
            lines = node_lines(result, self._now)
        else:
            lines = relationship_lines(result, self._now)
        return " ".join(line.strip() for line in lines)

    @property
    def _now(self) -> datetime:
        return self.options.now or datetime.now(UTC)


def _result(candidate: Candidate) -> GraphNode | GraphRelationship:
    if candidate.result is None:
        raise ValueError(f"{candidate.key} is not hydrated")
    return candidate.result


def _accesses(candidate: Candidate) -> Sequence[int]:
    count = _result(candidate).properties.get("access_count")
    return [int(count)] if isinstance(count, int | float) else []


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    worst, best = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    span = (best - worst) or 1.0
    return {key: (score - worst) / span for key, score in scores.items()}
