"""The local Neo4j: bring it up, end it, ask how it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra
from kgagent.local.artifacts import forget
from kgagent.local.config import HOST
from kgagent.local.launch import LaunchPlan, last_log_lines, launch, log_size, set_initial_password
from kgagent.local.paths import default_home
from kgagent.local.ports import choose_port
from kgagent.local.process import end, ended_within, find_server
from kgagent.local.readiness import answers
from kgagent.local.releases import find_release, version_key
from kgagent.local.state import Home, State, unwritable
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    import psutil

    from kgagent.settings import Settings

_USERNAME = "neo4j"
_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1
_PORT_ATTEMPTS = 3


class _PortTakenError(ServerStartError):
    """Another program took the port between the look at it and the start."""


@dataclass(frozen=True, kw_only=True)
class ServerInfo:
    """A running local Neo4j and how to reach it."""

    uri: str
    username: str
    password: str = field(repr=False)
    pid: int
    version: str
    home: Path
    log: Path


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """How the local Neo4j is.

    Attributes:
        running: its process lives.
        ready: it answers statements.
        info: how to reach it; None when it is not running.
        home: folder of its data.
        version: Neo4j that wrote the data last; None where there is no data.
    """

    running: bool
    ready: bool
    info: ServerInfo | None
    home: Path
    version: str | None


class LocalNeo4j:
    """A Neo4j Community server of this user's on this machine, reached at the loopback address only."""

    def __init__(
        self,
        home: Path | None = None,
        *,
        cache: Path | None = None,
        version: str = "2026.08.1",
        port: int = 0,
    ) -> None:
        """Say which server is meant; nothing is started yet.

        Args:
            home: folder of its data; by default one in the user's data folder for each major version.
            cache: folder of downloaded files; by default the settings' or the user's cache folder.
            version: Neo4j release that has a lock file.
            port: of bolt; 0 takes that of last time or a free one.

        Raises:
            ConfigurationError: not a version that can be run here.
        """
        self._release = find_release(version)
        self._home = Home((home or default_home(self._release.major)).expanduser().absolute())
        self._cache = cache
        self._port = port

    @classmethod
    def from_settings(cls, settings: "Settings") -> Self:
        """The local server that the settings describe."""
        return cls(
            settings.home,
            cache=settings.cache,
            version=settings.local_neo4j_version,
            port=settings.local_port,
        )

    def up(self, progress: Progress | None = None) -> ServerInfo:
        """Have the server running: download what it needs, start it, wait until it answers.

        With the server running already, that one is returned. Two processes that do this at once get the same server.

        Args:
            progress: shown the download and the start.

        Raises:
            ConfigurationError: no lock file for the version, or the `local` extra is not installed.
            DownloadError: its files could not be had.
            ServerStartError: it did not come up; the text holds the end of its log.
        """
        progress = progress or SilentProgress()
        self._home.create()
        with self._locked():
            state = self._home.read_state()
            running = find_server(state.pid, self._home.path) if state else None
            if state and running:
                return self._join(state, running, progress)
            return self._start(state, progress)

    def down(self) -> bool:
        """End the server, its data safely written; only the process that `up` started is touched.

        Returns:
            Whether there was one to end.
        """
        if not self._home.path.is_dir():
            return False
        with self._locked():
            state = self._home.read_state()
            if state is None:
                return False
            running = find_server(state.pid, self._home.path)
            if running:
                end(running, patience=_STOP_SECONDS)
            self._home.write_state(state.model_copy(update={"pid": None}))
            return running is not None

    def status(self) -> ServerStatus:
        """Look at the server without changing it.

        Raises:
            ServerStartError: it runs, but its password is gone or was changed on the server.
        """
        state = self._home.read_state()
        running = find_server(state.pid, self._home.path) if state else None
        info = self._info(state, running.pid) if state and running else None
        return ServerStatus(
            running=info is not None,
            ready=info is not None and state is not None and answers(state.port, _USERNAME, info.password),
            info=info,
            home=self._home.path,
            version=state.version if state else None,
        )

    def _join(self, state: State, running: "psutil.Process", progress: Progress) -> ServerInfo:
        if state.version != self._release.version:
            raise ServerStartError(
                f"Neo4j {state.version} is running on {self._home.path}, and {self._release.version} was asked for. "
                "End the running one first (kgagent down)."
            )
        if self._port not in (0, state.port):
            raise ServerStartError(
                f"The local Neo4j is running already at port {state.port}, and port {self._port} was asked for. "
                "End it first (kgagent down)."
            )
        self._await_ready(state, running, progress, log_start=log_size(self._home))
        return self._info(state, running.pid)

    def _start(self, state: State | None, progress: Progress) -> ServerInfo:
        self._refuse_foreign_data(state)
        plan = LaunchPlan.prepare(self._release, self._home, self._cache, progress)
        if state is None or not state.initialised:
            set_initial_password(plan, self._home.password())
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            remembered = state.port if state and attempt == 1 else None
            try:
                return self._start_at(choose_port(self._port, remembered), plan, state, progress)
            except _PortTakenError:
                if self._port or attempt == _PORT_ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _start_at(self, port: int, plan: LaunchPlan, state: State | None, progress: Progress) -> ServerInfo:
        before = log_size(self._home)
        process = launch(plan, port)
        initialised = state is not None and state.initialised
        new = State(version=self._release.version, port=port, pid=process.pid, initialised=initialised)
        self._home.write_state(new)
        self._await_ready(new, process, progress, log_start=before)
        return self._info(new, process.pid)

    def _refuse_foreign_data(self, state: State | None) -> None:
        if state is None:
            return
        theirs, ours = version_key(state.version), version_key(self._release.version)
        if theirs[0] == ours[0] and theirs <= ours:
            return
        raise ServerStartError(
            f"The data in {self._home.path} was last used by Neo4j {state.version} and cannot be opened by "
            f"{self._release.version}. Set KGAGENT_LOCAL_NEO4J_VERSION={state.version}, or let KGAGENT_HOME name "
            "another folder."
        )

    def _await_ready(self, state: State, running: "psutil.Process", progress: Progress, *, log_start: int) -> None:
        password = self._home.password()
        deadline = time.monotonic() + _START_SECONDS
        if answers(state.port, _USERNAME, password):
            self._mark_initialised(state)
            return
        with progress.task(f"Starting Neo4j {state.version}") as advance:
            while not answers(state.port, _USERNAME, password):
                if ended_within(running, _POLL_SECONDS):
                    raise self._failure("ended while it was starting", log_start)
                if time.monotonic() > deadline:
                    end(running, patience=_STOP_SECONDS)
                    raise self._failure(f"did not answer within {_START_SECONDS:.0f} s and was ended", log_start)
                advance(1)
        self._mark_initialised(state)

    def _mark_initialised(self, state: State) -> None:
        if not state.initialised:
            self._home.write_state(state.model_copy(update={"initialised": True}))

    def _failure(self, what: str, log_start: int) -> ServerStartError:
        told = last_log_lines(self._home, log_start)
        kind = _PortTakenError if "already in use" in told else ServerStartError
        # A damaged jar shows itself only now: have all of them checked by the next start.
        forget(self._release.lock_name, cache=self._cache)
        return kind(f"The local Neo4j {what}. Its log is in {self._home.path / 'logs'}; it ends with:\n{told}")

    def _info(self, state: State, pid: int) -> ServerInfo:
        return ServerInfo(
            uri=f"bolt://{HOST}:{state.port}",
            username=_USERNAME,
            password=self._home.password(),
            pid=pid,
            version=state.version,
            home=self._home.path,
            log=self._home.neo4j_log,
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with require_extra("local"):
            from filelock import FileLock
        try:
            with FileLock(self._home.lock):
                yield
        except OSError as error:
            raise ServerStartError(unwritable(self._home.path, error)) from error
