"""The local Neo4j: start it, stop it, get its status."""

import time
from collections.abc import Iterator, Mapping, Sequence
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
from kgagent.local.process import find_server, terminate, wait_for_exit
from kgagent.local.readiness import is_ready
from kgagent.local.releases import find_release, version_key
from kgagent.local.server_home import ServerHome, ServerState, not_writable
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    import psutil

    from kgagent.settings import Settings

_USERNAME = "neo4j"
_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1
_PORT_ATTEMPTS = 3


class _PortInUseError(ServerStartError):
    """Another program took the port after it was found free."""


@dataclass(frozen=True, kw_only=True)
class ServerInfo:
    """A running local Neo4j and how to connect to it."""

    uri: str
    username: str
    password: str = field(repr=False)
    pid: int
    version: str
    home: Path
    log: Path


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """Status of the local Neo4j.

    Attributes:
        running: whether its process is running.
        ready: whether it runs statements.
        info: how to connect to it; None if it is not running.
        home: folder of its data.
        version: Neo4j version that last used the data; None if there is no data.
    """

    running: bool
    ready: bool
    info: ServerInfo | None
    home: Path
    version: str | None


class LocalNeo4j:
    """A Neo4j Community server on this machine, for this user and on the loopback address only."""

    def __init__(
        self,
        home: Path | None = None,
        *,
        cache: Path | None = None,
        version: str = "2026.08.1",
        port: int = 0,
        java_options: Sequence[str] = (),
        neo4j_settings: Mapping[str, str] | None = None,
    ) -> None:
        """Choose a server; nothing is started yet.

        Args:
            home: folder of its data; by default a folder for each major version in the user's data folder.
            cache: folder of downloaded files; by default the settings' cache, else the user's cache folder.
            version: a Neo4j release that has a lock file.
            port: bolt port; 0 for the port of the previous start or any free port.
            java_options: further options of the Java VM, such as "-Xmx2g"; they override the defaults.
            neo4j_settings: further settings of `neo4j.conf`; they override the defaults.

        Raises:
            ConfigurationError: the version is not supported.
        """
        self._release = find_release(version)
        self._home = ServerHome((home or default_home(self._release.major)).expanduser().absolute())
        self._cache = cache
        self._port = port
        self._java_options = tuple(java_options)
        self._neo4j_settings = dict(neo4j_settings or {})

    @classmethod
    def from_settings(cls, settings: "Settings") -> Self:
        """The local server that the settings choose."""
        return cls(
            settings.home,
            cache=settings.cache,
            version=settings.local_neo4j_version,
            port=settings.local_port,
        )

    def up(self, progress: Progress | None = None) -> ServerInfo:
        """Download the server, start it, and wait until it is ready.

        If the server is already running, nothing is started. Concurrent calls of several processes get the same server.

        Args:
            progress: reports the download and the start.

        Raises:
            ConfigurationError: the version has no lock file, or the `local` extra is not installed.
            DownloadError: a file could not be downloaded.
            ServerStartError: the server did not start; the message includes the end of its log.
        """
        progress = progress or SilentProgress()
        self._home.create()
        with self._locked():
            state = self._home.read_state()
            running = find_server(state.pid, self._home.path) if state else None
            if state and running:
                return self._reuse(state, running, progress)
            return self._start(state, progress)

    def down(self) -> bool:
        """Stop the server cleanly; only a process that `up` started is stopped.

        Returns:
            Whether a server was running.
        """
        if not self._home.path.is_dir():
            return False
        with self._locked():
            state = self._home.read_state()
            if state is None:
                return False
            running = find_server(state.pid, self._home.path)
            if running:
                terminate(running, timeout=_STOP_SECONDS)
            self._home.write_state(state.model_copy(update={"pid": None}))
            return running is not None

    def status(self) -> ServerStatus:
        """Get the status of the server without changing it.

        Raises:
            ServerStartError: the server is running, but its password is missing or was changed on the server.
        """
        state = self._home.read_state()
        running = find_server(state.pid, self._home.path) if state else None
        info = self._info(state, running.pid) if state and running else None
        return ServerStatus(
            running=info is not None,
            ready=info is not None and state is not None and is_ready(state.port, _USERNAME, info.password),
            info=info,
            home=self._home.path,
            version=state.version if state else None,
        )

    def _reuse(self, state: ServerState, running: "psutil.Process", progress: Progress) -> ServerInfo:
        if state.version != self._release.version:
            raise ServerStartError(
                f"Neo4j {state.version} is running on {self._home.path}, but {self._release.version} was requested. "
                "Stop the running server first (kgagent down)."
            )
        if self._port not in (0, state.port):
            raise ServerStartError(
                f"The local Neo4j is running on port {state.port}, but port {self._port} was requested. "
                "Stop it first (kgagent down)."
            )
        self._await_ready(state, running, progress, log_start=log_size(self._home))
        return self._info(state, running.pid)

    def _start(self, state: ServerState | None, progress: Progress) -> ServerInfo:
        self._check_data_version(state)
        plan = LaunchPlan.prepare(
            self._release,
            self._home,
            self._cache,
            progress,
            java_options=self._java_options,
            neo4j_settings=self._neo4j_settings,
        )
        if state is None or not state.initialised:
            set_initial_password(plan, self._home.password())
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            previous = state.port if state and attempt == 1 else None
            try:
                return self._start_at(choose_port(self._port, previous), plan, state, progress)
            except _PortInUseError:
                if self._port or attempt == _PORT_ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _start_at(self, port: int, plan: LaunchPlan, state: ServerState | None, progress: Progress) -> ServerInfo:
        before = log_size(self._home)
        process = launch(plan, port)
        initialised = state is not None and state.initialised
        new = ServerState(version=self._release.version, port=port, pid=process.pid, initialised=initialised)
        self._home.write_state(new)
        self._await_ready(new, process, progress, log_start=before)
        return self._info(new, process.pid)

    def _check_data_version(self, state: ServerState | None) -> None:
        if state is None:
            return
        stored, chosen = version_key(state.version), version_key(self._release.version)
        if stored[0] == chosen[0] and stored <= chosen:
            return
        raise ServerStartError(
            f"The data in {self._home.path} was last used by Neo4j {state.version} and cannot be opened by "
            f"{self._release.version}. Set KGAGENT_LOCAL_NEO4J_VERSION={state.version}, or set KGAGENT_HOME to "
            "another folder."
        )

    def _await_ready(
        self, state: ServerState, running: "psutil.Process", progress: Progress, *, log_start: int
    ) -> None:
        password = self._home.password()
        deadline = time.monotonic() + _START_SECONDS
        if is_ready(state.port, _USERNAME, password):
            self._mark_initialised(state)
            return
        with progress.task(f"Starting Neo4j {state.version}") as advance:
            while not is_ready(state.port, _USERNAME, password):
                if wait_for_exit(running, _POLL_SECONDS):
                    raise self._failure("exited during startup", log_start)
                if time.monotonic() > deadline:
                    terminate(running, timeout=_STOP_SECONDS)
                    raise self._failure(f"was not ready within {_START_SECONDS:.0f} s and was stopped", log_start)
                advance(1)
        self._mark_initialised(state)

    def _mark_initialised(self, state: ServerState) -> None:
        if not state.initialised:
            self._home.write_state(state.model_copy(update={"initialised": True}))

    def _failure(self, what: str, log_start: int) -> ServerStartError:
        log = last_log_lines(self._home, log_start)
        kind = _PortInUseError if "already in use" in log else ServerStartError
        # A damaged jar may be the cause: verify all of them at the next start.
        forget(self._release.lock_name, cache=self._cache)
        return kind(f"The local Neo4j {what}. Its log is in {self._home.path / 'logs'}; it ends with:\n{log}")

    def _info(self, state: ServerState, pid: int) -> ServerInfo:
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
            raise ServerStartError(not_writable(self._home.path, error)) from error
