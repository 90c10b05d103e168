"""Writes the intents of a file's lines in batches."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic

from kgagent.errors import ConflictError, EmbeddingError, KgAgentError, NotFoundError, SharedKeyError, StoreError
from kgagent.files.keyed_task_queue import KeyedTaskQueue
from kgagent.files.load_report import LoadCounts
from kgagent.graph.compare_and_set import IntentT, WriteStrategy, compare_and_set
from kgagent.graph.writes import WriteResult
from kgagent.progress import Advance


@dataclass(frozen=True)
class LineIntent(Generic[IntentT]):
    """The write that a line requests."""

    number: int
    intent: IntentT


@dataclass(frozen=True, kw_only=True)
class BatchSizes:
    """How lines are written in batches.

    Attributes:
        attempts: maximum number of attempts for a write that meets conflicts.
        batch_size: lines per transaction, from 1.
        concurrency: maximum number of concurrent batches, from 1.
    """

    attempts: int
    batch_size: int
    concurrency: int


class BatchWriter(Generic[IntentT]):
    """Writes the intents of lines; rejected intents become problems of their lines."""

    def __init__(
        self,
        strategy: WriteStrategy[IntentT, Any, Any, WriteResult[Any]],
        problems: dict[int, str],
        sizes: BatchSizes,
    ) -> None:
        self.embedded = 0
        self._counts = Counter[str]()
        self._strategy = strategy
        self._problems = problems
        self._sizes = sizes

    def counts(self) -> LoadCounts:
        """The counts so far."""
        return LoadCounts(**self._counts)

    async def write(self, lines: Iterator[LineIntent[IntentT]], advance: Advance) -> None:
        """Write the intents of lines.

        Args:
            lines: iterated in a thread, one batch at a time.
            advance: receives the number of lines done.

        Raises:
            EmbeddingError: a batch could not be embedded; batches that were already running are written.
            StoreError: the database failed; likewise.
        """
        async with KeyedTaskQueue(self._sizes.concurrency) as batches:
            while batch := await asyncio.to_thread(lambda: list(islice(lines, self._sizes.batch_size))):
                await batches.start(
                    self._write_batch(batch, advance), (self._strategy.identity(line.intent) for line in batch)
                )

    async def _write_batch(self, batch: list[LineIntent[IntentT]], advance: Advance) -> None:
        outcomes = await compare_and_set(self._strategy, [line.intent for line in batch], attempts=self._sizes.attempts)
        for line, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, WriteResult):
                self._count(outcome)
            elif not isinstance(outcome, EmbeddingError | StoreError):
                self._problems[line.number] = _reason(outcome)
        for outcome in outcomes:
            if isinstance(outcome, EmbeddingError | StoreError):
                raise outcome
        advance(len(batch))

    def _count(self, result: WriteResult[Any]) -> None:
        self.embedded += result.embedded
        self._counts["created" if result.created else "updated" if result.changed else "unchanged"] += 1


def _reason(error: KgAgentError) -> str:
    if isinstance(error, NotFoundError):
        return f"{error}; `from` and `to` must be the id of a valid line of the file, or an entity_key of the graph"
    if isinstance(error, ConflictError) and not isinstance(error, SharedKeyError):
        return f"{error}. Load the file again"
    return str(error)
