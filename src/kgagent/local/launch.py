"""Starts the process of a Neo4j server on a free port, and reads its log."""

import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.errors import ServerStartError
from kgagent.local.config import (
    HOST,
    Memory,
    common_arguments,
    render_argument_file,
    render_config,
    server_arguments,
)
from kgagent.local.java import Java
from kgagent.local.process import home_argument, server_environment, spawn
from kgagent.local.releases import Release
from kgagent.local.server_home import ServerHome
from kgagent.private_files import replace_private_file

if TYPE_CHECKING:
    import psutil

_TOOL_SECONDS = 60
_MAX_LINES = 15
_NOISE = re.compile(r"^WARNING: |\bat \S+\(.*\)$|\.\.\. \d+ more$")
_ADMIN_TOOL = "org.neo4j.cli.AdminTool"


@dataclass(frozen=True, kw_only=True)
class LaunchPlan:
    """Everything needed to start a server."""

    release: Release
    home: ServerHome
    java: Java
    jars: Sequence[Path]
    memory: Memory
    java_options: Sequence[str]
    neo4j_settings: Mapping[str, str]


def launch(plan: LaunchPlan, port: int) -> "psutil.Process":
    """Start the server process.

    Args:
        plan: what to start.
        port: a free port for bolt.

    Returns:
        The process, which may already have exited.
    """
    home = plan.home
    config = render_config(plan.release, port=port, memory=plan.memory, more=plan.neo4j_settings)
    replace_private_file(home.config / "neo4j.conf", config)
    arguments = server_arguments(plan.release, plan.java, plan.jars, plan.memory, plan.java_options)
    replace_private_file(home.arguments, render_argument_file(arguments))
    command: list[str | Path] = [
        plan.java.launcher,
        f"@{home.arguments}",
        home_argument(home.path),
        f"--config-dir={home.config}",
    ]
    return spawn(command, folder=home.path, output=home.output)


def set_initial_password(plan: LaunchPlan, password: str) -> None:
    """Set the server's password before its first start, with Neo4j's admin tool.

    The password is passed in a private file, because all users can see the arguments of a process.

    Raises:
        ServerStartError: the tool failed.
    """
    file = plan.home.path / "password.args"
    arguments = ["-XX:TieredStopAtLevel=1", *common_arguments(plan.java, plan.jars), _ADMIN_TOOL]
    replace_private_file(
        file, render_argument_file([*arguments, "dbms", "set-initial-password", password])
    )
    environment = server_environment() | {
        "NEO4J_HOME": str(plan.home.path),
        "NEO4J_CONF": str(plan.home.config),
    }
    try:
        completed = subprocess.run(  # noqa: S603 - no untrusted arguments
            [plan.java.launcher, f"@{file}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServerStartError(
            f"Setting the initial password took more than {_TOOL_SECONDS} s. Try again on a less "
            f"busy machine."
        ) from error
    finally:
        file.unlink(missing_ok=True)
    if completed.returncode:
        raise ServerStartError(
            f"The initial password could not be set: "
            f"{_last_lines(completed.stdout + completed.stderr)}"
        )


def is_free(port: int) -> bool:
    """Whether a server can listen on the port now."""
    with socket.socket() as probe:
        if sys.platform != "win32":
            # Neo4j can listen despite lingering connections of a server that has just stopped.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(requested: int, previous: int | None) -> int:
    """Choose the requested port, else the port of the previous start, else any free port.

    Args:
        requested: 0 for any port.
        previous: port of the previous start; None if there was none.

    Raises:
        ServerStartError: the requested port is in use.
    """
    if requested:
        if is_free(requested):
            return requested
        raise ServerStartError(
            f"Port {requested} is in use by another program. Free it, or set KGAGENT_LOCAL_PORT to "
            f"another port "
            "(0 for any free port)."
        )
    if previous and is_free(previous):
        return previous
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def last_log_lines(home: ServerHome) -> str:
    """The last lines of the server's output and log."""
    return "\n".join(map(_last_lines, (_read(home.output), _read(home.neo4j_log))))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _last_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not _NOISE.search(line)]
    return "\n".join(lines[-_MAX_LINES:])
