"""Writing lines by worker processes: this process divides them by record, and each worker writes blocks of them."""

import asyncio
import pickle
from array import array
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any, Generic, Self, TypeVar

from kgagent.errors import EmbeddingError, StoreError
from kgagent.files.batch_writer import BatchSizes, BatchWriter, LineIntent
from kgagent.files.load_report import LoadCounts
from kgagent.files.load_strategies import LineKind, LineStrategy, line_strategy
from kgagent.progress import Advance
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, kw_only=True)
class LineBlock:
    """Lines to write; all lines about a record are in the same block, in the order of the file.

    Attributes:
        kind: what the lines are about.
        user_id: owner of the graph.
        lines: the lines.
        sizes: sizes of the worker's batches.
    """

    kind: LineKind
    user_id: str
    lines: Sequence[LineIntent[Any]]
    sizes: BatchSizes


@dataclass(frozen=True)
class WrittenBlock:
    """What became of a block.

    Attributes:
        done: number of lines that were written or have problems.
        counts: the lines that were written.
        embedded: number of embeddings made.
        problems: the lines that were not written, by number.
        error: why the rest was not written.
    """

    done: int
    counts: LoadCounts
    embedded: int
    problems: dict[int, str]
    error: EmbeddingError | StoreError | None


class WorkersWriter(BatchWriter[Any]):
    """A `BatchWriter` that has the lines written by worker processes."""

    def __init__(
        self,
        strategy: LineStrategy,
        problems: dict[int, str],
        sizes: BatchSizes,
        workers: RayWorkers,
        *,
        kind: LineKind,
        user_id: str,
        total: int,
    ) -> None:
        super().__init__(strategy, problems, sizes)
        self._workers = workers
        self._kind: LineKind = kind
        self._user_id = user_id
        self._parts = max(1, -(-total // workers.engine.size_for(total)))

    async def write(self, lines: Iterator[LineIntent[Any]], advance: Advance) -> None:
        """Write the intents of lines; see `BatchWriter.write`.

        A worker writes the lines of a block by a `BatchWriter` of its own. If a worker is lost, its block is written
        again, as if the file were loaded again; a record that it had created is then counted as unchanged or updated.
        """
        with Spool[LineIntent[Any]](self._parts) as spool:
            await asyncio.to_thread(spool.fill, lines, lambda line: self._strategy.identity(line.intent))
            async with aclosing(self._workers.run(write_block, self._blocks(spool))) as written:
                async for block in written:
                    self._counts.update(block.counts.model_dump())
                    self.embedded += block.embedded
                    self._problems |= block.problems
                    if block.error is not None:
                        raise block.error
                    advance(block.done)

    async def _blocks(self, spool: "Spool[LineIntent[Any]]") -> AsyncIterator[LineBlock]:
        for part in range(self._parts):
            if lines := await asyncio.to_thread(spool.read, part):
                yield LineBlock(kind=self._kind, user_id=self._user_id, lines=lines, sizes=self._sizes)


async def write_block(services: GraphServices, block: LineBlock) -> WrittenBlock:
    """Write a block in a worker."""
    problems: dict[int, str] = {}
    strategy = line_strategy(
        block.kind,
        nodes=services.nodes,
        relationships=services.relationships,
        write_context=services.write_context,
        user_id=block.user_id,
    )
    writer: BatchWriter[Any] = BatchWriter(strategy, problems, block.sizes)
    error = None
    try:
        async with services.store.reachability.watched():
            await writer.write(iter(block.lines), lambda _: None)
    except (EmbeddingError, StoreError) as stopped:
        error = stopped
    return WrittenBlock(len(block.lines), writer.counts(), writer.embedded, problems, error)


class Spool(Generic[ItemT]):
    """Items in a temporary file, divided into parts; in memory is only where they are."""

    def __init__(self, parts: int) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed by the block
        self._places = [array("q") for _ in range(parts)]

    def __enter__(self) -> Self:
        """Keep the file for a block of code."""
        return self

    def __exit__(self, *_: object) -> None:
        """Delete the file."""
        self._file.close()

    def fill(self, items: Iterable[ItemT], key: Callable[[ItemT], Hashable]) -> None:
        """Add items; those with the same key get into the same part, in their order."""
        for item in items:
            self._places[hash(key(item)) % len(self._places)].append(self._file.tell())
            pickle.dump(item, self._file)

    def read(self, part: int) -> list[ItemT]:
        """Read the items of a part."""
        return [self._at(place) for place in self._places[part]]

    def _at(self, place: int) -> ItemT:
        self._file.seek(place)
        item: ItemT = pickle.load(self._file)  # noqa: S301 - written by this process
        return item
