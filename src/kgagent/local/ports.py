"""Choose a TCP port for bolt."""

import socket
import sys

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        if sys.platform != "win32":
            # Connections of a server that has just ended do not keep Neo4j from listening.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(asked: int, remembered: int | None) -> int:
    """The port to listen on: the one asked for, else the one of last time, else any free one.

    Args:
        asked: 0 where any will do.
        remembered: of last time; None where there was none.

    Raises:
        ServerStartError: the port asked for is taken.
    """
    if asked:
        if is_free(asked):
            return asked
        raise ServerStartError(
            f"Port {asked} is in use by another program. Free it, or set KGAGENT_LOCAL_PORT to another port "
            "(0 takes any free one)."
        )
    if remembered and is_free(remembered):
        return remembered
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
