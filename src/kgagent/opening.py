"""How a graph is opened: where it is, how to log in, and what embeds; in this process or in another
one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from neo4j import AsyncDriver

from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import make_embedder
from kgagent.errors import InputError
from kgagent.graph.connection import Credentials, connect
from kgagent.graph.store import Store
from kgagent.local import LocalNeo4j, ServerInfo
from kgagent.ontology import Ontology
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Login:
    """A server, and how to log in; `repr` hides the secrets.

    Attributes:
        uri: bolt:// or neo4j:// address.
        username: name to log in with.
        password: password to log in with.
        auth: credentials of the driver, instead of `username` and `password`.
        database: None is the user's home database.
        driver_options: further settings of the driver.
    """

    uri: str
    username: str
    password: str | None = field(repr=False)
    auth: Credentials | None = field(default=None, repr=False)
    database: str | None = None
    driver_options: Mapping[str, Any] | None = field(default=None, repr=False)

    async def connect(self, *, timeout: float) -> Store:
        """Connect to the server.

        Args:
            timeout: maximum time of a statement on the server, in seconds.

        Raises:
            ConfigurationError: the driver does not accept its options.
            StoreError: the server cannot be used.
        """
        return await connect(
            self.uri,
            username=self.username,
            password=self.password,
            auth=self.auth,
            database=self.database,
            timeout=timeout,
            driver_options=self.driver_options,
        )


@dataclass(frozen=True, kw_only=True)
class GraphAccess:
    """What opens the same graph once more, such as in another process.

    Attributes:
        login: the server; None if the caller gave an open driver.
        settings: limits and options, and the embedder that is made if none was given.
        ontology: labels, relationship definitions and words.
        embedder: the embedder that the caller gave.
        clock: returns the time, with time zone.
    """

    login: Login | None
    settings: Settings
    ontology: Ontology
    embedder: Embedder | None
    clock: Callable[[], datetime]

    @asynccontextmanager
    async def open(
        self, make: Callable[[], Embedder] | None = None
    ) -> AsyncIterator[GraphServices]:
        """Open the graph for a block; the schema is not changed.

        Args:
            make: makes the embedder; None takes the given one, or makes that of the settings.

        Raises:
            ConfigurationError: the embedder or the driver's options are invalid.
            StoreError: the database cannot be used.
        """
        if self.login is None:
            raise InputError("A graph with a driver of the caller cannot be opened once more")
        async with AsyncExitStack() as resources:
            store = await self.login.connect(timeout=self.settings.query_timeout)
            resources.push_async_callback(store.close)
            embedder = make() if make else self.embedder or make_embedder(self.settings)
            resources.push_async_callback(embedder.aclose)
            yield GraphServices.build(
                store, self.ontology, embedder, self.settings, clock=self.clock
            )


def check_login(
    given: set[str], driver: AsyncDriver | None, driver_options: Mapping[str, Any] | None
) -> None:
    """Refuse arguments that exclude each other.

    Args:
        given: names of the arguments about the login that are not None.
        driver: the caller's driver.
        driver_options: the options of a new driver.

    Raises:
        InputError: naming them.
    """
    if driver is not None and given:
        names = ", ".join(sorted(given))
        raise InputError(f"driver is already configured: omit {names}")
    if "auth" in given and (both := given & {"username", "password"}):
        raise InputError(f"auth replaces username and password: omit {' and '.join(sorted(both))}")
    if driver_options and "auth" in driver_options:
        raise InputError("Give auth as an argument of its own, not in driver_options")


async def find_login(
    settings: Settings,
    *,
    uri: str | None,
    username: str | None,
    password: str | None,
    auth: Credentials | None,
    database: str | None,
    driver_options: Mapping[str, Any] | None,
    progress: Progress | None,
) -> Login:
    """The given server, else that of the settings, else the local one, which is started.

    Raises:
        InputError: `auth` is given without a server.
        LocalServerError: the local Neo4j did not start.
    """
    address = uri or settings.neo4j_uri
    if address is None:
        if auth is not None:
            raise InputError(
                "auth needs a server: give uri, or set NEO4J_URI; the local Neo4j has its own "
                "password"
            )
        info = await _start_local(settings, progress)
        return Login(
            uri=info.uri,
            username=info.username,
            password=info.password,
            driver_options=driver_options,
        )
    stored = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
    return Login(
        uri=address,
        username=username or settings.neo4j_username,
        password=stored if password is None else password,
        auth=auth,
        database=database or settings.neo4j_database,
        driver_options=driver_options,
    )


async def _start_local(settings: Settings, progress: Progress | None) -> ServerInfo:
    """Start the local Neo4j in a thread; it starts no longer if the caller is cancelled."""
    interruptible = _InterruptibleProgress(progress or SilentProgress())
    up = LocalNeo4j.from_settings(settings).up
    starting = asyncio.ensure_future(asyncio.to_thread(up, interruptible))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        interruptible.is_interrupted = True
        await asyncio.wait([starting])
        # Otherwise an error that nobody waits for is logged.
        starting.exception()
        raise


class _InterruptibleProgress:
    """Reports progress, until it is interrupted; then it ends the work that it reports."""

    def __init__(self, progress: Progress) -> None:
        self.is_interrupted = False
        self._progress = progress

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:
        """Start a task, see `Progress`."""
        with self._progress.task(description, total) as advance:

            def advanced(units: int) -> None:
                if self.is_interrupted:
                    raise RuntimeError("Nobody waits for this work any more")
                advance(units)

            yield advanced
