"""Asks a server whether its database is ready."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST

USERNAME = "neo4j"
_CONNECT_SECONDS = 1.0
_RESPONSE_SECONDS = 10.0
_STATES = """
SHOW DATABASES YIELD name, requestedStatus, currentStatus, statusMessage
WHERE name IN ['neo4j', 'system'] RETURN *
"""
_STARTING = frozenset({"initial", "starting", "store copying"})


def is_ready(port: int, password: str) -> bool:
    """Whether the server accepts the password and its database is online; False while it starts.

    Raises:
        ServerStartError: the server rejects the password, or cannot start a database.
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
                auth=(USERNAME, password),
                connection_timeout=_RESPONSE_SECONDS,
                max_transaction_retry_time=0,
            ) as driver,
            driver.session(database="system") as session,
        ):
            rows = session.run(_STATES).data()
    except AuthError as error:
        raise ServerStartError(
            "The local Neo4j is running but rejects the password in its password file; the "
            "password was changed on the server. Write the current password to the file."
        ) from error
    except (DriverError, Neo4jError, OSError):
        return False
    for row in rows:
        wanted, state, message = row["requestedStatus"], row["currentStatus"], row["statusMessage"]
        if wanted == "online" and message and state not in {"online", *_STARTING}:
            raise ServerStartError(
                f"The local Neo4j could not start the database {row['name']!r}. It says: {message}"
            )
    return len(rows) > 1 and all(row["currentStatus"] == "online" for row in rows)


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
