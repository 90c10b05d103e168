"""The connection to Neo4j: runs statements, lets reads see earlier writes, and translates the driver's errors."""

import copy
import sys
from array import array
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit

from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncSession, Auth, Query, RoutingControl
from neo4j import exceptions as neo4j_errors
from neo4j.auth_management import AsyncAuthManager
from neo4j.vector import Vector

from kgagent.errors import (
    ConfigurationError,
    ConstraintViolationError,
    EntityGoneError,
    StatementTimeoutError,
    StatementValueError,
    StoreError,
)
from kgagent.graph.features import ServerFeatures
from kgagent.graph.statements import Statement, name_of
from kgagent.observing import NULL_OBSERVER, Access, Observer, OperationOutcome, StatementRun, statement_tags

SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})

_VALUES_REFUSED = ("ArithmeticError", "ArgumentError", "TypeError", "SyntaxError")
VALUE_ERRORS = frozenset(f"Neo.ClientError.Statement.{name}" for name in _VALUES_REFUSED)
"""Error codes for values that an operator does not accept; text that is not a date counts as a syntax error."""

VERSIONS = Statement("CALL dbms.components() YIELD name, versions RETURN name, versions", "versions")

Row = dict[str, Any]
Parameters = Mapping[str, Any]
Credentials = Auth | tuple[str, str] | AsyncAuthManager
"""What the driver takes as `auth`."""


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
    ) -> None:
        self._driver = driver
        self._owns_driver = owns_driver
        self._database = database
        self.features = features
        self._timeout = timeout
        self._observer = NULL_OBSERVER
        self.uri = uri

    @classmethod
    async def connect(
        cls,
        uri: str,
        *,
        username: str = "neo4j",
        password: str | None = None,
        auth: Credentials | None = None,
        database: str | None = None,
        timeout: float | None = None,
        driver_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Connect and look at what the server can do.

        Args:
            uri: bolt:// or neo4j:// address, with +s for TLS.
            username: name to log in with.
            password: None where the server asks for none.
            auth: credentials or an authentication manager of the driver; takes the place of `username` and `password`.
            database: None is the user's home database.
            timeout: seconds that a statement may take on the server; None leaves it to the server.
            driver_options: further settings of the driver, such as `max_connection_pool_size`.

        Raises:
            ConfigurationError: the driver does not accept its options.
            StoreError: the address is wrong, the server cannot be reached, refuses the login, or is too old.
        """
        shown = _address(uri)
        if auth is None and password is not None:
            auth = (username, password)
        options = {"notifications_min_severity": "OFF", "user_agent": "kgagent", **(driver_options or {})}
        try:
            driver = AsyncGraphDatabase.driver(uri, auth=auth, **options)
        except (neo4j_errors.ConfigurationError, TypeError, ValueError) as error:
            raise ConfigurationError(f"The Neo4j driver cannot be set up: {error}") from error
        try:
            return await cls._over(driver, shown, database=database, timeout=timeout, owns_driver=True)
        except BaseException:
            await driver.close()
            raise

    @classmethod
    async def over(cls, driver: AsyncDriver, *, database: str | None = None, timeout: float | None = None) -> Self:
        """Use a driver that is already open, and leave it open in the end.

        Args:
            driver: an open driver.
            database: None is the user's home database.
            timeout: seconds that a statement may take on the server; None leaves it to the server.

        Raises:
            StoreError: the server cannot be reached, refuses the login, or is too old.
        """
        with _translated_errors("the given driver's address"):
            info = await driver.get_server_info()
        host, port = info.address[:2]
        shown = f"{'bolt+s' if driver.encrypted else 'bolt'}://{f'[{host}]' if ':' in str(host) else host}:{port}"
        return await cls._over(driver, shown, database=database, timeout=timeout, owns_driver=False)

    @classmethod
    async def _over(
        cls, driver: AsyncDriver, uri: str, *, database: str | None, timeout: float | None, owns_driver: bool
    ) -> Self:
        with _translated_errors(uri):
            info = await driver.get_server_info()
            query = Query(VERSIONS, metadata=statement_tags(VERSIONS.name))
            answer = await driver.execute_query(query, database_=database)
        versions = {str(record["name"]): list(record["versions"]) for record in answer.records}
        features = ServerFeatures.detect(
            versions.get("Neo4j Kernel", ["5.26"])[0], versions.get("Cypher", ["5"]), info.protocol_version
        )
        return cls(driver, features, uri=uri, database=database, timeout=timeout, owns_driver=owns_driver)

    def observed_by(self, observer: Observer) -> Self:
        """The same connections, their statements watched by an observer."""
        watched = copy.copy(self)
        watched._observer = observer
        return watched

    async def close(self) -> None:
        """Close the connections, unless the driver is the caller's."""
        if self._owns_driver:
            await self._driver.close()

    async def read(self, text: str, parameters: Parameters, *, timeout: float | None = None) -> list[Row]:
        """Run a reading statement in one round trip; a transient failure is retried as the driver would.

        Args:
            text: Cypher without its version prefix.
            parameters: values of the statement.
            timeout: maximum time on the server in seconds; None is the timeout of the connection.

        Raises:
            StoreError: it failed; StatementTimeoutError if it took too long.
        """
        with self._watched(text, "read") as outcome, _translated_errors(self.uri):
            rows = await self._read(text, parameters, timeout)
            outcome.rows = len(rows)
        return rows

    async def write(self, text: str, parameters: Parameters, *, timeout: float | None = None) -> list[Row]:
        """Run a writing statement in its own transaction: all of it takes effect, or nothing.

        Raises:
            ConstraintViolationError: it would create a duplicate, or leave a relationship without one of its nodes.
            EntityGoneError: another write deleted a record that this one needs.
            StoreError: it failed for another reason.
        """
        with self._watched(text, "write") as outcome, _translated_errors(self.uri):
            rows = await self._run(text, parameters, RoutingControl.WRITE, timeout)
            outcome.rows = len(rows)
        return rows

    async def run_schema(self, text: str) -> list[Row]:
        """Run a statement about indexes and constraints.

        Raises:
            StoreError: it failed.
        """
        with self._watched(text, "schema") as outcome, _translated_errors(self.uri):
            async with self._session() as session:
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
        with self._watched(text, "read"), _translated_errors(self.uri):
            async with self._session(READ_ACCESS) as session:
                result = await session.run(self._query(text, None), dict(parameters))
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
        """A session that sees earlier writes, since all sessions of this connection share their bookmarks."""
        return self._driver.session(
            database=self._database,
            default_access_mode=access,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )

    async def _read(self, text: str, parameters: Parameters, timeout: float | None) -> list[Row]:
        try:
            # A managed transaction would need a second round trip to commit nothing.
            async with self._session(READ_ACCESS) as session:
                result = await session.run(self._timed(text, timeout), dict(parameters))
                return [dict(record) for record in (await result.to_eager_result()).records]
        except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
            if not error.is_retryable():
                raise
        return await self._run(text, parameters, RoutingControl.READ, timeout)

    async def _run(
        self, text: str, parameters: Parameters, routing: RoutingControl, timeout: float | None
    ) -> list[Row]:
        answer = await self._driver.execute_query(
            self._timed(text, timeout),
            dict(parameters),
            routing_=routing,
            database_=self._database,
        )
        return [dict(record) for record in answer.records]

    def _timed(self, text: str, timeout: float | None) -> Query:
        return self._query(text, self._timeout if timeout is None else timeout)

    def _query(self, text: str, timeout: float | None) -> Query:
        return Query(self.features.language + text, metadata=statement_tags(name_of(text)), timeout=timeout)

    def _watched(self, text: str, access: Access) -> AbstractContextManager[OperationOutcome]:
        return self._observer.watch(StatementRun(name_of(text), access, self.uri, self._database))


class _translated_errors:  # noqa: N801
    """Translates the driver's errors into those of kgagent."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, neo4j_errors.ConstraintError):
            raise ConstraintViolationError(f"Uniqueness would be broken: {error.message}") from error
        if isinstance(error, neo4j_errors.AuthError):
            raise StoreError(
                f"Neo4j at {self._uri} refused the login: check NEO4J_USERNAME and NEO4J_PASSWORD"
            ) from error
        if isinstance(error, neo4j_errors.Neo4jError):
            if "EntityNotFound" in (error.code or ""):
                raise EntityGoneError("Another write deleted what this one was about") from error
            if "TransactionTimedOut" in (error.code or ""):
                raise StatementTimeoutError("The database ended the statement: it took longer than it may") from error
            kind = StatementValueError if (error.code or "") in VALUE_ERRORS else StoreError
            raise kind(f"Neo4j at {self._uri} refused the statement: {error.message}") from error
        if isinstance(error, neo4j_errors.IncompleteCommit):
            raise StoreError(
                f"The connection to Neo4j at {self._uri} broke during a write: it is not known whether it was "
                "kept. Look before you try again"
            ) from error
        if isinstance(error, neo4j_errors.DriverError):
            raise StoreError(
                f"Neo4j at {self._uri} cannot be used: {error}. Is it running, and is NEO4J_URI right?"
            ) from error


def _address(uri: str) -> str:
    """Check an address, and give what of it may be shown.

    Raises:
        StoreError: it is none, or holds a name or a password; those are not repeated.
    """
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in SCHEMES or not parts.hostname or "@" in uri:
        shown = "The address" if set(uri) & set("@?#") else repr(uri)
        raise StoreError(
            f"{shown} is not an address of a Neo4j: it must be like bolt://host:7687 or neo4j+s://host, "
            "with NEO4J_USERNAME and NEO4J_PASSWORD apart"
        )
    return f"{parts.scheme}://{parts.netloc}"
