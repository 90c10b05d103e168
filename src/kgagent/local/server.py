"""The local Neo4j: start it, stop it, get its status."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra
from kgagent.local.artifacts import fetch
from kgagent.local.config import HOST, choose_memory, machine_memory
from kgagent.local.java import find_java
from kgagent.local.launch import (
    LaunchPlan,
    choose_port,
    last_log_lines,
    launch,
    set_initial_password,
)
from kgagent.local.process import find_server, terminate, wait_for_exit
from kgagent.local.readiness import failed_database, is_ready
from kgagent.local.releases import find_release
from kgagent.local.server_home import (
    ServerHome,
    ServerInfo,
    ServerState,
    ServerStatus,
    default_home,
    not_writable,
)
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    import psutil

    from kgagent.settings import Settings

_USERNAME = "neo4j"
_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1


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
            home: folder of its data; by default a folder for each major version in the user's data
                folder.
            cache: folder of downloaded files; by default the settings' cache, else the user's cache
                folder.
            version: a Neo4j release that has a lock file.
            port: bolt port; 0 for the port of the previous start or any free port.
            java_options: further options of the Java VM, such as "-Xmx2g"; they override the
                defaults.
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

        If the server is already running, nothing is started. Concurrent calls of several processes
        get the same server.

        Args:
            progress: reports the download and the start.

        Raises:
            ConfigurationError: the version has no lock file, or the `local` extra is not installed.
            DownloadError: a file could not be downloaded.
            ServerStartError: the server did not start; the message includes the end of its log. Or
                it started without the database; the message includes the server's reason.
        """
        progress = progress or SilentProgress()
        self._home.create()
        with self._locked():
            state, running = self._find_running()
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
            state, running = self._find_running()
            if state is not None:
                self._stop(state, running)
            return running is not None

    def status(self) -> ServerStatus:
        """Get the status of the server without changing it.

        Raises:
            ServerStartError: the server is running, but its password is missing or was changed on
                the server.
        """
        state, running = self._find_running()
        info = self._info(state, running.pid) if state and running else None
        return ServerStatus(
            running=info is not None,
            ready=info is not None
            and state is not None
            and is_ready(state.port, _USERNAME, info.password),
            info=info,
            home=self._home.path,
            version=state.version if state else None,
        )

    def _find_running(self) -> "tuple[ServerState | None, psutil.Process | None]":
        """The stored state, and the server's process if it is running."""
        state = self._home.read_state()
        return state, find_server(state.pid, self._home.path) if state else None

    def _stop(self, state: ServerState, running: "psutil.Process | None") -> ServerState:
        if running:
            terminate(running, timeout=_STOP_SECONDS)
        stopped = state.model_copy(update={"pid": None})
        self._home.write_state(stopped)
        return stopped

    def _check_running_version(self, state: ServerState) -> None:
        if state.version != self._release.version:
            raise ServerStartError(
                f"Neo4j {state.version} is running on {self._home.path}, but "
                f"{self._release.version} was requested. "
                "Stop the running server first (kgagent down)."
            )

    def _reuse(
        self, state: ServerState, running: "psutil.Process", progress: Progress
    ) -> ServerInfo:
        self._check_running_version(state)
        if self._port not in (0, state.port):
            raise ServerStartError(
                f"The local Neo4j is running on port {state.port}, but port {self._port} was "
                f"requested. "
                "Stop it first (kgagent down)."
            )
        self._await_ready(state, running, progress)
        return self._info(state, running.pid)

    def _start(self, state: ServerState | None, progress: Progress) -> ServerInfo:
        self._check_data_version(state)
        plan = LaunchPlan(
            release=self._release,
            home=self._home,
            java=find_java(self._release.oldest_java),
            jars=fetch(self._release.lock_name, cache=self._cache, progress=progress),
            memory=choose_memory(machine_memory()),
            java_options=self._java_options,
            neo4j_settings=self._neo4j_settings,
        )
        if state is None or not state.initialised:
            set_initial_password(plan, self._home.password())
        port = choose_port(self._port, state.port if state else None)
        process = launch(plan, port)
        initialised = state is not None and state.initialised
        new = ServerState(
            version=self._release.version, port=port, pid=process.pid, initialised=initialised
        )
        self._home.write_state(new)
        self._await_ready(new, process, progress)
        return self._info(new, process.pid)

    def _check_data_version(self, state: ServerState | None) -> None:
        if state is None or self._release.opens(state.version):
            return
        raise ServerStartError(
            f"The data in {self._home.path} was last used by Neo4j {state.version} and cannot be "
            f"opened by "
            f"{self._release.version}. Set KGAGENT_LOCAL_NEO4J_VERSION={state.version}, or set "
            f"KGAGENT_HOME to "
            "another folder."
        )

    def _await_ready(
        self, state: ServerState, running: "psutil.Process", progress: Progress
    ) -> None:
        """Wait for a server that starts.

        Raises:
            ServerStartError: it exited, could not start a database, or took too long; it is not
                running any more.
        """
        password = self._home.password()
        if not is_ready(state.port, _USERNAME, password):
            deadline = time.monotonic() + _START_SECONDS
            with progress.task(f"Starting Neo4j {state.version}") as advance:
                while not is_ready(state.port, _USERNAME, password):
                    problem = self._problem(state, running, password, deadline)
                    if problem:
                        terminate(running, timeout=_STOP_SECONDS)
                        raise ServerStartError(f"The local Neo4j {problem}")
                    advance(1)
        if not state.initialised:
            self._home.write_state(state.model_copy(update={"initialised": True}))

    def _problem(
        self, state: ServerState, running: "psutil.Process", password: str, deadline: float
    ) -> str:
        """Wait a moment for a server that starts, and return why it will not be ready; empty if it
        may still be.
        """
        log = f"Its log is in {self._home.path / 'logs'}"
        if wait_for_exit(running, _POLL_SECONDS):
            return f"exited during startup. {log}; it ends with:\n{last_log_lines(self._home)}"
        if failed := failed_database(state.port, _USERNAME, password):
            database, message = failed
            return (
                f"could not start the database {database!r}, and was stopped. It says: "
                f"{message}\nIf the disk is full, "
                f"make room and start it again (kgagent up). If the data are damaged, move "
                f"{self._home.path} away and "
                f"import an export (kgagent import). {log}."
            )
        if time.monotonic() > deadline:
            ended = last_log_lines(self._home)
            return (
                f"was not ready within {_START_SECONDS:.0f} s and was stopped. {log}; it ends "
                f"with:\n{ended}"
            )
        return ""

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
