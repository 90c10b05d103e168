"""Writes the intents of a file's lines in batches."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic

from kgagent.concurrency import KeyedTaskQueue
from kgagent.errors import ConflictError, EmbeddingError, KgAgentError, NotFoundError, StoreError
from kgagent.graph.compare_and_set import IntentT, WriteStrategy, compare_and_set
from kgagent.graph.record_saver import WriteResult
from kgagent.loading.report import CountsInProgress
from kgagent.progress import Advance


@dataclass(frozen=True)
class LineIntent(Generic[IntentT]):
    """What the line of a number wants."""

    number: int
    intent: IntentT


class BatchWriter(Generic[IntentT]):
    """Writes intents; those that are refused become problems of their lines."""

    def __init__(
        self,
        strategy: WriteStrategy[IntentT, Any, Any, WriteResult[Any]],
        problems: dict[int, str],
        *,
        attempts: int,
        batch_size: int,
        batches_at_once: int,
    ) -> None:
        self.count = CountsInProgress()
        self._strategy = strategy
        self._attempts = attempts
        self._problems = problems
        self._size = batch_size
        self._at_once = batches_at_once

    async def write(self, lines: Iterator[LineIntent[IntentT]], advance: Advance) -> None:
        """Write the intents of lines.

        Args:
            lines: read in a thread, a batch at a time.
            advance: told of the lines done.

        Raises:
            EmbeddingError: a batch could not be embedded; batches begun before it are written.
            StoreError: the database failed; likewise.
        """
        async with KeyedTaskQueue(self._at_once) as batches:
            while batch := await asyncio.to_thread(lambda: list(islice(lines, self._size))):
                await batches.start(
                    self._write_batch(batch, advance), (self._strategy.identity(line.intent) for line in batch)
                )

    async def _write_batch(self, batch: list[LineIntent[IntentT]], advance: Advance) -> None:
        outcomes = await compare_and_set(self._strategy, [line.intent for line in batch], attempts=self._attempts)
        for line, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, WriteResult):
                self._take(outcome)
            elif not isinstance(outcome, EmbeddingError | StoreError):
                self._problems[line.number] = _reason(outcome)
        for outcome in outcomes:
            if isinstance(outcome, EmbeddingError | StoreError):
                raise outcome
        advance(len(batch))

    def _take(self, written: WriteResult[Any]) -> None:
        self.count.embedded += written.embedded
        if written.created:
            self.count.created += 1
        elif written.changed:
            self.count.updated += 1
        else:
            self.count.unchanged += 1


def _reason(error: KgAgentError) -> str:
    if isinstance(error, NotFoundError):
        return f"{error}; an end is the id of a good line of the file, or an entity_key of the graph"
    if isinstance(error, ConflictError):
        return f"{error}. Load again; if it gives an entity_key, that may be taken: choose another"
    return str(error)
