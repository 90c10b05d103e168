"""The configuration of the local Neo4j: memory sizes, `neo4j.conf` and the Java arguments."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kgagent.extras import require_extra
from kgagent.local.java import Java
from kgagent.local.releases import Release

HOST = "127.0.0.1"
_FIRST_JAVA_WITH_UNSAFE_OPTION = 23
_VECTOR_MODULE = "jdk.incubator.vector"
_OPENED_PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")

_MIB = 1 << 20
_HEAP_SHARE, _MIN_HEAP, _MAX_HEAP = 0.25, 512, 4096
_PAGES_SHARE, _MIN_PAGES, _MAX_PAGES = 0.15, 128, 4096
_CONTAINER_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Memory:
    """Sizes in MiB. The remaining memory is for the vector indexes, which the operating system
    caches.
    """

    heap: int
    page_cache: int


def choose_memory(machine: int) -> Memory:
    """Choose the sizes for a machine.

    Args:
        machine: memory of the machine in bytes.
    """
    whole = machine // _MIB
    return Memory(
        heap=min(max(int(whole * _HEAP_SHARE), _MIN_HEAP), _MAX_HEAP),
        page_cache=min(max(int(whole * _PAGES_SHARE), _MIN_PAGES), _MAX_PAGES),
    )


def machine_memory(root: Path = Path("/")) -> int:
    """Memory in bytes that this process may use: the machine's or, if lower, the container's
    limit.
    """
    with require_extra("local"):
        import psutil
    memory: int = psutil.virtual_memory().total
    for name in _CONTAINER_LIMITS:
        with suppress(OSError, ValueError):
            memory = min(memory, int((root / name).read_text(encoding="ascii")) or memory)
    return memory


def render_config(
    release: Release, *, port: int, memory: Memory, more: Mapping[str, str] | None = None
) -> str:
    """The text of `neo4j.conf`: bolt on the loopback address only, no web server, no usage reports.

    Args:
        release: the Neo4j release.
        port: bolt port.
        memory: memory sizes.
        more: further settings; they override the others.
    """
    settings = {
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.usage_report.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "server.memory.pagecache.size": f"{memory.page_cache}m",
        # Without an import folder, LOAD CSV can read every file that this user can read.
        "server.directories.import": "import",
        "db.logs.query.enabled": "OFF",
        # Reserves the space of a log file when it is created, so that a full disk leaves no
        # incomplete entry in it.
        "db.tx_log.preallocate": "true",
        "db.tx_log.rotation.size": "16M",
        "db.tx_log.rotation.retention_policy": "512M size",
        # With the defaults, an idle server takes ten seconds to stop.
        "internal.server.bolt.thread_pool_shutdown_wait_time": "1s",
        "internal.server.bolt.connection_shutdown_wait_time": "0s",
        # Messages of the server that only say that it lives: the driver would set a timer for each
        # part of an answer, a tenth of the CPU of a search. `reachability` notices a server that
        # does not answer, and sooner.
        "server.bolt.connection_keep_alive_for_requests": "OFF",
    }
    rows = settings | dict(release.settings) | dict(more or {})
    return "".join(f"{name}={value}\n" for name, value in rows.items())


def server_arguments(
    release: Release, java: Java, jars: Sequence[Path], memory: Memory, options: Sequence[str] = ()
) -> list[str]:
    """The Java arguments of the server, including the main class; the given options override the
    defaults.
    """
    return [
        f"-Xms{min(memory.heap, 512)}m",
        f"-Xmx{memory.heap}m",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-OmitStackTraceInFastThrow",
        "-Dfile.encoding=UTF-8",
        "-Djdk.nio.maxCachedBufferSize=1024",
        "-Dlog4j2.disable.jmx=true",
        *(["--add-modules", _VECTOR_MODULE] if _VECTOR_MODULE in java.modules else []),
        *common_arguments(java, jars),
        *options,
        release.main_class,
    ]


def common_arguments(java: Java, jars: Sequence[Path]) -> list[str]:
    """The Java arguments of any program in the jars."""
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES]
    quiet = (
        ["--sun-misc-unsafe-memory-access=allow"]
        if java.major >= _FIRST_JAVA_WITH_UNSAFE_OPTION
        else []
    )
    return [
        "--enable-native-access=ALL-UNNAMED",
        *quiet,
        *opened,
        "-cp",
        os.pathsep.join(map(str, jars)),
    ]


def render_argument_file(arguments: Iterable[str]) -> str:
    """Text for `java @file`: one quoted argument per line. The class path is too long for a command
    line.
    """
    escaped = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    return "".join(f'"{argument}"\n' for argument in escaped)
