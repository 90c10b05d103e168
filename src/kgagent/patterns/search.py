"""Runs pattern queries, each within one time limit."""

import time
from collections.abc import Sequence

from kgagent.embedding.base import Embedder
from kgagent.errors import ConfigurationError, SearchError, StatementTimeoutError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.store import Store
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern_query import GraphQuery
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.patterns.names import checked_schema
from kgagent.patterns.options import PatternOptions
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.query_run import PatternQueryRun, PatternServices, query_plans
from kgagent.patterns.reads import Deadline, UserReads
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.arguments import validate_vector
from kgagent.retrieval.scope import observed
from kgagent.validation import check_user_id


class PatternSearch:
    """Runs pattern queries."""

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
        self._services = PatternServices(
            ontology=ontology,
            embedder=embedder,
            retrieval=retrieval,
            live_schema=live_schema,
            options=options,
            reader=PathReader(ontology),
        )

    @observed("query_patterns")
    async def query(self, query: GraphQuery, user_id: str, *, vector: Sequence[float] | None = None) -> PatternResult:
        """Run a query within the time limit of the options, not counting the first read of the user's schema.

        Args:
            query: the query.
            user_id: owner of the graph.
            vector: embedding of the question, shape (dimensions,); by default it is computed if it is needed, in one
                embedding call together with the descriptions of targets.

        Raises:
            InputError: a name does not exist, or a constraint compares values that cannot be compared.
            NotFoundError: nothing matched and the query is strict, or no target exists.
            SearchError: the query took too long, or the hybrid search failed.
            EmbeddingError: a text could not be embedded.
            StoreError: the database failed.
        """
        options = self._services.options
        check_user_id(user_id)
        if not options.enabled:
            raise ConfigurationError("Graph patterns are disabled: set KGAGENT_PATTERNS_ENABLED=true")
        vector = None if vector is None else validate_vector(vector, self._services.embedder.dimensions)
        started = time.monotonic()
        # The schema is cached and its reader has limits of its own: on a large graph the first read takes long, and if
        # the deadline cancelled it, no later query would find it cached either.
        segments = [segment for plan in query_plans(query, options) for segment in plan.segments]
        schema = await checked_schema(
            segments,
            self._services.live_schema,
            user_id,
            self._services.ontology,
            traversal=not query.all_patterns,
        )
        reads = UserReads(self._store, user_id, Deadline.after(options.timeout))
        try:
            async with reads.deadline.enforced():
                result = await PatternQueryRun(self._services, reads, query, vector).result(schema)
        except (StatementTimeoutError, TimeoutError) as error:
            raise SearchError(
                f"The query took longer than {options.timeout:g} s. Add targets, give labels and types at each step, "
                "add constraints, or lower max_hops"
            ) from error
        elapsed = round(1e3 * (time.monotonic() - started), 1)
        return result.model_copy(update={"query": query.query, "elapsed_ms": elapsed})
