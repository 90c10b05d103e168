"""The state of a migration by batches: texts, batches and embeddings, in a file that outlives the process."""

import sqlite3
import time
import uuid
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kgagent.embedding.base import Embedding
from kgagent.embedding.openai_batch import BatchResult
from kgagent.errors import InputError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (model TEXT NOT NULL, dimensions INTEGER NOT NULL, run TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY AUTOINCREMENT, since INTEGER NOT NULL, batch_id TEXT, is_read INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS texts (
    hash TEXT PRIMARY KEY, text TEXT, batch INTEGER, embedding BLOB, reason TEXT
);
CREATE INDEX IF NOT EXISTS texts_by_batch ON texts (batch);
"""

_APPLICATION_ID = 0x6B67_6162
"""Marks a SQLite file as a state of this kind, so that no other database is changed or deleted."""

_MOST_PARAMETERS = 500


@dataclass(frozen=True)
class OpenBatch:
    """A batch whose results have not been read.

    Attributes:
        number: number within the file.
        since: Unix time before which it was not created.
        batch_id: OpenAI's id; None if it is not known whether it was created.
    """

    number: int
    since: int
    batch_id: str | None


class BatchState:
    """Texts by their hash, each waiting, in a batch, embedded or refused.

    Each change is on the disk before the next step, so that a killed process loses no batch that is paid for.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, run: str) -> None:
        self.path = path
        self.run = run
        self._db = connection

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, model: str, dimensions: int) -> Iterator[Self]:
        """Open the file for a block, or create it; only its owner can read it, and no other process can open it.

        Args:
            path: the file.
            model: name of the model, as it is stored with each vector.
            dimensions: length of its embeddings.

        Raises:
            InputError: the file cannot be used, is in use, or is of another model.
        """
        try:
            path.touch(mode=0o600)
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"The state file {path} cannot be opened: {error}. Choose another file") from error
        try:
            run = _prepare(path, connection, model, dimensions)
            yield cls(path, connection, run)
        finally:
            connection.close()

    def add(self, texts: Iterable[tuple[str, str]]) -> int:
        """Add texts by their hash, without those that are known; texts that were refused are tried again.

        Returns:
            The number of texts that were added.
        """
        with self._transaction():
            before = self._db.total_changes
            self._db.executemany(
                "INSERT INTO texts (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE "
                "SET batch = NULL, reason = NULL, text = excluded.text WHERE reason IS NOT NULL",
                texts,
            )
            return self._db.total_changes - before

    @property
    def waiting(self) -> int:
        """Number of texts that are in no batch yet."""
        return self._count("batch IS NULL AND embedding IS NULL AND reason IS NULL")

    @property
    def enqueued(self) -> int:
        """Number of texts in batches whose results have not been read."""
        return self._count("batch IS NOT NULL AND embedding IS NULL AND reason IS NULL")

    def open_batches(self) -> list[OpenBatch]:
        """The batches whose results have not been read."""
        rows = self._db.execute("SELECT number, since, batch_id FROM batches WHERE NOT is_read ORDER BY number")
        return [OpenBatch(*row) for row in rows]

    def texts_waiting(self) -> Iterator[tuple[str, str]]:
        """Hashes and texts that are in no batch yet."""
        yield from self._db.execute(
            "SELECT hash, text FROM texts WHERE batch IS NULL AND embedding IS NULL AND reason IS NULL ORDER BY rowid"
        )

    def texts_of(self, number: int) -> Iterator[tuple[str, str]]:
        """Hashes and texts of a batch."""
        yield from self._db.execute("SELECT hash, text FROM texts WHERE batch = ? ORDER BY rowid", (number,))

    def begin(self, hashes: Sequence[str]) -> OpenBatch:
        """Put texts into a batch that is about to be created."""
        since = int(time.time())
        with self._transaction():
            number = self._db.execute("INSERT INTO batches (since) VALUES (?)", (since,)).lastrowid or 0
            self._db.executemany("UPDATE texts SET batch = ? WHERE hash = ?", ((number, one) for one in hashes))
        return OpenBatch(number, since, None)

    def created(self, number: int, batch_id: str) -> None:
        """Remember the id of a batch."""
        self._db.execute("UPDATE batches SET batch_id = ? WHERE number = ?", (batch_id, number))

    def release(self, number: int) -> None:
        """Take the texts out of a batch that was refused."""
        with self._transaction():
            self._db.execute("UPDATE texts SET batch = NULL WHERE batch = ?", (number,))
            self._db.execute("DELETE FROM batches WHERE number = ?", (number,))

    def finish(self, number: int, results: Iterable[BatchResult], *, otherwise: str) -> None:
        """Keep the results of a batch.

        Args:
            number: the batch.
            results: what it returned.
            otherwise: reason for texts without a result.
        """
        with self._transaction():
            self._db.executemany(
                "UPDATE texts SET embedding = ?, reason = ?, text = NULL WHERE hash = ? AND batch = ?",
                (
                    (
                        None if one.embedding is None else one.embedding.tobytes(),
                        one.reason or None,
                        one.custom_id,
                        number,
                    )
                    for one in results
                ),
            )
            self._db.execute(
                "UPDATE texts SET reason = ? WHERE batch = ? AND embedding IS NULL AND reason IS NULL",
                (otherwise, number),
            )
            self._db.execute("UPDATE batches SET is_read = 1 WHERE number = ?", (number,))

    def results(self, hashes: Sequence[str]) -> tuple[Mapping[str, Embedding], Mapping[str, str]]:
        """The embeddings, and the reasons of refusals, of those texts that have one; both by hash."""
        embeddings: dict[str, Embedding] = {}
        reasons: dict[str, str] = {}
        for first in range(0, len(hashes), _MOST_PARAMETERS):
            some = hashes[first : first + _MOST_PARAMETERS]
            marks = ", ".join("?" * len(some))
            rows = self._db.execute(f"SELECT hash, embedding, reason FROM texts WHERE hash IN ({marks})", some)  # noqa: S608
            for one, embedding, reason in rows:
                if embedding is not None:
                    embeddings[one] = array("f", embedding)
                elif reason is not None:
                    reasons[one] = reason
        return embeddings, reasons

    def delete(self) -> None:
        """Delete the file; the state must not be used afterwards."""
        self._db.close()
        self.path.unlink(missing_ok=True)

    def _count(self, where: str) -> int:
        [(count,)] = self._db.execute(f"SELECT count(*) FROM texts WHERE {where}").fetchall()  # noqa: S608
        return int(count)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _prepare(path: Path, connection: sqlite3.Connection, model: str, dimensions: int) -> str:
    """Lock the file, create its tables, and return the name of the run that created it."""
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_master")
        if tables and connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION_ID,):
            raise InputError(f"{path} is a database of another program; choose another file")
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.executescript(_SCHEMA)
        about = connection.execute("SELECT model, dimensions, run FROM about").fetchall()
        if not about:
            about = [(model, dimensions, uuid.uuid4().hex)]
            connection.executemany("INSERT INTO about VALUES (?, ?, ?)", about)
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise InputError(f"The state file {path} cannot be used: {error}. Choose another file") from error
        raise InputError(f"The state file {path} is in use by another process; wait until it has ended") from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} is not a state file of a migration: {error}. Choose another file") from error
    [(known_model, known_dimensions, run)] = about
    if (known_model, known_dimensions) != (model, dimensions):
        raise InputError(
            f"The state file {path} is of {known_model}, {known_dimensions} dimensions, and the graph's embedder is "
            f"{model}, {dimensions} dimensions; choose another file"
        )
    return str(run)
