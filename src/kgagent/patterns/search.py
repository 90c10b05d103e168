"""Answers a `GraphQuery`: entry points, patterns, chunks, and a plain search where nothing matched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgagent.embedding.base import Embedder
from kgagent.errors import ConfigurationError, EmbeddingError, InputError, NotFoundError, StatementTimeoutError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.store import Store
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.live_schema import LiveSchema
from kgagent.models.matched_path import Chunk, MatchedNode, PatternResult, ReasoningContext
from kgagent.models.pattern import GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import HYBRID_WEIGHTS, GraphQuery, RankingStrategy, ResolutionTarget
from kgagent.observing import NULL_OBSERVER, Observer, observed
from kgagent.ontology import Ontology
from kgagent.patterns.chunks import ChunkSearch
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.diagnosis import PatternDiagnosis
from kgagent.patterns.entry_points import EntryPoints, ResolvedTarget
from kgagent.patterns.hints import hints
from kgagent.patterns.names import checked_schema
from kgagent.patterns.options import PatternOptions
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.plans import EntryPoint, PatternExpression, QueryPlan, plans_of
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.runner import PatternRunner, ResultPath, RunLimits, RunResult
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.arguments import validate_vector


@dataclass(frozen=True)
class ResolvedQuery:
    """A query with what it needs from outside the database.

    Attributes:
        query: the query.
        user_id: whose graph.
        vector: embedding of its question; None where there is none.
        entry_points: what its targets mean.
    """

    query: GraphQuery
    user_id: str
    vector: Sequence[float] | None
    entry_points: Sequence[ResolvedTarget]

    @property
    def points(self) -> list[EntryPoint]:
        """Where paths start or end."""
        return [point for found in self.entry_points for point in found.points]

    @property
    def entry_nodes(self) -> tuple[MatchedNode, ...]:
        """The same nodes, to be shown."""
        return tuple(node for found in self.entry_points for node in found.nodes)


class PatternSearch:
    """Answers queries over graph patterns."""

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        *,
        retrieval: RetrievalService,
        live_schema: LiveSchemaReader,
        options: PatternOptions,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self.observer = observer
        self._store = store
        self._ontology = ontology
        self._embedder = embedder
        self._retrieval = retrieval
        self._live_schema = live_schema
        self._options = options
        self._reader = PathReader(ontology)
        self._entries = EntryPoints(store, ontology, retrieval, timeout=options.timeout)
        self._diagnosis = PatternDiagnosis(store)
        self._chunks = ChunkSearch(store, embedder, self._reader, timeout=options.timeout)

    @observed("query_patterns")
    async def query(self, query: GraphQuery, user_id: str, *, vector: Sequence[float] | None = None) -> PatternResult:
        """Answer a query.

        Args:
            query: what is asked.
            user_id: whose graph.
            vector: embedding of the question, shape (dimensions,); None has it made where it is needed, with those of
                targets in one call.

        Raises:
            InputError: a name is unknown, or a constraint compares what cannot be compared.
            NotFoundError: nothing matched, and the query is strict.
            SearchError: it took too long, or the search that stands in for patterns failed.
            EmbeddingError: a text could not be embedded.
            StoreError: the database failed.
        """
        if not user_id:
            raise InputError("user_id must not be empty: every query is one user's")
        if not self._options.enabled:
            raise ConfigurationError("Graph patterns are switched off: set KGAGENT_PATTERNS_ENABLED=true")
        plans = self._plans(query)
        segments = [segment for plan in plans for segment in plan.segments]
        schema = await checked_schema(
            segments, self._live_schema, user_id, self._ontology, traversal=not query.all_patterns
        )
        vector = None if vector is None else validate_vector(vector, self._embedder.dimensions)
        asked, warnings = await self._prepared(query, user_id, vector, schema)
        ranking = self._ranking(query)
        if ranking.strategy is RankingStrategy.SEMANTIC_SCORE and asked.vector is None:
            raise InputError("SEMANTIC_SCORE ranks by the meaning of a question: give query, in words")
        warnings += self._unused_targets(plans, asked)
        runner = self._runner(query)
        compiler = await self._compiler(runner, segments, asked)
        ran = await runner.run(plans, compiler, ranking, asked.vector) if plans else RunResult()
        if plans and not ran.paths:
            warnings += await self._why_nothing(asked, compiler, schema)
            if query.strict if query.strict is not None else self._options.strict:
                raise NotFoundError(". ".join(["No path matches", *warnings]))
        if not ran.paths:
            return await self._instead(asked, warnings)
        return PatternResult(
            found_by="patterns" if query.all_patterns else "traversal",
            context=self._context(asked, ran),
            chunks=await self._near(asked, ran.paths, warnings),
            ranking=ranking.strategy,
            weights=dict(ranking.weights) if ranking.strategy is RankingStrategy.HYBRID else None,
            warnings=tuple(warnings + _cut(ran, self._options.explored)),
        )

    async def _prepared(
        self, query: GraphQuery, user_id: str, vector: Sequence[float] | None, schema: LiveSchema
    ) -> tuple[ResolvedQuery, list[str]]:
        """Resolve targets and embed, with one call for all texts."""
        # Those of the ontology count even if the schema, read a moment ago, did not see any node of theirs.
        labels = {*self._ontology.labels, *(label.name for label in schema.labels)}
        resolved = await self._entries.named(query.targets, labels, user_id)
        unknown = [
            place
            for place, (target, found) in enumerate(zip(query.targets, resolved, strict=True))
            if not found.points and target.entity_key is None
        ]
        texts = [query.targets[place].description for place in unknown]
        own = [query.query] if query.query and query.query.strip() and vector is None and self._means(query) else []
        vectors, warnings = await self._embedded([*own, *texts], query)
        known = vectors[0] if own else vector
        for place, near in zip(unknown, vectors[len(own) :], strict=True):
            resolved[place] = await self._entries.described(query.targets[place], user_id, near)
            if resolved[place].points:
                taken = ", ".join(node.name for node in resolved[place].nodes)
                warnings.append(f"No node is called {_told(query.targets[place])}; taken instead by meaning: {taken}")
        warnings += [
            f"No node was found for {_told(target)}"
            for target, found in zip(query.targets, resolved, strict=True)
            if not found.points
        ]
        if query.targets and not any(found.points for found in resolved):
            raise NotFoundError(". ".join(warnings))
        return ResolvedQuery(query, user_id, known, resolved), warnings

    async def _embedded(
        self, texts: Sequence[str], query: GraphQuery
    ) -> tuple[list[Sequence[float] | None], list[str]]:
        """Embed texts in one call; where that fails, paths are still found, and a warning says what is missing."""
        try:
            return list(await self._retrieval.embed_queries(texts)) if texts else [], []
        except EmbeddingError as error:
            if self._strategy(query) is RankingStrategy.SEMANTIC_SCORE:
                raise
            return [None] * len(texts), [f"Left out the meaning of the question: {error}"]

    def _means(self, query: GraphQuery) -> bool:
        """Whether the meaning of the question is needed."""
        return self._ranking(query).counts("semantic") or query.top_k > 0

    def _strategy(self, query: GraphQuery) -> RankingStrategy:
        return query.ranking or self._options.ranking

    def _plans(self, query: GraphQuery) -> list[QueryPlan]:
        if not query.all_patterns:
            return [QueryPlan((pattern,)) for pattern in self._walks(query)]
        parts: list[PatternExpression] = [*query.patterns, *([query.combinator] if query.combinator else [])]
        return [plan for part in parts for plan in plans_of(part)]

    def _walks(self, query: GraphQuery) -> list[GraphPattern]:
        """A walk from the targets, one pattern for each distance, so that what is near is not crowded out."""
        if not query.targets or query.traversal is None:
            return []
        types = query.traversal.relation_types
        all_hints = query.use_all_relation_hints
        if not (self._options.use_all_relation_hints if all_hints is None else all_hints):
            types = types[:1]
        return [
            GraphPattern(
                pattern_id=f"within {hops}",
                steps=(
                    TraversalStep(
                        relation_type=types or None, direction=StepDirection.BOTH, min_hops=hops, max_hops=hops
                    ),
                ),
                distinct_nodes=True,
            )
            for hops in range(1, query.traversal.max_depth + 1)
        ]

    def _ranking(self, query: GraphQuery) -> PathRanking:
        weights = HYBRID_WEIGHTS if query.weights is None else query.weights
        return PathRanking(self._strategy(query), weights, query.weight_property)

    def _runner(self, query: GraphQuery) -> PatternRunner:
        limits = RunLimits(
            paths=query.max_paths or self._options.max_paths,
            explored=max(self._options.explored, query.max_paths or 0),
            timeout=self._options.timeout,
        )
        return PatternRunner(self._store, self._embedder, self._reader, limits)

    @staticmethod
    async def _compiler(runner: PatternRunner, patterns: Sequence[GraphPattern], asked: ResolvedQuery) -> Compiler:
        return Compiler(
            asked.user_id,
            asked.points,
            await runner.matching(patterns, asked.user_id),
            asked.query.one_path_per if asked.query.all_patterns else "end",
        )

    async def _why_nothing(self, asked: ResolvedQuery, compiler: Compiler, schema: LiveSchema) -> list[str]:
        """What the schema says against patterns that found nothing; where that is nothing, what would be found."""
        query = asked.query
        told = list(hints(query.all_patterns, schema, self._ontology))
        if told or not query.all_patterns:
            return told
        return await self._diagnosis.why_nothing(query, compiler, [node.entity_key for node in asked.entry_nodes])

    @staticmethod
    def _unused_targets(plans: Sequence[QueryPlan], asked: ResolvedQuery) -> list[str]:
        """Tell patterns that have no node at which any target may stand: their paths are everyone's."""
        points = asked.points
        names = dict.fromkeys(plan.pattern_id for plan in plans if points and plan.entered_at(points) is None)
        return [f"No target has a label of pattern {name!r}: its paths are not limited to targets" for name in names]

    @staticmethod
    def _context(asked: ResolvedQuery, ran: RunResult) -> ReasoningContext:
        walked = {
            one: relationship
            for found in ran.paths
            for one, relationship in zip(found.ids.relationships, found.path.relationships, strict=True)
        }
        return ReasoningContext(
            matched_paths=tuple(found.path for found in ran.paths),
            nodes=tuple(_nodes(ran.paths).values()),
            relationships=() if asked.query.all_patterns else tuple(walked.values()),
            entry_points=asked.entry_nodes,
            explored=dict(ran.explored),
            truncated=ran.truncated,
        )

    async def _near(self, asked: ResolvedQuery, paths: Sequence[ResultPath], warnings: list[str]) -> tuple[Chunk, ...]:
        """Texts linked with the paths; where they take too long, the paths are still an answer."""
        if asked.vector is None or not asked.query.top_k:
            return ()
        try:
            return await self._chunks.near(asked.vector, _nodes(paths), asked.user_id, asked.query.top_k)
        except StatementTimeoutError:
            warnings.append(f"Left out texts linked with the paths: they took longer than {self._options.timeout:g} s")
            return ()

    async def _instead(self, asked: ResolvedQuery, warnings: list[str]) -> PatternResult:
        """What a plain search finds, where nothing else was asked or nothing matched."""
        query = asked.query
        context = ReasoningContext(entry_points=asked.entry_nodes, nodes=asked.entry_nodes)
        if query.all_patterns:
            warnings = ["No path matches", *warnings]
        text = query.query or " ".join(target.description for target in query.targets)
        if not text.strip():
            return PatternResult(found_by="hybrid", context=context, warnings=tuple(warnings))
        found = await self._retrieval.hybrid_search(
            HybridSearchRequest(query=text), user_id=asked.user_id, vector=asked.vector
        )
        return PatternResult(found_by="hybrid", context=context, hybrid=found, warnings=tuple(warnings))


def _nodes(paths: Sequence[ResultPath]) -> Mapping[str, MatchedNode]:
    """The nodes of all paths by the database's ids, in the order of the paths."""
    return {one: node for found in paths for one, node in zip(found.ids.nodes, found.path.nodes, strict=True)}


def _cut(ran: RunResult, explored: int) -> list[str]:
    if not ran.truncated:
        return []
    return [f"More than {explored:,} paths match; only as many were ranked. Narrow the pattern to be sure of the best"]


def _told(target: ResolutionTarget) -> str:
    label = f" with label {target.label}" if target.label else ""
    return f"{target.entity_key or target.description!r}{label}"
