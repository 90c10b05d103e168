"""Hybrid search: nodes and relationships, by meaning and by words, all at once and fused into one ranking."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgagent.errors import SearchError
from kgagent.models.hybrid import Finder, HybridOptions, HybridResult
from kgagent.ontology import Ontology
from kgagent.retrieval.full_text import FullTextSearch
from kgagent.retrieval.hybrid_parts import (
    Found,
    answer,
    attempt,
    ends_of,
    failures,
    node_key,
    relationship_key,
    tried,
    with_ends,
)
from kgagent.retrieval.hybrid_rerank import POOL, Reranking
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.stored_embeddings import StoredEmbeddings
from kgagent.retrieval.strategies import RANKINGS, Fused, Ranked, fuse
from kgagent.retrieval.together import together
from kgagent.retrieval.vector_search import NearestQuery

if TYPE_CHECKING:
    from kgagent.retrieval.service import RetrievalService

LONGEST_EMBEDDED = 8_000
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
    options: HybridOptions
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
        full_text: FullTextSearch,
        embeddings: StoredEmbeddings,
        ontology: Ontology,
    ) -> None:
        self._retrieval = retrieval
        self._embeddings = embeddings
        self._full_text = full_text
        self._ontology = ontology

    async def search(self, question: Question) -> HybridResult:
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
        if options.include_relationships:
            parts["through"] = await tried(self._ends(question, labels, parts, fused), question.timeout)
            fused = with_ends(fused, parts)
        ordered, warnings = await self._reranked(question, parts, fused, vector)
        return answer(parts, ordered[: question.limit], warnings, with_relationships=options.include_relationships)

    async def _reranked(
        self, question: Question, parts: Mapping[Finder, Found], fused: list[Fused], vector: Sequence[float] | None
    ) -> tuple[list[Fused], list[str]]:
        """The last steps that were asked for; one that fails leaves the order as it was, and a warning."""
        reranking, options, warnings = Reranking(parts, question.options), question.options, []
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
    ) -> tuple[dict[Finder, Found], Sequence[float] | None]:
        """What each part found, and the vector that was looked for; None where there is none."""
        vector = asyncio.ensure_future(self._vector(question))

        async def near() -> NearestQuery:
            # Shielded, so that a part that runs out of time does not take the embedding from the others.
            return NearestQuery(await asyncio.shield(vector), question.options.threshold, question.text or "")

        parts: dict[Finder, Callable[[], Awaitable[Found]]] = {
            "graph": lambda: self._nodes_near(question, labels, near),
            "relationship": lambda: self._relationships_near(question, near),
        }
        if question.text is not None:
            parts["text"] = lambda: self._nodes_by_words(question, labels, question.text or "")
            parts["relationship_text"] = lambda: self._relationships_by_words(question, question.text or "")
        if not question.options.include_relationships:
            parts = {finder: part for finder, part in parts.items() if finder in {"graph", "text"}}
        try:
            async with together() as group:
                tasks = {finder: group.create_task(tried(part(), question.timeout)) for finder, part in parts.items()}
        finally:
            vector.cancel()
            [known] = await asyncio.gather(vector, return_exceptions=True)
        found = {finder: task.result() for finder, task in tasks.items()}
        return found, None if isinstance(known, BaseException) else known

    async def _vector(self, question: Question) -> Sequence[float]:
        if question.vector is not None:
            return question.vector
        [embedding] = await self._retrieval.embed_queries([(question.text or "")[:LONGEST_EMBEDDED]])
        return embedding

    async def _nodes_near(
        self, question: Question, labels: Sequence[str], near: Callable[[], Awaitable[NearestQuery]]
    ) -> Found:
        [matches] = await self._retrieval.nodes_near(
            [await near()], question.user_id, labels, question.options.object_limit
        )
        return Found(
            ranking=[Ranked(node_key(match.node.entity_key), match.similarity) for match in matches],
            nodes={node_key(match.node.entity_key): match.node for match in matches},
            plan=matches.plan,
        )

    async def _relationships_near(self, question: Question, near: Callable[[], Awaitable[NearestQuery]]) -> Found:
        options = question.options
        [matches] = await self._retrieval.relationships_near(
            [await near()],
            question.user_id,
            options.relationship_types,
            options.relationship_limit,
            expand_hops=options.expand_hops,
            timeout=question.timeout,
        )
        return Found(
            ranking=[Ranked(relationship_key(match), match.score) for match in matches],
            relationships={relationship_key(match): match for match in reversed(matches)},
            plan=matches.plan,
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
        shown = [(h.record.shown(self._ontology), h.score) for h in hits]
        return Found(
            ranking=[Ranked(node_key(node.entity_key), score) for node, score in shown],
            nodes={node_key(node.entity_key): node for node, _ in shown},
        )

    async def _relationships_by_words(self, question: Question, text: str) -> Found:
        options = question.options
        hits = await self._full_text.relationships(
            text,
            user_id=question.user_id,
            relationship_types=options.relationship_types,
            limit=options.relationship_limit,
            threshold=options.text_threshold,
        )
        shown = [(h.record.shown(self._ontology), h.score) for h in hits]
        return Found(
            ranking=[Ranked(relationship_key(relationship), score) for relationship, score in shown],
            relationships={relationship_key(relationship): relationship for relationship, _ in reversed(shown)},
        )

    async def _ends(
        self, question: Question, labels: Sequence[str], parts: Mapping[Finder, Found], fused: Sequence[Fused]
    ) -> Found:
        """Nodes at the ends of the relationships that may be answered; those that no part found are read."""
        known = {node.entity_key: node for part in parts.values() for node in part.nodes.values()}
        ends: dict[str, float] = {}
        for place, item in enumerate(fused):
            # Each end is an item of its own, so that no more than these can be answered.
            if place + len(ends.keys() - known.keys()) >= question.pool:
                break
            for key in ends_of(item, parts):
                ends.setdefault(key, item.score)
        unknown = [key for key in ends if key not in known]
        known |= {n.entity_key: n for n in await self._retrieval.nodes(unknown, question.user_id, labels)}
        nodes = {node_key(key): known[key] for key in ends if key in known and known[key].label in labels}
        return Found(ranking=[Ranked(key, ends[node.entity_key]) for key, node in nodes.items()], nodes=nodes)


def _nothing(parts: Mapping[Finder, Found]) -> Exception:
    """Why no part could be carried out; a fault of the program's own where there was nothing else."""
    faults = [part.failure.unforeseen if part.failure else None for part in parts.values()]
    told = SearchError(f"Nothing could be searched. {'; '.join(failures(parts))}")
    return told if None in faults else next(filter(None, faults), told)
