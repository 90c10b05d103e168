"""Checks whether the server is ready."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST

if TYPE_CHECKING:
    from neo4j import Session

_CONNECT_SECONDS = 1.0
_RESPONSE_SECONDS = 10.0
_FAILED = """
SHOW DATABASES YIELD name, requestedStatus, currentStatus, statusMessage
WHERE requestedStatus = 'online' AND NOT currentStatus IN ['online', 'starting', 'initial']
  AND statusMessage <> ''
RETURN name, statusMessage LIMIT 1
"""


def is_ready(port: int, username: str, password: str) -> bool:
    """Whether the server accepts the password and runs a statement; False while it is starting.

    Raises:
        ServerStartError: the server rejects the password.
    """
    try:
        socket.create_connection((HOST, port), _CONNECT_SECONDS).close()
    except OSError:
        return False
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        with _session("neo4j", port, username, password) as session:
            session.run("RETURN 1").consume()
    except AuthError as error:
        raise ServerStartError(
            "The local Neo4j is running but rejects the password in its password file; the "
            "password was changed on the "
            "server. Write the current password to the file."
        ) from error
    except (DriverError, Neo4jError, OSError):
        return False
    return True


def failed_database(port: int, username: str, password: str) -> tuple[str, str] | None:
    """A database that the server could not start, and why; None if there is none, or the server
    does not answer.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        with _session("system", port, username, password) as session:
            row = session.run(_FAILED).single()
    except (DriverError, Neo4jError, OSError):
        return None
    return None if row is None else (row["name"], row["statusMessage"])


@contextmanager
def _session(database: str, port: int, username: str, password: str) -> Iterator["Session"]:
    """A session whose statements are not repeated."""
    from neo4j import GraphDatabase

    with (
        _quiet_driver(),
        GraphDatabase.driver(
            f"bolt://{HOST}:{port}",
            auth=(username, password),
            connection_timeout=_RESPONSE_SECONDS,
            max_transaction_retry_time=0,
        ) as driver,
        driver.session(database=database) as session,
    ):
        yield session


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
