"""Checks whether the server is ready."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST

_CONNECT_SECONDS = 1.0
_RESPONSE_SECONDS = 10.0


def is_ready(port: int, username: str, password: str) -> bool:
    """Whether the server accepts the password and runs a statement; False while it is starting.

    Raises:
        ServerStartError: the server rejects the password.
    """
    try:
        socket.create_connection((HOST, port), _CONNECT_SECONDS).close()
    except OSError:
        return False
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        with (
            _quiet_driver(),
            GraphDatabase.driver(
                f"bolt://{HOST}:{port}",
                auth=(username, password),
                connection_timeout=_RESPONSE_SECONDS,
                max_transaction_retry_time=0,
            ) as driver,
            driver.session(database="neo4j") as session,
        ):
            session.run("RETURN 1").consume()
    except AuthError as error:
        raise ServerStartError(
            "The local Neo4j is running but rejects the password in its password file; the password was changed on the "
            "server. Write the current password to the file."
        ) from error
    except (DriverError, Neo4jError, OSError):
        return False
    return True


@contextmanager
def _quiet_driver() -> Iterator[None]:
    """Suppress the driver's warnings about a server that is still starting."""
    logger = logging.getLogger("neo4j")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
