"""Chooses a TCP port for bolt."""

import socket
import sys

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST


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
            f"Port {requested} is in use by another program. Free it, or set KGAGENT_LOCAL_PORT to another port "
            "(0 for any free port)."
        )
    if previous and is_free(previous):
        return previous
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
