"""The connection to Neo4j: reads see earlier writes, and the driver's errors are translated."""

import asyncio
import copy
import sys
from array import array
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncDriver, AsyncSession, Query, RoutingControl
from neo4j import exceptions as neo4j_errors
from neo4j.vector import Vector

from kgagent.errors import EntityGoneError
from kgagent.graph.driver_errors import translated
from kgagent.graph.features import ServerFeatures
from kgagent.graph.parameter_map import MAP, PLAIN, with_parameter_map
from kgagent.graph.reachability import Reachability
from kgagent.graph.shared_reads import over_owners
from kgagent.graph.statements import NODE_EMBEDDING, UNNAMED, Statement
from kgagent.observing import NULL_OBSERVER, Observer, statement_tags
from kgagent.operations import Access, OperationOutcome, StatementRun
from kgagent.origin import Origin

Row = dict[str, Any]
Parameters = Mapping[str, Any]


class Store:
    """A database of a Neo4j server, shared by everything in this process that uses it."""

    def __init__(
        self,
        driver: AsyncDriver,
        features: ServerFeatures,
        *,
        uri: str,
        database: str | None,
        timeout: float | None = None,
        owns_driver: bool = True,
        connections: int = 100,
    ) -> None:
        """Prepare.

        Args:
            driver: an open driver.
            features: what the server supports.
            uri: address of the server.
            database: None is the user's home database.
            timeout: maximum time of a statement on the server, in seconds; None is the server's own
                limit.
            owns_driver: whether `close` closes the driver.
            connections: maximum number of connections of the driver; statements beyond it wait for
                their turn.
        """
        self._driver = driver
        self._owns_driver = owns_driver
        self._database = database
        self.features = features
        self._language = features.language
        self._timeout = timeout
        self._observer = NULL_OBSERVER
        self._node_embedding = "embedding"
        self._owners: tuple[str, ...] = ()
        self.reachability = Reachability(driver, uri)
        self.origin = Origin()
        self.uri = uri
        # While a stream is read, statements run; so streams cannot take all connections. The
        # driver's own queue has a time limit, after which a statement would fail.
        self._stream_slots = asyncio.Semaphore(max(1, connections // 4))
        self._slots = asyncio.Semaphore(max(1, connections - connections // 4))

    def observed_by(self, observer: Observer) -> Self:
        """The same connections, their statements watched by an observer."""
        watched = copy.copy(self)
        watched._observer = observer
        return watched

    def with_node_embedding(self, name: str) -> Self:
        """The same connections for a graph in which a property of this name holds the embeddings of
        nodes.
        """
        named = copy.copy(self)
        named._node_embedding = name
        return named

    def shared(self, owners: tuple[str, ...]) -> Self:
        """The same connections, over which reads of the first of some owners read the records of
        all of them; writes, and reads of other users, do not change.
        """
        shared = copy.copy(self)
        shared._owners = owners
        return shared

    def owners(self, user_id: str) -> Sequence[str]:
        """The owners whose records a read of a user reads; the user is the first."""
        return self._owners if self._owners[:1] == (user_id,) else (user_id,)

    async def close(self) -> None:
        """Close the connections, unless the driver is the caller's."""
        if self._owns_driver:
            await self._driver.close()

    async def read(
        self, text: str, parameters: Parameters, *, timeout: float | None = None
    ) -> list[Row]:
        """Run a reading statement in one round trip; a transient failure is retried as the driver
        would.

        Args:
            text: Cypher without its version prefix.
            parameters: values of the statement.
            timeout: maximum time on the server in seconds; None is the timeout of the connection.

        Raises:
            StoreError: it failed; StatementTimeoutError if it took too long.
        """
        owners = self.owners(parameters["user_id"]) if "user_id" in parameters else ()
        if len(owners) > 1:
            text, parameters = over_owners(text), {**parameters, "owners": owners}
        return await self._read_again(text, parameters, READ_ACCESS, timeout)

    async def write(
        self, text: str, parameters: Parameters, *, timeout: float | None = None
    ) -> list[Row]:
        """Run a writing statement in its own transaction: all of it takes effect, or nothing.

        Raises:
            ConstraintViolationError: it would create a duplicate, or a relationship
                without a node.
            EntityGoneError: another write deleted a record that this one needs.
            StoreError: it failed for another reason.
        """
        async with self._running(text, "write") as outcome:
            rows = await self._run(
                self._query(text, timeout or self._timeout), parameters, RoutingControl.WRITE
            )
            outcome.rows = len(rows)
        return rows

    async def read_for_update(self, text: str, parameters: Parameters) -> list[Row]:
        """Run a statement that locks what it reads and may be repeated, again if another write
        deletes what it locks.

        Neo4j applies a commit property by property: a read without a lock can see the new version
        beside old notes.

        Raises:
            StoreError: it failed.
        """
        return await self._read_again(text, parameters, WRITE_ACCESS)

    async def run_schema(self, text: str) -> list[Row]:
        """Run a statement about indexes and constraints.

        Raises:
            StoreError: it failed.
        """
        async with self._running(text, "schema") as outcome, self._session() as session:
            result = await session.run(self._query(text, None))
            rows = await result.data()
            outcome.rows = len(rows)
        return rows

    @asynccontextmanager
    async def stream(self, text: str, parameters: Parameters) -> AsyncIterator[AsyncIterator[Row]]:
        """Run a reading statement and iterate over its rows; for results too large for memory.

        Raises:
            StoreError: it failed.
        """
        async with (
            self._running(text, "read", self._stream_slots),
            self._session(READ_ACCESS) as session,
        ):
            result = await session.run(self._query(text, None), _sent(parameters))
            yield (dict(record) async for record in result)

    def vector(self, embedding: Sequence[float] | None) -> Vector | list[float] | None:
        """An embedding as a parameter in the form that this server accepts."""
        if embedding is None:
            return None
        if not self.features.vectors_on_the_wire:
            return list(embedding)
        if isinstance(embedding, array) and embedding.typecode == "f":
            swapped = array("f", embedding)
            if sys.byteorder == "little":
                swapped.byteswap()
            return Vector(swapped.tobytes(), "f32")
        return Vector(embedding, "f32")

    def _session(self, access: str = WRITE_ACCESS) -> AsyncSession:
        """A session that sees earlier writes, since all sessions of this connection share their
        bookmarks.
        """
        return self._driver.session(
            database=self._database,
            default_access_mode=access,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )

    async def _read_again(
        self, text: str, parameters: Parameters, access: str, timeout: float | None = None
    ) -> list[Row]:
        """Read, again if another write deletes a record that is read."""
        query = self._query(text, timeout or self._timeout)
        while True:
            with suppress(EntityGoneError):
                async with self._running(
                    text, "read" if access == READ_ACCESS else "write"
                ) as outcome:
                    rows = await self._read(query, parameters, access)
                    outcome.rows = len(rows)
                return rows

    async def _read(self, query: Query, parameters: Parameters, access: str) -> list[Row]:
        try:
            # A managed transaction would need a second round trip to commit nothing.
            async with self._session(access) as session:
                result = await session.run(query, _sent(parameters))
                return [dict(record) for record in (await result.to_eager_result()).records]
        except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
            if not error.is_retryable():
                raise
        routing = RoutingControl.READ if access == READ_ACCESS else RoutingControl.WRITE
        return await self._run(query, parameters, routing)

    async def _run(
        self, query: Query, parameters: Parameters, routing: RoutingControl
    ) -> list[Row]:
        answer = await self._driver.execute_query(
            query, _sent(parameters), routing_=routing, database_=self._database
        )
        return [dict(record) for record in answer.records]

    def _query(self, text: str, timeout: float | None) -> Query:
        filled = text.replace(f"«{NODE_EMBEDDING}»", self._node_embedding)
        return Query(
            with_parameter_map(filled, self._language),
            metadata=statement_tags(_name(text)),
            timeout=timeout,
        )

    @asynccontextmanager
    async def _running(
        self, text: str, access: Access, slots: asyncio.Semaphore | None = None
    ) -> AsyncIterator[OperationOutcome]:
        """Let the observer watch a statement, end it if the server is gone, and translate the
        driver's errors.
        """
        self.origin.check()
        run = StatementRun(_name(text), access, self.uri, self._database)
        async with slots or self._slots:
            with self._observer.watch(run) as outcome:
                server, limit = self.reachability, asyncio.timeout(None)
                if server.is_lost:
                    await server.check()
                watch = asyncio.get_running_loop().call_later(server.patience, server.watch, limit)
                try:
                    async with limit:
                        yield outcome
                except TimeoutError:
                    raise server.error(access) from None
                except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
                    raise translated(error, self.uri) from error
                finally:
                    watch.cancel()


def _sent(parameters: Parameters) -> dict[str, Any]:
    """Parameters as the driver sends them, see `parameter_map`."""
    return {PLAIN: parameters.get(PLAIN), MAP: dict(parameters)}


def _name(text: str) -> str:
    return text.name if isinstance(text, Statement) else UNNAMED
