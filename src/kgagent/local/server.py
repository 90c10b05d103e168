"""The local Neo4j: start it, stop it, get its status."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra
from kgagent.local.artifacts import fetch
from kgagent.local.config import (
    HOST,
    choose_memory,
    machine_memory,
    render_argument_file,
    render_config,
    server_arguments,
)
from kgagent.local.java import find_java
from kgagent.local.process import (
    choose_port,
    find_server,
    home_argument,
    killed_unless_ready,
    spawn,
    terminate,
    wait_for_exit,
)
from kgagent.local.readiness import USERNAME, is_ready
from kgagent.local.releases import find_release
from kgagent.local.server_home import (
    ServerHome,
    ServerInfo,
    ServerState,
    ServerStatus,
    default_home,
    not_writable,
)
from kgagent.private_files import replace_private_file
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    import psutil

    from kgagent.settings import Settings

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
        get the same server. A start that fails or is interrupted leaves no server behind.

        Args:
            progress: reports the download and the start; what it raises interrupts them.

        Raises:
            ConfigurationError: the version has no lock file, or the `local` extra is not installed.
            DownloadError: a file could not be downloaded.
            ServerStartError: the server did not start; the message includes the end of its log. Or
                it started without the database; the message includes the server's reason.
        """
        progress = progress or SilentProgress()
        self._home.create()
        with self._locked(progress):
            state, running = self._find_running()
            if state and running:
                self._check_running(state)
                self._await_ready(state, running, progress)
            else:
                state, running = self._start(state, progress)
            return self._info(state, running.pid)

    def down(self) -> bool:
        """Stop the server cleanly; only a process that `up` started is stopped.

        Returns:
            Whether a server was running.
        """
        if not self._home.path.is_dir():
            return False
        with self._locked(SilentProgress()):
            state, running = self._find_running()
            if running:
                terminate(running, timeout=_STOP_SECONDS)
            if state:
                self._home.write_state(state.model_copy(update={"pid": None}))
            return running is not None

    def status(self) -> ServerStatus:
        """Get the status of the server without changing it.

        Raises:
            ServerStartError: the server is running, but its password is missing or was changed on
                the server, or it could not start its database.
        """
        state, running = self._find_running()
        info = self._info(state, running.pid) if state and running else None
        return ServerStatus(
            running=info is not None,
            ready=info is not None and state is not None and is_ready(state.port, info.password),
            info=info,
            home=self._home.path,
            version=state.version if state else None,
        )

    def _find_running(self) -> "tuple[ServerState | None, psutil.Process | None]":
        """The stored state, and the server's process if it is running."""
        state = self._home.read_state()
        return state, find_server(state.pid, self._home.path) if state else None

    def _check_running(self, state: ServerState) -> None:
        """Refuse a running server of another version or at another port than was requested."""
        if state.version != self._release.version:
            raise ServerStartError(
                f"Neo4j {state.version} is running on {self._home.path}, but "
                f"{self._release.version} was requested. "
                "Stop the running server first (kgagent down)."
            )
        if self._port not in (0, state.port):
            raise ServerStartError(
                f"The local Neo4j is running on port {state.port}, but port {self._port} was "
                f"requested. Stop it first (kgagent down)."
            )

    def _start(
        self, state: ServerState | None, progress: Progress
    ) -> "tuple[ServerState, psutil.Process]":
        release, home = self._release, self._home
        if state and not release.opens(state.version):
            raise ServerStartError(
                f"The data in {home.path} was last used by Neo4j {state.version} and cannot be "
                f"opened by {release.version}. Set "
                f"KGAGENT_LOCAL_NEO4J_VERSION={state.version}, or set KGAGENT_HOME to another "
                f"folder."
            )
        java = find_java(release.oldest_java)
        jars = fetch(release.lock_name, cache=self._cache, progress=progress)
        memory = choose_memory(machine_memory())
        if not home.system_database.exists():
            home.write_initial_user(USERNAME)
        port = choose_port(self._port, state.port if state else None)
        config = render_config(release, port=port, memory=memory, more=self._neo4j_settings)
        replace_private_file(home.config / "neo4j.conf", config)
        arguments = server_arguments(release, java, jars, memory, self._java_options)
        replace_private_file(home.arguments, render_argument_file(arguments))
        process = spawn(
            [
                java.launcher,
                f"@{home.arguments}",
                home_argument(home.path),
                f"--config-dir={home.config}",
            ],
            folder=home.path,
            output=home.output,
        )
        started = ServerState(version=release.version, port=port, pid=process.pid)
        with killed_unless_ready(process):
            home.write_state(started)
            self._await_ready(started, process, progress)
        return started, process

    def _await_ready(
        self, state: ServerState, running: "psutil.Process", progress: Progress
    ) -> None:
        """Wait for a server that starts.

        Raises:
            ServerStartError: it exited, could not start a database, or took too long.
        """
        password, deadline = self._home.password(), time.monotonic() + _START_SECONDS
        log = f"Its log is in {self._home.path / 'logs'}"
        if is_ready(state.port, password):
            return
        with progress.task(f"Starting Neo4j {state.version}") as advance:
            while not self._is_ready(state, password, log):
                advance(1)
                problem = (
                    "exited during startup"
                    if wait_for_exit(running, _POLL_SECONDS)
                    else f"was not ready within {_START_SECONDS:.0f} s"
                    if time.monotonic() > deadline
                    else ""
                )
                if problem:
                    raise ServerStartError(
                        f"The local Neo4j {problem}. {log}; it ends with:\n"
                        f"{self._home.last_log_lines()}"
                    )

    def _is_ready(self, state: ServerState, password: str, log: str) -> bool:
        try:
            return is_ready(state.port, password)
        except ServerStartError as error:
            raise ServerStartError(
                f"{error}\nIf the disk is full, make room and start it again (kgagent up). If the "
                f"data are damaged, move {self._home.path} away and import an export (kgagent "
                f"import). {log}."
            ) from error

    def _info(self, state: ServerState, pid: int) -> ServerInfo:
        return ServerInfo(
            uri=f"bolt://{HOST}:{state.port}",
            username=USERNAME,
            password=self._home.password(),
            pid=pid,
            version=state.version,
            home=self._home.path,
            log=self._home.neo4j_log,
        )

    @contextmanager
    def _locked(self, progress: Progress) -> Iterator[None]:
        """Wait until no other program starts or stops this server."""
        with require_extra("local"):
            from filelock import FileLock, Timeout
        lock = FileLock(self._home.lock)
        try:
            with suppress(Timeout):
                lock.acquire(timeout=0)
            if not lock.is_locked:
                with progress.task("Waiting until another program has started Neo4j") as advance:
                    while not lock.is_locked:
                        advance(1)
                        with suppress(Timeout):
                            lock.acquire(timeout=_POLL_SECONDS)
            try:
                yield
            finally:
                lock.release()
        except OSError as error:
            raise ServerStartError(not_writable(self._home.path, error)) from error
