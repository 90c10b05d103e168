"""Writing lines by worker processes: this process divides them by record, and each worker writes
blocks of them.
"""

import asyncio
import pickle
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any

from kgagent.errors import KgAgentError
from kgagent.files.batch_writing import LineItem
from kgagent.files.load_writer import LoadJob, LoadWriter
from kgagent.progress import Advance
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices


@dataclass(frozen=True)
class LineBlock:
    """Lines to write; all lines about a record are in the same block, in the order of the file."""

    job: LoadJob
    lines: Sequence[LineItem[Any]]


@dataclass(frozen=True)
class WrittenBlock:
    """What became of a block.

    Attributes:
        done: number of lines that were written or have problems.
        counts: number of lines by outcome.
        embedded: number of embeddings made.
        problems: why lines were not written, by line number.
        remarks: what is stored otherwise than a line says, likewise.
        error: why the rest was not written.
    """

    done: int
    counts: Counter[str]
    embedded: int
    problems: dict[int, str]
    remarks: dict[int, str]
    error: KgAgentError | None


class WorkersWriter(LoadWriter):
    """A `LoadWriter` that has the lines written by worker processes."""

    def __init__(
        self,
        services: GraphServices,
        job: LoadJob,
        problems: dict[int, str],
        workers: RayWorkers,
        total: int,
    ) -> None:
        super().__init__(services, job, problems)
        self._workers = workers
        self._parts = max(1, -(-total // workers.engine.size_for(total)))

    async def write(self, lines: Iterator[LineItem[Any]], advance: Advance) -> None:
        """Write the intents of lines; see `LoadWriter.write`.

        A worker writes the lines of a block by a `LoadWriter` of its own. If a worker is lost, its
        block is written again, as if the file were loaded again; a record that it had created is
        then counted as unchanged or updated.
        """
        with TemporaryFile() as file:
            parts = await asyncio.to_thread(self._divide, lines, file)
            async with aclosing(
                self._workers.run(write_block, self._blocks(parts, file))
            ) as written:
                async for block in written:
                    self.counts.update(block.counts)
                    self.embedded += block.embedded
                    self.problems |= block.problems
                    self.remarks |= block.remarks
                    if block.error is not None:
                        raise block.error
                    advance(block.done)

    def _divide(self, lines: Iterator[LineItem[Any]], file: IO[bytes]) -> "list[array[int]]":
        """Write lines to a file, and return their offsets in it by part; all lines about a record
        are in one part.
        """
        parts = [array("q") for _ in range(self._parts)]
        for line in lines:
            parts[hash(self.identity(line)) % len(parts)].append(file.tell())
            pickle.dump(line, file)
        return parts

    async def _blocks(self, parts: "list[array[int]]", file: IO[bytes]) -> AsyncIterator[LineBlock]:
        for offsets in parts:
            if lines := await asyncio.to_thread(_read_part, offsets, file):
                yield LineBlock(self.job, lines)


def _read_part(offsets: "array[int]", file: IO[bytes]) -> list[LineItem[Any]]:
    lines = []
    for offset in offsets:
        file.seek(offset)
        lines.append(pickle.load(file))  # noqa: S301 - written by this process
    return lines


async def write_block(services: GraphServices, block: LineBlock) -> WrittenBlock:
    """Write a block in a worker."""
    writer = LoadWriter(services, block.job, {})
    error = None
    try:
        async with services.store.reachability.watched():
            await writer.write(iter(block.lines), lambda _: None)
    except KgAgentError as stopped:
        error = stopped
    return WrittenBlock(
        len(block.lines), writer.counts, writer.embedded, writer.problems, writer.remarks, error
    )
