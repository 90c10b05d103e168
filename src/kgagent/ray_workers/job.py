"""What is sent to a worker process, what it does with each block of work, and what it sends
back.
"""

import asyncio
import os
import pickle
import platform
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import ConfigurationError, KgAgentError, StoreError
from kgagent.graph.bookmarks import bookmarks_of, use_bookmarks
from kgagent.opening import GraphAccess
from kgagent.services import GraphServices

if TYPE_CHECKING:
    import pyarrow
    from ray import ObjectRef

BlockT = TypeVar("BlockT")
ResultT = TypeVar("ResultT")

Work = Callable[[GraphServices, BlockT], Awaitable[ResultT]]
"""Does a block of work in a worker process; a function of a module, which each worker imports."""

BLOCK = "block"
OUTCOME = "outcome"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a worker needs.

    Attributes:
        work: a `Work`.
        access: opens the graph.
        make_embedder: makes the embedder; None is the embedder of `access`.
        embedder: name, model and dimensions of the embedder that the worker must have.
        bookmarks: what the worker must see.
    """

    work: Callable[..., Awaitable[object]]
    access: GraphAccess
    make_embedder: Callable[[], Embedder] | None
    embedder: tuple[str, str, int]
    bookmarks: tuple[str, ...]


class SealedJob:
    """A pickled job, the version of kgagent that sends it, and references to its blocks in Ray's
    object store.

    A job has secrets, and Ray writes the text of such arguments to its records, so the text has
    nothing of it.
    """

    def __init__(self, job: bytes, kgagent: str, blocks: "Sequence[ObjectRef[Any]]") -> None:
        self.job = job
        self.kgagent = kgagent
        self.blocks = blocks

    def __repr__(self) -> str:
        return "SealedJob()"


@dataclass(frozen=True)
class Outcome(Generic[ResultT]):
    """What became of a block.

    Attributes:
        worker: machine and process of the worker.
        bookmarks: what the worker has written and read until now.
        result: what the work returned; None if the worker could not begin.
        error: why the worker could not begin.
    """

    worker: str
    bookmarks: tuple[str, ...] = ()
    result: ResultT | None = None
    error: KgAgentError | None = None


class BlockWorker:
    """What Ray Data creates in each worker process: it keeps one graph open, and works on one block
    at a time.

    A block that is repeated, because its worker was lost, is written by the same compare-and-set as
    before.
    """

    def __init__(self, sealed: SealedJob) -> None:
        self._sealed = sealed
        self._runner = asyncio.Runner()
        self._resources = AsyncExitStack()
        self._opened: tuple[Job, GraphServices] | None = None
        self._name = f"{platform.node()}:{os.getpid()}"

    def __call__(self, blocks: "pyarrow.Table") -> "pyarrow.Table":
        """Work on each row.

        Args:
            blocks: a column `block` of positions among the blocks of the job.

        Returns:
            A column `outcome` of pickled outcomes.
        """
        import pyarrow
        import ray

        positions: list[int] = blocks.column(BLOCK).to_pylist()
        outcomes = [
            pickle.dumps(self._runner.run(self._run(ray.get(self._sealed.blocks[position]))))
            for position in positions
        ]
        return pyarrow.table({OUTCOME: pyarrow.array(outcomes, pyarrow.binary())})

    def close(self) -> None:
        """Close the graph and the event loop; the process of a worker ends without it."""
        self._runner.run(self._resources.aclose())
        self._runner.close()

    async def _run(self, block: object) -> Outcome[object]:
        try:
            job, services = self._opened or await self._open()
        except KgAgentError as error:
            return Outcome(self._name, error=error)
        result = await job.work(services, block)
        return Outcome(self._name, await bookmarks_of(services.store), result)

    async def _open(self) -> tuple[Job, GraphServices]:
        if self._sealed.kgagent != (own := version("kgagent")):
            raise ConfigurationError(
                f"The worker {self._name} has kgagent {own}, and this process "
                f"{self._sealed.kgagent}: install the same "
                "version on all machines of the cluster"
            )
        job: Job = pickle.loads(self._sealed.job)  # noqa: S301 - from the process that started the job
        try:
            services = await self._resources.enter_async_context(job.access.open(job.make_embedder))
            await use_bookmarks(services.store, job.bookmarks)
        except KgAgentError as error:
            kind = StoreError if isinstance(error, StoreError) else ConfigurationError
            raise kind(f"The worker {self._name} could not open the graph: {error}") from error
        embedder = services.write_context.embedder
        if embedder_identity(embedder) != job.embedder:
            raise ConfigurationError(
                f"The worker {self._name} has another embedder ({embedder}) than this process "
                f"({job.embedder[0]}): "
                "give all of them the same settings"
            )
        self._opened = job, services
        return self._opened


def embedder_identity(embedder: Embedder) -> tuple[str, str, int]:
    """The text of an embedder, and what its vectors depend on: model and dimensions."""
    return str(embedder), embedder.model, embedder.dimensions
