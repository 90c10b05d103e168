"""Hybrid search: nodes and relationships, by meaning and by words, all at once and fused into one ranking."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgagent.concurrency import task_group
from kgagent.errors import SearchError
from kgagent.models.hybrid import HybridSearchOptions, HybridSearchResult, RetrieverName
from kgagent.ontology import Ontology
from kgagent.retrieval.answered import RecordLoader
from kgagent.retrieval.by_meaning import VectorRetrievers
from kgagent.retrieval.full_text import FullTextSearch
from kgagent.retrieval.hybrid_parts import (
    Found,
    Records,
    answer,
    attempt,
    failures,
    node_key,
    relationship_key,
    tried,
    with_ends,
)
from kgagent.retrieval.hybrid_records import HybridRecords, relationships_of
from kgagent.retrieval.hybrid_rerank import POOL, Reranking
from kgagent.retrieval.nearest import NearestQuery
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.stored_embeddings import StoredEmbeddings
from kgagent.retrieval.strategies import RANKINGS, Fused, Ranked, fuse
from kgagent.retrieval.vector_targets import TO_BE_RANKED

if TYPE_CHECKING:
    from kgagent.retrieval.service import RetrievalService

MAX_EMBEDDED_LENGTH = 8_000
"""Characters of a query that are embedded."""


@dataclass(frozen=True)
class Question:
    """What a hybrid search looks for.

    Attributes:
        text: what to look for, in words; None where only a vector was given.
        vector: shape (dimensions,); None has the text embedded.
        user_id: whose graph.
        options: how.
        timeout: seconds for each part of the search.
        limit: items at the most.
        cross_encoder: gives the last order; None leaves it.
    """

    text: str | None
    vector: Sequence[float] | None
    user_id: str
    options: HybridSearchOptions
    timeout: float
    limit: int
    cross_encoder: CrossEncoder | None = None

    @property
    def pool(self) -> int:
        """Items that are taken up before the last order is known."""
        reordered = (self.cross_encoder, self.options.half_life_days, self.options.mmr_lambda) != (None, None, None)
        return self.limit * POOL if reordered else self.limit


class HybridSearch:
    """Answers `hybrid_search`."""

    def __init__(
        self,
        retrieval: "RetrievalService",
        *,
        by_meaning: VectorRetrievers,
        full_text: FullTextSearch,
        answered: RecordLoader,
        embeddings: StoredEmbeddings,
        ontology: Ontology,
    ) -> None:
        self._retrieval = retrieval
        self._by_meaning = by_meaning
        self._full_text = full_text
        self._answered = answered
        self._embeddings = embeddings
        self._ontology = ontology

    async def search(self, question: Question) -> HybridSearchResult:
        """Search, fuse, and cut to the best.

        Raises:
            InputError: a label is unknown.
            SearchError: every part failed.
        """
        options = question.options
        labels = self._retrieval.known_labels(options.labels)
        parts, vector = await self._side_by_side(question, labels)
        if all(part.failure is not None for part in parts.values()):
            raise _nothing(parts)
        fused = fuse(
            {ranking: parts[ranking].ranking for ranking in RANKINGS if ranking in parts},
            strategy=options.strategy,
            weights=options.weights,
        )
        if options.search_relationships:
            fused, ends = with_ends(fused, relationships_of(parts), labels, question.pool)
            parts["via_relationship"] = Found(ranking=ends)
        if options.half_life_days is None:
            fused = fused[: question.pool]
        showing = HybridRecords(
            self._answered, self._ontology, user_id=question.user_id, labels=labels, timeout=question.timeout
        )
        records, unread = await showing.to_model(parts, fused)
        known = [item for item in fused if item.key in records]
        ordered, warnings = await self._reranked(question, records, known, vector)
        return answer(
            parts,
            records,
            ordered[: question.limit],
            [*unread, *warnings],
            with_relationships=options.search_relationships,
        )

    async def _reranked(
        self, question: Question, records: Records, fused: list[Fused], vector: Sequence[float] | None
    ) -> tuple[list[Fused], list[str]]:
        """The last steps that were asked for; one that fails leaves the order as it was, and a warning."""
        reranking, options, warnings = Reranking(records, question.options), question.options, []
        if options.half_life_days is not None:
            fused = reranking.recent_first(fused)
        fused = fused[: question.pool]
        if question.cross_encoder is not None and question.text is not None:
            read = reranking.by_reading(fused, question.cross_encoder, question.text)
            fused, failure = await attempt(read, question.timeout, otherwise=fused)
            warnings += [f"Left the order without the cross-encoder: {failure}"] if failure else []
        if options.mmr_lambda is not None and vector is None:
            warnings += ["Left the order without regard to difference: the query has no embedding"]
        elif options.mmr_lambda is not None and vector is not None:
            chosen = reranking.diverse(
                fused,
                vector,
                self._embeddings,
                question.user_id,
                question.limit,
                lambda_=options.mmr_lambda,
                scored=question.cross_encoder is not None or options.half_life_days is not None,
            )
            fused, failure = await attempt(chosen, question.timeout, otherwise=fused)
            warnings += [f"Left the order without regard to difference: {failure}"] if failure else []
        return fused, warnings

    async def _side_by_side(
        self, question: Question, labels: Sequence[str]
    ) -> tuple[dict[RetrieverName, Found], Sequence[float] | None]:
        """What each part found, and the vector that was looked for; None where there is none."""
        vector = asyncio.ensure_future(self._vector(question))

        async def near() -> NearestQuery:
            # Shielded, so that a part that runs out of time does not take the embedding from the others.
            return NearestQuery(await asyncio.shield(vector), question.options.threshold, question.text or "")

        parts: dict[RetrieverName, Callable[[], Awaitable[Found]]] = {
            "node_vector": lambda: self._nodes_near(question, labels, near),
            "relationship_vector": lambda: self._relationships_near(question, near),
        }
        if question.text is not None:
            parts["node_fulltext"] = lambda: self._nodes_by_words(question, labels, question.text or "")
            parts["relationship_fulltext"] = lambda: self._relationships_by_words(question, question.text or "")
        if not question.options.search_relationships:
            parts = {finder: part for finder, part in parts.items() if finder in {"node_vector", "node_fulltext"}}
        try:
            async with task_group() as group:
                tasks = {finder: group.create_task(tried(part(), question.timeout)) for finder, part in parts.items()}
        finally:
            vector.cancel()
            [known] = await asyncio.gather(vector, return_exceptions=True)
        found = {finder: task.result() for finder, task in tasks.items()}
        return found, None if isinstance(known, BaseException) else known

    async def _vector(self, question: Question) -> Sequence[float]:
        if question.vector is not None:
            return question.vector
        [embedding] = await self._retrieval.embed_queries([(question.text or "")[:MAX_EMBEDDED_LENGTH]])
        return embedding

    async def _nodes_near(
        self, question: Question, labels: Sequence[str], near: Callable[[], Awaitable[NearestQuery]]
    ) -> Found:
        [hits] = await self._by_meaning.nodes([await near()], question.user_id, labels, question.options.object_limit)
        return Found(
            ranking=[Ranked(node_key(hit.record.entity_key), hit.similarity) for hit in hits],
            nodes={node_key(hit.record.entity_key): hit.record for hit in hits},
            plan=hits.plan,
        )

    async def _relationships_near(self, question: Question, near: Callable[[], Awaitable[NearestQuery]]) -> Found:
        options = question.options
        [found] = await self._by_meaning.relationships(
            [await near()],
            question.user_id,
            options.relationship_types,
            options.relationship_limit,
            expand_hops=options.expand_hops,
            timeout=question.timeout,
            told=TO_BE_RANKED,
        )
        steps = {relationship_key(step.record): step for step in reversed(found)}
        return Found(
            ranking=[Ranked(relationship_key(step.record), step.score) for step in found],
            relationships={key: step.record for key, step in steps.items()},
            steps=steps,
            plan=found.plan,
        )

    async def _nodes_by_words(self, question: Question, labels: Sequence[str], text: str) -> Found:
        options = question.options
        hits = await self._full_text.nodes(
            text,
            user_id=question.user_id,
            labels=labels,
            limit=options.text_limit,
            threshold=options.text_threshold,
        )
        return Found(
            ranking=[Ranked(node_key(hit.record.entity_key), hit.score) for hit in hits],
            nodes={node_key(hit.record.entity_key): hit.record for hit in hits},
        )

    async def _relationships_by_words(self, question: Question, text: str) -> Found:
        options = question.options
        hits = await self._full_text.relationships(
            text,
            user_id=question.user_id,
            relationship_types=options.relationship_types,
            limit=options.relationship_limit,
            threshold=options.text_threshold,
            told=TO_BE_RANKED,
        )
        return Found(
            ranking=[Ranked(relationship_key(hit.record), hit.score) for hit in hits],
            relationships={relationship_key(hit.record): hit.record for hit in reversed(hits)},
        )


def _nothing(parts: Mapping[RetrieverName, Found]) -> Exception:
    """Why no part could be carried out; a fault of the program's own where there was nothing else."""
    faults = [part.failure.unforeseen if part.failure else None for part in parts.values()]
    told = SearchError(f"Nothing could be searched. {'; '.join(failures(parts))}")
    return told if None in faults else next(filter(None, faults), told)
