"""Translates the errors of the Neo4j driver into those of kgagent."""

import re

from neo4j import exceptions as neo4j_errors

from kgagent.errors import (
    ConstraintViolationError,
    EntityGoneError,
    KgAgentError,
    StatementTimeoutError,
    StatementValueError,
    StoreError,
    UnreachableError,
)

_VALUES_REFUSED = ("ArithmeticError", "ArgumentError", "TypeError", "SyntaxError")
VALUE_ERRORS = frozenset(f"Neo.ClientError.Statement.{name}" for name in _VALUES_REFUSED)
"""Error codes for values that an operator does not accept; text that is not a date counts as a
syntax error.
"""

_WRITING_FAILED = re.compile(
    r"Could not (append|apply the) transaction|The database has encountered a critical error, and "
    r"needs to be restarted"
)
"""How the server says that it cannot write its log or its store, and from then on that it refuses
everything.
"""

_ENTITY_GONE = re.compile(r"[\w.]*EntityNotFoundException: Unable to load ")
"""How the server sometimes says, with the code of another error, that a record that a statement
reads was deleted.
"""

DriverFailure = neo4j_errors.Neo4jError | neo4j_errors.DriverError


def translated(error: DriverFailure, uri: str) -> KgAgentError:
    """The error of kgagent for an error of the driver.

    Args:
        error: what the driver raised.
        uri: address of the server, for the message.
    """
    if isinstance(error, neo4j_errors.ConstraintError):
        return ConstraintViolationError(
            f"The write violates a uniqueness constraint: {error.message}"
        )
    if isinstance(error, neo4j_errors.AuthError):
        return StoreError(
            f"Neo4j at {uri} refused the login: check NEO4J_USERNAME and NEO4J_PASSWORD"
        )
    if isinstance(error, neo4j_errors.Neo4jError):
        return _of_server(error, uri)
    if isinstance(error, neo4j_errors.IncompleteCommit):
        return StoreError(
            f"The connection to Neo4j at {uri} broke during a write: it is not known whether the "
            f"write took effect. "
            "Check before you try again"
        )
    problem = f"Neo4j at {uri} cannot be used: {error}. Is it running, and is NEO4J_URI right?"
    if isinstance(error, neo4j_errors.ServiceUnavailable | neo4j_errors.SessionExpired):
        return UnreachableError(f"The graph cannot be reached: {problem}")
    return StoreError(problem)


def _of_server(error: neo4j_errors.Neo4jError, uri: str) -> StoreError:
    code = error.code or ""
    if "EntityNotFound" in code or _ENTITY_GONE.match(error.message or ""):
        return EntityGoneError("Another write deleted a record that this one needs")
    if "TransactionTimedOut" in code:
        return StatementTimeoutError(
            "The database stopped the statement because it exceeded its time limit"
        )
    if "LockClientStopped" in code:
        return StatementTimeoutError(
            "The database stopped the statement while it waited for a lock of another one"
        )
    if "DatabaseNotFound" in code:
        return StoreError(
            f"Neo4j at {uri} has no database of that name: {error.message}. Check NEO4J_DATABASE"
        )
    if _WRITING_FAILED.match(error.message or ""):
        return StoreError(
            f"Neo4j at {uri} cannot write to its disk, which is probably full, and refuses all "
            f"statements until it is "
            "restarted: make room, then restart it (the local one with `kgagent down` and `kgagent "
            "up`), and "
            "check whether the write that failed first took effect"
        )
    kind = StatementValueError if code in VALUE_ERRORS else StoreError
    return kind(f"Neo4j at {uri} refused the statement: {error.message}")
