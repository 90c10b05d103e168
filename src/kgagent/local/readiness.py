"""Find out whether the server answers."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.errors import ServerStartError
from kgagent.local.config import HOST

_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 10.0


def answers(port: int, username: str, password: str) -> bool:
    """Whether the server takes the password and answers a statement; False while it is coming up.

    Raises:
        ServerStartError: it refuses the password.
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
                connection_timeout=_ANSWER_SECONDS,
                max_transaction_retry_time=0,
            ) as driver,
            driver.session(database="neo4j") as session,
        ):
            session.run("RETURN 1").consume()
    except AuthError as error:
        raise ServerStartError(
            "The local Neo4j runs but refuses the password in its password file: the password was changed on the "
            "server. Write the present one into the file."
        ) from error
    except (DriverError, Neo4jError, OSError):
        return False
    return True


@contextmanager
def _quiet_driver() -> Iterator[None]:
    """Keep the driver from warning about a server that is known to be still starting."""
    logger = logging.getLogger("neo4j")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
