"""The facade: one object that holds the connection and the embedder and offers every operation on a
graph.
"""

import asyncio
import logging
import os
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from neo4j import AsyncDriver
from pydantic import BaseModel

from kgagent.embedding.base import LONGEST_LOADING, Embedder
from kgagent.embedding.factory import make_embedder
from kgagent.errors import EmbeddingUnavailableError, InputError, KgAgentError
from kgagent.graph.connection import Credentials, use_driver
from kgagent.graph.shared_reads import owners_of
from kgagent.graph.sources import SourceText, save_sources
from kgagent.graph.store import Store
from kgagent.graph.writes import OnChange
from kgagent.models import (
    ExploreRequest,
    ExploreResult,
    FindPathsRequest,
    FindPathsResult,
    GraphNode,
    HybridSearchRequest,
    HybridSearchResult,
    LikelyDuplicate,
    TraverseRequest,
    TraverseResult,
)
from kgagent.models.live_schema import LiveSchema
from kgagent.models.matched_path import PatternResult
from kgagent.models.note import utc_now
from kgagent.models.pattern_query import GraphQuery
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology, default_ontology, load_ontology
from kgagent.opening import GraphAccess, check_login, find_login
from kgagent.origin import Origin, check_process
from kgagent.progress import Progress
from kgagent.search import RetrievalService
from kgagent.search.rerank import CrossEncoder
from kgagent.search.searchers import Searcher, make_searcher
from kgagent.services import GraphServices
from kgagent.settings import Settings, get_settings
from kgagent.tools import ToolContext, Toolset
from kgagent.trust import Trust, given_trust
from kgagent.validation import check_user_id, validate

if TYPE_CHECKING:
    from kgagent.files import ExportReport, ImportReport, LoadReport
    from kgagent.ray_workers import RayEngine
    from kgagent.upkeep.adopt import AdoptionReport, UndoneAdoption
    from kgagent.upkeep.diagnosis import Diagnosis
    from kgagent.upkeep.forget import ForgetReport
    from kgagent.upkeep.migration_report import MigrationReport
    from kgagent.upkeep.purge import PurgeReport


_log = logging.getLogger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)


def _request(
    model: type[RequestT], given: RequestT | str | None, fields: Mapping[str, object], text: str
) -> RequestT:
    """The request of a call.

    Args:
        model: of which class it is.
        given: the request itself, or the text of one field; None if all fields are arguments.
        fields: the arguments that are fields of a request.
        text: the field that a text is.

    Raises:
        InputError: it is of another class, it is given beside fields, or a field is invalid.
    """
    if isinstance(given, model):
        if fields:
            raise InputError(
                f"Give {', '.join(fields)} as fields of the {model.__name__}, not beside it"
            )
        return given
    if given is None or isinstance(given, str):
        return validate(model, fields if given is None else {**fields, text: given})
    raise InputError(
        f"Give one {model.__name__}, or its fields as arguments, got {type(given).__name__}"
    )


