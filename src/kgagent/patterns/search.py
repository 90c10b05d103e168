"""Pattern queries: resolves targets, matches patterns, finds chunks, or searches if nothing
matched.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgagent.embedding.base import Embedder
from kgagent.errors import (
    ConfigurationError,
    EmbeddingError,
    InputError,
    NotFoundError,
    SearchError,
    StatementTimeoutError,
)
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.store import Store
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.live_schema import LiveSchema
from kgagent.models.matched_path import Chunk, MatchedPath, PatternResult, ReasoningContext
from kgagent.models.pattern_query import (
    HYBRID_WEIGHTS,
    GraphQuery,
    RankingStrategy,
    ResolutionTarget,
)
from kgagent.models.search import SearchFilters
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.patterns.entry_points import TargetResolver
from kgagent.patterns.names import checked_schema
from kgagent.patterns.no_match import explain_no_match
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.plans import EntryPoint, QueryPlan, query_plans
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.reads import UserReads
from kgagent.patterns.runner import PatternRunner, RunResult
from kgagent.search import RetrievalService
from kgagent.search.arguments import validate_vector
from kgagent.search.scope import RelationshipFilter, observed
from kgagent.settings import Settings
from kgagent.validation import check_user_id

MAX_KEYWORDS = 20

EMBEDDING_SHARE = 0.5
"""Share of the time left that the embedding call may take."""

OPTIONAL_SHARE = 0.8
"""Share of the time left that the texts near the paths, or a hybrid search, may take."""


@dataclass(frozen=True)
class PatternSearch:
    """Runs pattern queries.

    Attributes:
        store: the database.
        ontology: labels and types that exist even if the user's graph does not use them yet.
        embedder: says which stored embeddings can be compared with the query.
        retrieval: embeds texts, and searches if nothing matched.
        live_schema: reads the labels, types and properties of the user's graph.
        settings: defaults for what a query does not set, and limits (`patterns_...`).
        observer: watches the queries.
    """

    store: Store
    ontology: Ontology
    embedder: Embedder
    retrieval: RetrievalService
    live_schema: LiveSchemaReader
    settings: Settings
    observer: Observer = NULL_OBSERVER

    @observed("query_patterns")
    async def query(
        self, query: GraphQuery, user_id: str, *, vector: Sequence[float] | None = None
    ) -> PatternResult:
        """Run a query within the time limit of the options, not counting the first read of the
        user's schema.

        Args:
            query: the query.
            user_id: owner of the graph.
            vector: embedding of the question, shape (dimensions,); by default it is computed if it
                is needed, in one embedding call together with the descriptions of targets.

        Raises:
            InputError: a name does not exist, or a constraint compares values that cannot be
                compared.
            NotFoundError: nothing matched and the query is strict, or no target exists.
            SearchError: the query took too long, or the hybrid search failed.
            EmbeddingError: a text could not be embedded.
            StoreError: the database failed.
        """
        settings = self.settings
        check_user_id(user_id)
        if not settings.patterns_enabled:
            raise ConfigurationError(
                "Graph patterns are disabled: set KGAGENT_PATTERNS_ENABLED=true"
            )
        vector = None if vector is None else validate_vector(vector, self.embedder.dimensions)
        started = time.monotonic()
        # The schema is cached and its reader has limits of its own: on a large graph the first read
        # takes long, and if the deadline cancelled it, no later query would find it cached either.
        plans = query_plans(query, all_types=settings.patterns_use_all_relation_hints)
        segments = [segment for plan in plans for segment in plan.segments]
        schema = await checked_schema(segments, self.live_schema, user_id, self.ontology)
        reads = UserReads.within(settings.patterns_timeout, self.store, user_id)
        try:
            async with reads.enforced():
                result = await _QueryRun(self, reads, query, vector).result(plans, schema)
        except (StatementTimeoutError, TimeoutError) as error:
            raise SearchError(
                f"The query took longer than {settings.patterns_timeout:g} s. Add targets, give "
                f"labels and types at "
                "each step, add constraints, or lower max_hops"
            ) from error
        elapsed = round(1e3 * (time.monotonic() - started), 1)
        return result.model_copy(update={"query": query.query, "elapsed_ms": elapsed})


class _QueryRun:
    """Runs one query of one user, within the time limit of `reads`."""

    def __init__(
        self,
        search: PatternSearch,
        reads: UserReads,
        query: GraphQuery,
        vector: Sequence[float] | None,
    ) -> None:
        self._search = search
        self._kept = RelationshipFilter.of(search.retrieval.scope, SearchFilters(as_of=query.as_of))
        self._reader = PathReader(search.ontology, self._kept)
        self._reads = reads
        self._query = query
        self._vector = vector
        self._entry_points: list[EntryPoint] = []
        self._warnings: list[str] = []
        self._ranking = PathRanking(
            query.ranking or RankingStrategy(search.settings.patterns_ranking),
            HYBRID_WEIGHTS if query.weights is None else query.weights,
            query.weight_property,
        )

    async def result(self, plans: Sequence[QueryPlan], schema: LiveSchema) -> PatternResult:
        """Run the query; see `PatternSearch.query`.

        Args:
            plans: the plans of the query.
            schema: what the user's graph holds; the names in the query exist in it.
        """
        query, settings, ranking = self._query, self._search.settings, self._ranking
        if query.has_combinator and query.has_patterns:
            self._warnings.append(
                "Ignored patterns: a query with a combinator matches only the combinator's patterns"
            )
        await self._resolve(schema)
        if ranking.strategy is RankingStrategy.SEMANTIC_SCORE and self._vector is None:
            raise InputError(
                "SEMANTIC_SCORE ranks by similarity with the question: give query, in plain words"
            )
        if not plans:
            return await self._hybrid_search()
        self._warn_of_unused_targets(plans)
        explored = max(settings.patterns_explored, query.max_paths or 0)
        runner = PatternRunner(
            self._reads,
            self._search.embedder,
            self._reader,
            kept=self._kept,
            paths=query.max_paths or settings.patterns_max_paths,
            explored=explored,
        )
        compiler = await runner.compiler(plans, self._entry_points)
        run = await runner.run(plans, compiler, ranking, self._vector)
        if not run.read.paths:
            self._explain_no_match(schema)
            return await self._hybrid_search()
        self._warn_of_limits(run, explored)
        ranking = run.ranking
        return PatternResult(
            strategy="patterns" if query.all_patterns else "traversal",
            context=self._context(run),
            chunks=await self._chunks(run),
            ranking=ranking.strategy,
            weights=dict(ranking.weights) if ranking.strategy is RankingStrategy.HYBRID else None,
            warnings=tuple(self._warnings),
            metadata={"matchedPaths": len(run.read.paths)},
        )

    async def _resolve(self, schema: LiveSchema) -> None:
        """Resolve the targets, and embed the question and the descriptions in one call.

        Raises:
            NotFoundError: no target exists.
        """
        query = self._query
        resolver = TargetResolver(
            self._reads, self._search.ontology, self._search.retrieval, self._reader
        )
        # Labels of the ontology count even if the cached schema has no node with them: a node may
        # be new.
        labels = {*self._search.ontology.labels, *(label.name for label in schema.labels)}
        resolved = await resolver.by_name(query.targets, labels)
        unknown = [
            number
            for number, (target, points) in enumerate(zip(query.targets, resolved, strict=True))
            if not points and target.entity_key is None
        ]
        needs_vector = self._vector is None and (self._ranking.needs("semantic") or query.top_k > 0)
        question = [query.query] if query.query and query.query.strip() and needs_vector else []
        vectors = await self._embed(
            [*question, *(query.targets[number].description for number in unknown)]
        )
        if question:
            self._vector = vectors[0]
        for number, vector in zip(unknown, vectors[len(question) :], strict=True):
            target = query.targets[number]
            resolved[number], is_named = await resolver.by_similarity(target, vector)
            names = ", ".join(point.node.name for point in resolved[number])
            if is_named:
                self._warnings.append(f"{_describe(target)} → {names}")
            elif names:
                self._warnings.append(
                    f"No node is named {_describe(target)}; used the most similar instead: {names}"
                )
        self._warnings += [
            f"No node was found for {_describe(target)}"
            for target, points in zip(query.targets, resolved, strict=True)
            if not points
        ]
        self._entry_points = [point for points in resolved for point in points]
        if query.targets and not self._entry_points:
            raise NotFoundError(". ".join(self._warnings))

    async def _embed(self, texts: Sequence[str]) -> list[Sequence[float] | None]:
        """Embed texts in one call; if that fails, paths are still found, without the semantic
        component.
        """
        if not texts:
            return []
        try:
            async with self._reads.part(EMBEDDING_SHARE).enforced():
                return list(await self._search.retrieval.embed_queries(texts))
        except (EmbeddingError, TimeoutError) as error:
            if self._ranking.strategy is RankingStrategy.SEMANTIC_SCORE:
                raise
            reason = error if isinstance(error, EmbeddingError) else "embedding took too long"
            self._warnings.append(f"Omitted the similarity with the question: {reason}")
            return [None] * len(texts)

    def _warn_of_unused_targets(self, plans: Sequence[QueryPlan]) -> None:
        """Warn of patterns in which no node may be a target: their paths are not restricted."""
        points = self._entry_points
        unused = dict.fromkeys(
            plan.pattern_id for plan in plans if points and plan.entered_at(points) is None
        )
        self._warnings += [
            f"No target has a label of pattern {name!r}: its paths are not limited to the targets"
            for name in unused
        ]

    def _warn_of_limits(self, run: RunResult, explored: int) -> None:
        if run.truncated:
            self._warnings.append(
                f"More than {explored:,} paths match; only {explored:,} were ranked. Narrow the "
                f"pattern to be sure of "
                "the best"
            )
        if run.ranking.strategy is not self._ranking.strategy:
            took = f"scoring by {self._ranking.strategy} took too long"
            self._warnings.append(f"Ranked by {run.ranking.strategy}: {took}. Narrow the pattern")

    def _explain_no_match(self, schema: LiveSchema) -> None:
        """Warn that nothing matched, and why.

        Raises:
            NotFoundError: the query is strict.
        """
        query = self._query
        if query.all_patterns:
            self._warnings += explain_no_match(query, schema)
        if query.strict if query.strict is not None else self._search.settings.patterns_strict:
            raise NotFoundError(". ".join(["No path matches", *self._warnings]))
        if query.all_patterns:
            self._warnings.insert(0, "No path matches")

    async def _hybrid_search(self) -> PatternResult:
        """Search for the question, because nothing matched or the query has neither patterns nor a
        traversal.
        """
        query, nodes = self._query, tuple(point.node for point in self._entry_points)
        context = ReasoningContext(entry_points=nodes, nodes=nodes, max_depth=query.max_depth)
        text = query.query or " ".join(target.description for target in query.targets)
        hybrid = None
        if text.strip():
            try:
                async with self._reads.part(OPTIONAL_SHARE).enforced():
                    hybrid = await self._search.retrieval.hybrid_search(
                        HybridSearchRequest(query=text, as_of=query.as_of),
                        user_id=self._reads.user_id,
                        vector=self._vector,
                    )
            except TimeoutError:
                self._warnings.append("Omitted the hybrid search: it took too long")
        return PatternResult(
            strategy="hybrid", context=context, hybrid=hybrid, warnings=tuple(self._warnings)
        )

    async def _chunks(self, run: RunResult) -> tuple[Chunk, ...]:
        """Texts near the paths; if they take too long, the paths are still a result."""
        if self._vector is None or not self._query.top_k:
            return ()
        reads = self._reads.part(OPTIONAL_SHARE)
        try:
            return await self._reader.chunks(
                reads, self._search.embedder, self._vector, run.read.nodes, self._query.top_k
            )
        except StatementTimeoutError:
            self._warnings.append("Omitted the texts near the paths: finding them took too long")
            return ()

    def _context(self, run: RunResult) -> ReasoningContext:
        paths = run.read.paths
        return ReasoningContext(
            matched_paths=paths,
            nodes=tuple(run.read.nodes.values()),
            relationships=()
            if self._query.all_patterns
            else tuple(run.read.relationships.values()),
            entry_points=tuple(point.node for point in self._entry_points),
            root_nodes=tuple(dict.fromkeys(path.start.entity_key for path in paths)),
            keywords=_keywords(paths),
            max_depth=self._query.max_depth,
            explored=dict(run.explored),
            truncated=run.truncated,
        )


def _keywords(paths: Sequence[MatchedPath]) -> tuple[str, ...]:
    """Names of nodes and types of relationships, those on most paths first."""
    words: Counter[str] = Counter()
    for path in paths:
        names = [node.name for node in path.nodes]
        types = [
            relationship.relationship_type or relationship.neo4j_type
            for relationship in path.relationships
        ]
        words.update(list(dict.fromkeys((*names, *types))))
    return tuple(word for word, _ in words.most_common(MAX_KEYWORDS))


def _describe(target: ResolutionTarget) -> str:
    label = f" with label {target.label}" if target.label else ""
    return f"{target.entity_key or target.description!r}{label}"
