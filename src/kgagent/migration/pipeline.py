"""One pass of a migration: one reader, and several concurrent writers that embed and write batches."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Generic

from kgagent.errors import ConflictError, InputError, KgAgentError
from kgagent.graph.writes import WriteContext, WriteResult
from kgagent.migration.passes import InspectedT, IntentT, Pass, Task
from kgagent.migration.prepared import IdleEmbedder, Preparation, PreparedEmbedder
from kgagent.migration.report import MigrationOutcome, Skipped, Tally
from kgagent.progress import Advance

MAX_EXAMINED = 1_000
"""Maximum number of records that are examined before progress is reported."""


@dataclass
class Batch(Generic[IntentT]):
    """The records examined since the last batch, and those of them to migrate."""

    tasks: list[Task[IntentT]] = field(default_factory=list)
    examined: int = 0


class Pipeline(Generic[InspectedT, IntentT]):
    """Runs a pass. The reader waits for the writers, so that memory does not grow with the graph."""

    def __init__(
        self,
        migration: Pass[InspectedT, IntentT],
        tally: Tally,
        advance: Advance,
        *,
        batch_size: int,
        concurrency: int,
    ) -> None:
        self._pass = migration
        self._tally = tally
        self._advance = advance
        self._batch_size = batch_size
        self._max_concurrent = concurrency
        self._batches: asyncio.Queue[Batch[IntentT] | None] = asyncio.Queue(concurrency)
        self._preparation = Preparation(migration.write_context.embedder)

    async def run(self) -> None:
        """Examine every record and migrate those that need it.

        Raises:
            KgAgentError: the database or the embedder failed; written batches stay written.
        """
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._read())
                for _ in range(self._max_concurrent):
                    group.create_task(self._write_batches())
        except BaseExceptionGroup as errors:
            raise _cause(errors) from errors

    async def _read(self) -> None:
        batch: Batch[IntentT] = Batch()
        async with self._pass.inspect() as records:
            async for inspected in records:
                batch.examined += 1
                self._sort_in(batch, self._pass.judge(inspected))
                if len(batch.tasks) >= self._batch_size or batch.examined >= MAX_EXAMINED + self._batch_size:
                    await self._batches.put(batch)
                    batch = Batch()
        await self._batches.put(batch)
        for _ in range(self._max_concurrent):
            await self._batches.put(None)

    def _sort_in(self, batch: Batch[IntentT], verdict: Task[IntentT] | Skipped | None) -> None:
        if isinstance(verdict, Task):
            batch.tasks.append(verdict)
        elif isinstance(verdict, Skipped):
            self._tally.skip(self._pass.kind, verdict)
        else:
            self._tally.add(self._pass.kind, "up_to_date")

    async def _write_batches(self) -> None:
        while batch := await self._batches.get():
            await self._write(batch.tasks)
            self._advance(batch.examined)

    async def _write(self, tasks: Sequence[Task[IntentT]]) -> None:
        embedder, possible = await self._prepared(tasks)
        write_context = replace(self._pass.write_context, embedder=embedder)
        for user_id, owned in _by_user(possible):
            await self._write_for(user_id, owned, write_context)

    async def _prepared(self, tasks: Sequence[Task[IntentT]]) -> tuple[PreparedEmbedder, list[Task[IntentT]]]:
        """Embed the texts of all users in one call, and skip the records whose texts the model refuses."""
        real = self._pass.write_context.embedder
        if self._pass.dry_run:
            return IdleEmbedder(real), list(tasks)
        known, refused = await self._preparation.embed(list(dict.fromkeys(t.text for t in tasks if t.text is not None)))
        for task in tasks:
            if task.text in refused:
                self._tally.skip(self._pass.kind, Skipped(task.what, refused[task.text]))
        return PreparedEmbedder(real, known), [task for task in tasks if task.text not in refused]

    async def _write_for(self, user_id: str, tasks: Sequence[Task[IntentT]], write_context: WriteContext) -> None:
        results = await self._pass.write(user_id, [task.intent for task in tasks], write_context)
        failed: KgAgentError | None = None
        for task, result in zip(tasks, results, strict=True):
            if isinstance(result, WriteResult):
                self._tally.add(self._pass.kind, _outcome(result))
            elif isinstance(result, InputError | ConflictError):
                self._tally.skip(self._pass.kind, Skipped(task.what, str(result)))
            else:
                failed = result
        if failed is not None:
            raise failed


def _outcome(written: WriteResult[Any]) -> MigrationOutcome:
    if written.embedded:
        return "embedded"
    return "updated" if written.changed else "up_to_date"


def _by_user(tasks: Iterable[Task[IntentT]]) -> Iterable[tuple[str, list[Task[IntentT]]]]:
    ordered = sorted(tasks, key=lambda task: task.user_id)
    return ((user_id, list(owned)) for user_id, owned in groupby(ordered, key=lambda task: task.user_id))


def _cause(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that stopped the others; one of kgagent's is preferred, since its text is written for people."""
    ours, others = errors.split(KgAgentError)
    return _first(others if ours is None and others is not None else ours or errors)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
