import pytest
from neo4j.exceptions import Neo4jError

from kgagent.errors import (
    EntityGoneError,
    StatementTimeoutError,
)
from kgagent.graph.driver_errors import translated


class StoppedError(Neo4jError):
    code = "Neo.ClientError.Transaction.LockClientStopped"


def test_a_statement_stopped_while_it_waits_for_a_lock_has_exceeded_its_time() -> None:
    error = translated(StoppedError("ForsetiClient[transactionId=7]"), "bolt://localhost")
    assert isinstance(error, StatementTimeoutError)
    assert (
        str(error) == "The database stopped the statement while it waited for a lock of another one"
    )


class FailedError(Neo4jError):
    @property
    def message(self) -> str:
        return str(self.args[0])


@pytest.mark.parametrize(
    "message",
    [
        "Could not append transaction: Transaction #157 {started 2026-11-23} to log.",
        "Could not apply the transaction: Transaction #257 {started 2026-11-23} to the store after "
        "written to log.",
        "The database has encountered a critical error, and needs to be restarted. Please see "
        "database logs.",
    ],
)
def test_a_database_that_cannot_write_is_an_error_that_names_the_disk_and_the_restart(
    message: str,
) -> None:
    error = str(translated(FailedError(message), "bolt://localhost"))
    assert "disk, which is probably full" in error
    assert (
        "make room, then restart it (the local one with `kgagent down` and `kgagent up`)" in error
    )


def test_a_record_that_was_deleted_while_a_statement_read_it_is_gone() -> None:
    message = "org.neo4j.internal.kernel.api.exceptions.EntityNotFoundException: Unable to load NODE 5:95446f08:721."
    assert isinstance(translated(FailedError(message), "bolt://localhost"), EntityGoneError)
    assert not isinstance(
        translated(FailedError(f"Cannot parse '{message}'"), "bolt://localhost"), EntityGoneError
    )


def test_a_value_with_those_words_is_not_taken_for_it() -> None:
    message = "Cannot parse 'Could not append transaction' as a date"
    assert "disk" not in str(translated(FailedError(message), "bolt://localhost"))