class KnowledgeGraph:
    """A knowledge graph in Neo4j.

    Open it with `async with KnowledgeGraph.connect() as graph`. `kgagent.SyncKnowledgeGraph` offers
    the same operations to synchronous code.

    The methods that read (`search`, `explore`, `traverse`, `find_paths` and `query_patterns`) take
    a request, or its fields as arguments. They wait for an embedder that is being loaded, which is
    no part of a time limit. They raise `InputError` if an argument is invalid, `StoreError` if the
    database failed, and `BusyError` if too many calls of the graph, or of this user, wait; see the
    setting `max_reads`.

    Attributes:
        ontology: labels, relationship definitions and words.
        embedder: makes the embeddings.
        settings: limits and options.
        observer: watches tools, searches, embeddings and statements.
        retrieval: single searches, such as `relationship_vector_search`.
    """

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        settings: Settings,
        *,
        clock: Callable[[], datetime] = utc_now,
        observer: Observer = NULL_OBSERVER,
        resources: AsyncExitStack | None = None,
    ) -> None:
        """Create a graph from open resources; programs use `connect`.

        Args:
            store: an open connection.
            ontology: labels, relationship definitions and words.
            embedder: makes the embeddings.
            settings: limits and options.
            clock: returns the time, with time zone.
            observer: watches tools, searches, embeddings and statements.
            resources: what `close` closes, in addition to requests that are under way.
        """
        services = GraphServices.build(
            store, ontology, embedder, settings, clock=clock, observer=observer
        )
        self._services = services
        self._resources = resources or AsyncExitStack()
        self.ontology = ontology
        self.embedder: Embedder = services.embedder
        self.settings = settings
        self.observer = observer
        self._access: GraphAccess | None = None
        self._origin = Origin()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that the graph was opened on; all of its work runs there.

        Raises:
            ConfigurationError: this process was forked from the one that opened the graph.
        """
        check_process(self._origin.pid)
        return self._origin.loop

    @property
    def retrieval(self) -> RetrievalService:
        """Single searches: `relationship_vector_search`, `node_vector_search`, `text_match` and
        others.
        """
        return self._services.retrieval

    @staticmethod
    def connect(
        uri: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        auth: Credentials | None = None,
        database: str | None = None,
        driver: AsyncDriver | None = None,
        driver_options: Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        ontology: Ontology | str | PathLike[str] | None = None,
        settings: Settings | None = None,
        ensure_schema: bool = True,
        progress: Progress | None = None,
        clock: Callable[[], datetime] = utc_now,
        observer: Observer = NULL_OBSERVER,
    ) -> "Connecting":
        """Connect to a graph; `await` the result, or enter it with `async with`.

        Arguments that are not given come from the settings. Without a URI in either place, the
        local Neo4j is started.

        Args:
            uri: bolt:// or neo4j:// address, with +s for TLS.
            username: name to log in with.
            password: password to log in with.
            auth: a `neo4j.Auth` or an `AsyncAuthManager` to log in with, instead of `username` and
                `password`.
            database: database of the server; None is the user's home database.
            driver: an open `neo4j.AsyncDriver` to use; it is not closed with the graph. It excludes
                `uri`, `username`, `password`, `auth` and `driver_options`.
            driver_options: keyword arguments for `neo4j.AsyncGraphDatabase.driver`, such as
                `max_connection_pool_size`.
            embedder: makes the embeddings; None uses the one that the settings name. A given
                embedder is not closed with the graph.
            ontology: an ontology, or the path of a YAML file; None uses the file that the settings
                name, or the default ontology.
            settings: settings to use instead of those of the environment.
            ensure_schema: whether to create missing constraints and indexes.
            progress: reports downloads and the start of the local Neo4j.
            clock: returns the time, with time zone.
            observer: watches tools, searches, embeddings and statements; see
                `kgagent.observability`.

        Raises:
            InputError: arguments exclude each other.
            ConfigurationError: the settings, the ontology, the embedder or the driver's options are
                invalid.
            StoreError: the database cannot be used; SchemaError if its indexes do not fit the
                embedder.
            LocalServerError: the local Neo4j did not start.
        """
        login: dict[str, Any]
        login = {
            "uri": uri,
            "username": username,
            "password": password,
            "auth": auth,
            "driver_options": driver_options,
        }
        check_login(
            {name for name, value in login.items() if value is not None}, driver, driver_options
        )

        async def open_graph() -> KnowledgeGraph:
            options = settings or get_settings()
            chosen_ontology = _open_ontology(options.ontology if ontology is None else ontology)
            async with AsyncExitStack() as resources:
                server = None
                if driver is None:
                    server = await find_login(
                        options, **login, database=database, progress=progress
                    )
                    store = await server.connect(timeout=options.query_timeout)
                else:
                    name = database or options.neo4j_database
                    store = await use_driver(driver, database=name, timeout=options.query_timeout)
                resources.push_async_callback(store.close)
                chosen_embedder = embedder or make_embedder(options, progress=progress)
                if embedder is None:
                    resources.push_async_callback(chosen_embedder.aclose)
                graph = KnowledgeGraph(
                    store,
                    chosen_ontology,
                    chosen_embedder,
                    options,
                    clock=clock,
                    observer=observer,
                    resources=resources,
                )
                if ensure_schema:
                    await graph._services.schema.ensure()
                graph._resources = resources.pop_all()
                graph._access = GraphAccess(
                    login=server,
                    settings=options,
                    ontology=chosen_ontology,
                    embedder=embedder,
                    clock=clock,
                )
            return graph

        return Connecting(open_graph)

    async def search(
        self,
        request: HybridSearchRequest | str | None = None,
        *,
        user_id: str,
        readable: Sequence[str] = (),
        vector: Sequence[float] | None = None,
        cross_encoder: CrossEncoder | None = None,
        **fields: object,
    ) -> HybridSearchResult:
        """Search nodes and relationships by vector and full text, ranked together.

        A retriever that fails or runs out of time leaves the results of the others, and a warning
        among them.

        Args:
            request: the text to search for, or a request.
            user_id: owner of the graph.
            readable: other owners whose records are searched too; their results say whose they are.
            vector: embedding to use instead of the query's own, shape (dimensions,); no embedding
                call is made. Without a query, there is no full-text search.
            cross_encoder: reranks the best results: its method `score(query, texts)`, plain or
                async, returns one number per text.
            **fields: fields of `HybridSearchRequest`, such as `limit`, `labels` and `as_of`.

        Returns:
            Nodes and relationships, best first.

        Raises:
            SearchError: every retriever failed.
        """
        asked = _request(HybridSearchRequest, request, fields, "query")
        async with self._admitted(user_id, embeds=vector is None):
            return await self._services.sharing(user_id, readable).retrieval.hybrid_search(
                asked, user_id=user_id, vector=vector, cross_encoder=cross_encoder
            )

    async def explore(
        self, request: ExploreRequest | str | None = None, *, user_id: str, **fields: object
    ) -> ExploreResult:
        """Find nodes by several queries and names, with the relationships around them.

        A search that fails leaves the results of the others, and a warning among them.

        Args:
            request: one query, or a request.
            user_id: owner of the graph.
            **fields: fields of `ExploreRequest`, such as `text_matches`, `labels` and `as_of`.

        Raises:
            SearchError: every search failed.
        """
        asked = _request(ExploreRequest, request, fields, "queries")
        async with self._admitted(user_id, embeds=bool(asked.queries)):
            return await self._services.retrieval.explore(asked, user_id=user_id)

    async def traverse(
        self, request: TraverseRequest | str | None = None, *, user_id: str, **fields: object
    ) -> TraverseResult:
        """Follow relationships from a node, hop by hop.

        Args:
            request: the key of the node to start from, or a request.
            user_id: owner of the graph.
            **fields: fields of `TraverseRequest`, such as `hops` and `direction`.

        Raises:
            NotFoundError: the user has no such node.
        """
        asked = _request(TraverseRequest, request, fields, "entity_key")
        async with self._admitted(user_id, embeds=False):
            return await self._services.retrieval.traverse(asked, user_id=user_id)

    async def find_paths(
        self, request: FindPathsRequest | str | None = None, *, user_id: str, **fields: object
    ) -> FindPathsResult:
        """Find how two nodes are connected: the shortest paths, and the most relevant ones.

        Args:
            request: the key of the node at one end, or a request.
            user_id: owner of the graph.
            **fields: fields of `FindPathsRequest`, such as `to_entity_key` and `query`.

        Raises:
            NotFoundError: the user has no such node.
            EmbeddingError: the query could not be embedded.
        """
        asked = _request(FindPathsRequest, request, fields, "from_entity_key")
        async with self._admitted(user_id, embeds=asked.query is not None):
            return await self._services.retrieval.find_paths(asked, user_id=user_id)

    async def query_patterns(
        self,
        request: GraphQuery | str | None = None,
        *,
        user_id: str,
        vector: Sequence[float] | None = None,
        **fields: object,
    ) -> PatternResult:
        """Answer a structured query with ranked, explained paths; see `PatternSearch.query`.

        Args:
            request: the text that paths are ranked by, or a request.
            user_id: owner of the graph.
            vector: embedding of the query's text, shape (dimensions,); None computes it where it is
                needed.
            **fields: fields of `GraphQuery`, such as `patterns` and `targets`.

        Raises:
            SearchError: the query took too long.
        """
        asked = _request(GraphQuery, request, fields, "query")
        async with self._admitted(user_id, embeds=vector is None):
            return await self._services.patterns.query(asked, user_id, vector=vector)

    async def duplicates(
        self, *, user_id: str, threshold: float = 0.5, limit: int = 50
    ) -> tuple[LikelyDuplicate, ...]:
        """Find pairs of nodes that may be the same thing under two names; nothing is changed.

        All nodes of the user are read and compared, which takes up to a minute for 100,000 nodes.

        Args:
            user_id: owner of the graph.
            threshold: minimum score, 0 to 1.
            limit: maximum number of pairs.

        Returns:
            Pairs with the reason, the most likely first.

        Raises:
            InputError: an argument is invalid.
            StoreError: the database failed.
            BusyError: too many calls of the graph, or of this user, wait.
        """
        async with self._admitted(user_id, embeds=False):
            return await self._services.retrieval.duplicates(
                user_id=user_id, threshold=threshold, limit=limit
            )

    async def add_source(
        self,
        name: str,
        text: str,
        *,
        user_id: str,
        description: str = "",
        said_on: str | None = None,
        trust: Trust | None = None,
    ) -> GraphNode:
        """Store the text of a conversation, a document or a page, whose passages searches find.

        No model is needed. The source is found by its name, or created; another text replaces the
        one that it has, and the same text costs nothing. Notes lose the quotes that the new text
        lacks; the log says which.

        Args:
            name: title of the source.
            text: all that was said or written, up to 5,000,000 characters. Turns of a conversation
                are lines such as "Ruth: …".
            user_id: owner of the graph.
            description: one sentence about the source.
            said_on: date of the conversation or the document, in EDTF.
            trust: how far the source is trusted: "own", "known" or "unknown"; None is the class of
                the process, see the setting `trust`.

        Raises:
            InputError: an argument is invalid, or several sources have the name.
            EmbeddingError: the text could not be embedded; nothing was stored.
            StoreError: the database failed; nothing was stored.
        """
        check_user_id(user_id)
        source = validate(
            SourceText,
            {"name": name, "text": text, "description": description, "said_on": said_on},
        )
        services = self._services.trusting(trust)
        [outcome] = await save_sources(services.user_graph(user_id), services.resolver, [source])
        if isinstance(outcome, KgAgentError):
            raise outcome
        for warning in outcome.warnings:
            _log.warning("%s", warning)
        return outcome.record

    async def load(
        self,
        *paths: str | PathLike[str],
        user_id: str,
        label: str | None = None,
        columns: str | None = None,
        trust: Trust | None = None,
        batch_size: int = 500,
        concurrency: int = 3,
        progress: Progress | None = None,
        engine: "RayEngine | None" = None,
    ) -> "LoadReport":
        """Load nodes and relationships from files, and the texts of documents; loading the same
        files again changes nothing.

        A line or a document that cannot be loaded is reported and does not stop the others.

        Args:
            *paths: JSON Lines in UTF-8, files of the MCP memory server, of mem0, of graphiti, CSV
                as Neo4j's import tool reads it, or an ordinary table; lines of one file may refer
                to nodes of another. Markdown, plain text, HTML, PDF and e-mails, also those below
                a folder, become sources, whose text searches find.
            user_id: owner of the graph.
            label: label of nodes in files of other programs whose type is no label of the ontology;
                None reports them.
            columns: what the columns of an ordinary CSV file or of a JSON array of objects are,
                such as "Title=name,Met=when,Firm=works for -> Entity"; None proposes it in the
                error.
            trust: how far the files are trusted, as in `add_source`.
            batch_size: lines per transaction, from 1.
            concurrency: maximum number of concurrent batches, from 1.
            progress: reports the lines.
            engine: None writes from this process, `RayEngine` from worker processes of Ray.

        Raises:
            InputError: a file cannot be read, no line can be loaded, or an argument is invalid.
            ConfigurationError: Ray cannot be used, or the graph cannot be opened in its workers.
            EmbeddingError: a batch could not be embedded; load the file again to continue.
            StoreError: the database failed; load the file again to continue.
        """
        from kgagent.files import load_files

        return await load_files(
            [Path(path) for path in paths],
            self._services.trusting(trust),
            user_id=user_id,
            label=label,
            columns=columns,
            batch_size=batch_size,
            concurrency=concurrency,
            progress=progress,
            workers=None if engine is None else engine.open(self._services, self._access),
        )

    async def export(
        self,
        path: str | PathLike[str],
        *,
        user_id: str | None,
        embeddings: bool = True,
        batch_size: int = 500,
        progress: Progress | None = None,
    ) -> "ExportReport":
        """Write nodes, relationships, notes, deleted records and the progress of ingestion to a
        JSON Lines file.

        The page "Your data" describes the file. Records are read in pages. No record is exported
        halfway through a change, but a page may have changes that were made after an earlier page
        was read.

        Args:
            path: the file, which gets this name when it is complete; an existing file is replaced.
            user_id: owner of the records; None exports every user's.
            embeddings: whether to write embeddings.
            batch_size: records per page, from 1.
            progress: reports the records.

        Raises:
            InputError: an argument is invalid, or the file cannot be written.
            ConflictError: concurrent writes kept changing a record.
            StoreError: the database failed.
        """
        from kgagent.files import export_records

        return await export_records(
            Path(path),
            self._services,
            users=None if user_id is None else [user_id],
            embeddings=embeddings,
            batch_size=batch_size,
            progress=progress,
        )

    async def import_records(
        self,
        path: str | PathLike[str],
        *,
        user_id: str | None = None,
        overwrite: bool = False,
        batch_size: int = 500,
        progress: Progress | None = None,
    ) -> "ImportReport":
        """Import a file written by `export`, exactly: keys, properties, versions, times and deleted
        records.

        The whole file is checked before anything is written. Importing it again continues an
        interrupted import and changes nothing else. Embeddings are kept if the graph has the
        embedder and the ontology of the file; otherwise records without a current embedding are
        embedded.

        Args:
            path: a file written by `export`.
            user_id: the user whom the file must name; None accepts any, and a file of several
                users.
            overwrite: whether differing records are replaced with those of the file, instead of
                reported.
            batch_size: records per transaction, from 1.
            progress: reports the records.

        Raises:
            InputError: an argument is invalid, or the file is incomplete or unsuitable; nothing was
                imported.
            ConflictError: concurrent writes won; import the file again to continue.
            EmbeddingError: records could not be embedded; likewise.
            StoreError: the database failed; likewise.
        """
        from kgagent.files import import_records

        return await import_records(
            Path(path),
            self._services,
            user_id=user_id,
            overwrite=overwrite,
            batch_size=batch_size,
            progress=progress,
        )

    async def migrate(
        self,
        *,
        user_id: str | None = None,
        dry_run: bool = False,
        rebuild_indexes: bool = False,
        batch_size: int = 200,
        progress: Progress | None = None,
        engine: "RayEngine | None" = None,
    ) -> "MigrationReport":
        """Migrate a graph to the current form; call it again to resume an interrupted migration.

        It creates missing constraints and indexes, drops constraints that made keys unique among
        all users, embeds records without a current embedding, and removes the embedding properties
        of old graphs.

        Args:
            user_id: owner of the records to migrate; None migrates every user's.
            dry_run: count what would be done and change nothing.
            rebuild_indexes: first recreate the vector indexes for the current embedder.
            batch_size: records per embedding request and transaction, from 1.
            progress: reports the records.
            engine: None embeds and writes from this process, `RayEngine` from worker processes of
                Ray.

        Raises:
            InputError: `batch_size` is below 1, or the user id is invalid.
            ConfigurationError: the engine cannot use Ray.
            SchemaError: an index does not fit, or the data breaks a constraint.
            MigrationStoppedError: the database or the embedder failed; its report says what was
                done.
        """
        from kgagent.upkeep.migrate import migrate

        if user_id is not None:
            check_user_id(user_id)
        return await migrate(
            self._services,
            user_id=user_id,
            dry_run=dry_run,
            rebuild_indexes=rebuild_indexes,
            batch_size=batch_size,
            progress=progress,
            engine=engine,
            access=self._access,
        )

    async def adopt(
        self,
        *,
        user_id: str,
        ontology: Ontology | str | PathLike[str] | None = None,
        dry_run: bool = False,
        batch_size: int = 500,
        progress: Progress | None = None,
        engine: "RayEngine | None" = None,
    ) -> "AdoptionReport":
        """Make a graph that other programs wrote searchable in place, for one user; call it again
        to resume.

        It infers an ontology from the labels, types and properties, adds to each node and
        relationship what it lacks (keys, `user_id`, a name, a type in words and a description, made
        of its own properties), creates constraints and indexes, and embeds all records. No label,
        type or property of other programs is changed or removed. Open the graph with the ontology
        of the report from then on; `migrate` then adopts what was written since.

        Args:
            user_id: the user to whom the graph belongs from then on.
            ontology: an ontology, or the path of a YAML file, such as one of an earlier run that
                was edited; only its labels and types are adopted. None infers
                one of all.
            dry_run: only infer, count and estimate.
            batch_size: records per embedding request and transaction, from 1.
            progress: reports the records.
            engine: None embeds and writes from this process, `RayEngine` from worker processes of
                Ray.

        Raises:
            InputError: there is nothing to adopt, or an argument or the ontology is invalid.
            SchemaError: an index does not fit, or the data breaks a constraint.
            EmbeddingError: the embedder failed.
            MigrationStoppedError: the database or the embedder failed; its report says what was
                done.
            StoreError: the database failed.
        """
        from kgagent.upkeep.adopt import adopt

        return await adopt(
            self._services,
            user_id=user_id,
            ontology=None if ontology is None else _open_ontology(ontology),
            dry_run=dry_run,
            batch_size=batch_size,
            progress=progress,
            engine=engine,
            access=self._access,
        )

    async def undo_adoption(
        self, *, user_id: str, progress: Progress | None = None
    ) -> "UndoneAdoption":
        """Remove what `adopt`, and embedding the records since, has added; call it again to resume.

        Nodes that tools created stay, and what another program has written to adopted records.
        Constraints and indexes are dropped if no record of kgagent remains.

        Args:
            user_id: the user for whom the graph was adopted.
            progress: reports the records.

        Raises:
            InputError: the user id is empty, or tools deleted adopted records that can be restored.
            StoreError: the database failed.
        """
        from kgagent.upkeep.adopt import undo

        return await undo(self._services, user_id=user_id, progress=progress)

    async def purge(
        self,
        *,
        user_id: str | None = None,
        restorable: bool = False,
        dry_run: bool = False,
        batch_size: int = 200,
    ) -> "PurgeReport":
        """Purge deleted nodes and relationships that can no longer be restored.

        Each deletion and restoration purges up to 100 records of any user. This method purges all,
        in batches, so that other calls do not wait for long.

        Args:
            user_id: owner of the records; None purges every user's.
            restorable: whether those of the user that can still be restored are purged too, to
                erase them at once.
            dry_run: count them and change nothing.
            batch_size: records per transaction, from 1.

        Raises:
            InputError: `batch_size` is below 1, the user id is invalid, or `restorable` is given
                without a user.
            StoreError: the database failed; what was purged until then stays purged.
        """
        from kgagent.upkeep.purge import purge

        if user_id is not None:
            check_user_id(user_id)
        return await purge(
            self._services,
            user_id=user_id,
            restorable=restorable,
            dry_run=dry_run,
            batch_size=batch_size,
        )

    async def forget(
        self,
        *,
        user_id: str,
        entity_key: str | None = None,
        dry_run: bool = False,
        batch_size: int = 200,
        progress: Progress | None = None,
    ) -> "ForgetReport":
        """Delete all data of a user, or of a source or another node, irreversibly.

        Of a user: nodes, relationships, notes, deleted records, the progress of ingestion and
            cached texts. Of a node:
        the node with its relationships and its progress, its deleted records, and the notes of
        other records that name it as their source; these records are embedded again. If it is
        interrupted, call it again to continue.

        Args:
            user_id: owner of the records.
            entity_key: key of the node to forget, a unique beginning of at least 8 characters, or
                its name; None forgets the user.
            dry_run: count and change nothing.
            batch_size: records per transaction, from 1.
            progress: reports the records.

        Raises:
            InputError: an argument is invalid; NotFoundError if nothing is stored under the key.
            ConflictError: concurrent writes won; call it again to continue.
            EmbeddingError: a record without the notes could not be embedded; likewise.
            StoreError: the database failed; likewise.
        """
        from kgagent.upkeep.forget import forget

        return await forget(
            self._services,
            user_id=user_id,
            entity_key=entity_key,
            dry_run=dry_run,
            batch_size=batch_size,
            progress=progress,
        )

    async def diagnose(
        self,
        *,
        user_id: str | None = None,
        check_embedder: bool = False,
        progress: Progress | None = None,
    ) -> "Diagnosis":
        """Check the server, its indexes and every record, and report problems with their fixes;
        nothing is changed.

        Args:
            user_id: owner of the records to check; None checks every user's.
            check_embedder: make one embedding to see whether the embedder works.
            progress: reports the records.

        Raises:
            InputError: the user id is invalid.
            StoreError: the database failed.
        """
        from kgagent.upkeep.doctor import diagnose

        if user_id is not None:
            check_user_id(user_id)
        return await diagnose(
            self._services, user_id=user_id, check_embedder=check_embedder, progress=progress
        )

    async def live_schema(self, *, user_id: str, refresh: bool = False) -> LiveSchema:
        """Read which labels, relationship types and properties a user's graph has, and how many of
        each.

        Args:
            user_id: owner of the graph.
            refresh: read from the database even if a recent answer is in memory.

        Raises:
            InputError: the user id is empty.
            StoreError: the database failed.
        """
        return await self._services.live_schema.read(user_id, fresh=refresh)

    def tools(
        self,
        *,
        user_id: str,
        toolsets: str | Sequence[str] | None = None,
        source_entity_key: str | None = None,
        on_change: OnChange | None = None,
        trust: Trust | None = None,
        min_trust: Trust | None = None,
        readable: Sequence[str] = (),
    ) -> Toolset:
        """Return the agent's tools, bound to one user; the model that calls them cannot choose
        another user.

        Args:
            user_id: owner of the graph.
            toolsets: names of toolsets ("core", "graph", "patterns", "admin"); None returns all
                tools, of which a surface offers a model those of the setting `toolsets`.
            source_entity_key: `entity_key` of the source that is being read; every note that the
                tools write names it.
            on_change: called with each record that the tools write, but not with those they delete.
            trust: how far what the tools write is trusted, as in `add_source`.
            min_trust: class that what `hybrid_search` and `explore` find has at least; None finds
                all.
            readable: other owners whose records the tools that read find too; each such record says
                whose it is. What is written is the user's.

        Raises:
            InputError: a user id is empty, or a toolset or a class is unknown.
        """
        services = self._services.trusting(trust)
        shared = services.sharing(user_id, readable)

        def context(services: GraphServices, owners: Sequence[str] = ()) -> ToolContext:
            return ToolContext(
                user_id=user_id,
                ontology=services.ontology,
                nodes=services.nodes,
                relationships=services.relationships,
                resolver=services.resolver,
                retrieval=services.retrieval,
                live_schema=services.live_schema,
                write_context=replace(services.write_context, on_change=on_change),
                undo_window=timedelta(days=services.settings.undo_days),
                patterns=services.patterns,
                admission=services.admission,
                source_entity_key=source_entity_key,
                observer=services.observer,
                min_trust=given_trust(min_trust),
                readable=owners,
            )

        return Toolset(
            context(services),
            toolsets,
            offered=services.settings.toolsets,
            reading=None if shared is services else context(shared, owners_of(user_id, readable)),
        )

    def searcher(self, name: str, *, user_id: str) -> Searcher:
        """Return a search for nodes, bound to one user.

        Args:
            name: "vector" (semantic), "graph" (around seed nodes) or "hybrid" (both).
            user_id: owner of the nodes.

        Raises:
            InputError: the name is unknown or the user id empty.
        """
        return make_searcher(name, self._services.retrieval, user_id=user_id)

    async def bookmarks(self) -> tuple[str, ...]:
        """Return the bookmarks of what this process has written and read, for `use_bookmarks` in
        another process.

        Reads see all earlier writes of the same process. In a cluster, they may miss writes of
        another process unless they have its bookmarks.
        """
        from kgagent.graph.bookmarks import bookmarks_of

        return await bookmarks_of(self._services.store)

    async def use_bookmarks(self, bookmarks: Iterable[str]) -> None:
        """Wait until the database has what another process wrote, and let all later calls see it.

        Args:
            bookmarks: what `bookmarks` returned in the other process, of the same database.

        Raises:
            InputError: a bookmark is invalid, or the database did not reach it in time; later calls
                do not wait for it.
            StoreError: the database failed.
        """
        from kgagent.graph.bookmarks import use_bookmarks

        await use_bookmarks(self._services.store, bookmarks)

    async def close(self) -> None:
        """Close the connection and the embedder, unless the caller gave them; a second call does
        nothing.

        In a process that was forked from the one that opened the graph it does nothing: the parent
        still uses them.
        """
        if os.getpid() == self._origin.pid:
            self._origin.check()
            await self._resources.aclose()

    @asynccontextmanager
    async def _admitted(self, user_id: str, *, embeds: bool) -> AsyncIterator[None]:
        """Wait for an embedder that is being loaded, then for the turn of a search."""
        check_user_id(user_id)
        if embeds:
            # If it takes too long, the search reports what it goes without.
            with suppress(EmbeddingUnavailableError):
                await self._services.embedder.ready(LONGEST_LOADING)
        async with self._services.admission.admitted(user_id):
            yield


def services_of(graph: KnowledgeGraph) -> GraphServices:
    """Return the parts of a graph; for kgagent's own packages, not for its users."""
    return graph._services


class Connecting:
    """A graph that is not open yet: `await` it, or enter it with `async with`."""

    def __init__(self, open_graph: Callable[[], Coroutine[Any, Any, KnowledgeGraph]]) -> None:
        self._open_graph = open_graph
        self._graph: KnowledgeGraph | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say how to open the graph.

            Raises:
                AttributeError: always.
            """
            raise AttributeError(
                f"The graph is not open yet, so it has no {name!r}: write `graph = await "
                f"KnowledgeGraph.connect(...)` "
                "or `async with KnowledgeGraph.connect(...) as graph:`"
            )

    def __await__(self) -> Generator[Any, None, KnowledgeGraph]:
        """Open the graph; the caller closes it."""
        return self._open_graph().__await__()

    async def __aenter__(self) -> KnowledgeGraph:
        """Open the graph for a block of code."""
        self._graph = await self._open_graph()
        return self._graph

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the graph at the end of the block."""
        if self._graph is not None:
            await self._graph.close()


def _open_ontology(given: Ontology | str | PathLike[str] | None) -> Ontology:
    if given is None:
        return default_ontology()
    return given if isinstance(given, Ontology) else load_ontology(Path(given))
