"""Running blocks of work in worker processes of Ray Data."""

import asyncio
import pickle
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import ParamSpec, TypeVar, cast

from kgagent.embedding.base import Embedder
from kgagent.errors import ConfigurationError, InputError, StoreError
from kgagent.graph.bookmarks import bookmarks_of, use_bookmarks
from kgagent.opening import GraphAccess
from kgagent.ray_workers.job import (
    BLOCK,
    OUTCOME,
    BlockT,
    BlockWorker,
    Job,
    Outcome,
    ResultT,
    SealedJob,
    Work,
    embedder_identity,
)
from kgagent.ray_workers.session import import_ray, quiet_data, start_ray
from kgagent.services import GraphServices

ParametersT = ParamSpec("ParametersT")
ReturnT = TypeVar("ReturnT")

BLOCKS_PER_WORKER = 4
"""Fewest blocks of each worker, if there is enough work, so that none waits long for the last
one.
"""


@dataclass(frozen=True, kw_only=True)
class RayEngine:
    """Has a load or a migration done by worker processes of Ray Data.

    Each worker opens the graph once more, with connections and an embedder of its own, and writes
    by the same compare-and-set as every write. The block of a worker that is lost is repeated by
    another one, which writes nothing twice.

    Attributes:
        workers: number of worker processes, each of which takes one CPU of Ray, from 1.
        address: an existing cluster, such as "10.0.0.5:6379", or "auto" for the one of this
            machine; None starts Ray on this machine for the duration of the call. A program that
            has called `ray.init` uses that.
        block_size: maximum number of records or lines that a worker takes at once, from 1.
        embedder: called in each worker to make the embedder, if the graph's own cannot be sent to
            another process.
    """

    workers: int = 2
    address: str | None = None
    block_size: int = 2_000
    embedder: Callable[[], Embedder] | None = None

    def __post_init__(self) -> None:
        """Reject sizes below 1."""
        if self.workers < 1 or self.block_size < 1:
            raise InputError(
                f"workers and block_size must be at least 1, got {self.workers} and "
                f"{self.block_size}"
            )

    def size_for(self, total: int) -> int:
        """The size of blocks for this amount of work."""
        return max(1, min(self.block_size, -(-total // (self.workers * BLOCKS_PER_WORKER))))

    @asynccontextmanager
    async def open(
        self, services: GraphServices, access: GraphAccess | None
    ) -> AsyncIterator["RayWorkers"]:
        """Use Ray for a block.

        Args:
            services: the open graph.
            access: opens it once more; None if it was created without `connect`.

        Raises:
            ConfigurationError: Ray cannot be used, or the graph cannot be opened in another
                process.
        """
        ray = await asyncio.to_thread(import_ray)
        sendable = _sendable(access, self)
        # Ray ends the processes that it has started when the thread that started them ends.
        with ThreadPoolExecutor(1, "kgagent-ray") as thread:
            is_own = await _in(thread, start_ray, self.address, self.workers)
            try:
                yield RayWorkers(self, services, sendable, thread)
            finally:
                if is_own:
                    await _in(thread, ray.shutdown)


class RayWorkers:
    """Runs blocks of work in worker processes, while Ray is in use."""

    def __init__(
        self,
        engine: RayEngine,
        services: GraphServices,
        access: GraphAccess,
        thread: ThreadPoolExecutor,
    ) -> None:
        self.engine = engine
        self._services = services
        self._access = access
        self._thread = thread

    async def run(
        self, work: Work[BlockT, ResultT], blocks: AsyncIterable[BlockT]
    ) -> AsyncGenerator[ResultT]:
        """Work on all blocks, in any order, and yield what the work returns, as it is done.

        Blocks are listed before the first one starts. They wait in Ray's object store, which moves
        them to disk when it is full.

        Args:
            work: a function of a module of kgagent.
            blocks: what can be pickled.

        Raises:
            ConfigurationError: a worker cannot use the graph's embedder, or has another version of
                kgagent.
            StoreError: a worker cannot reach the database, or Ray failed.
        """
        import ray

        references = [await _in(self._thread, ray.put, block) async for block in blocks]
        if not references:
            return
        sealed = SealedJob(await self._job(work), version("kgagent"), references)
        bookmarks: dict[str, tuple[str, ...]] = {}
        rows = _outcomes(sealed, self.engine.workers)
        try:
            while (row := await _in(self._thread, next, rows, None)) is not None:
                outcome: Outcome[ResultT] = pickle.loads(row)  # noqa: S301 - made by a worker of this job
                if outcome.error is not None:
                    raise outcome.error
                bookmarks[outcome.worker] = outcome.bookmarks
                yield cast("ResultT", outcome.result)
        except ray.exceptions.RayError as error:
            raise StoreError(f"Ray failed: {str(error).strip().splitlines()[-1]}") from error
        finally:
            await _in(self._thread, rows.close)
        await use_bookmarks(
            self._services.store, {bookmark for seen in bookmarks.values() for bookmark in seen}
        )

    async def _job(self, work: Work[BlockT, ResultT]) -> bytes:
        job = Job(
            work=work,
            access=self._access,
            make_embedder=self.engine.embedder,
            embedder=embedder_identity(self._services.write_context.embedder),
            bookmarks=await bookmarks_of(self._services.store),
        )
        return _pickled(job)


def _outcomes(sealed: SealedJob, workers: int) -> Generator[bytes]:
    """Run a job by Ray Data; all calls come from one thread."""
    import ray.data

    with quiet_data():
        positions = [{BLOCK: position} for position in range(len(sealed.blocks))]
        dataset = ray.data.from_items(positions, override_num_blocks=len(positions)).map_batches(
            BlockWorker,
            fn_constructor_args=(sealed,),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(positions))),
            num_cpus=1,
        )
        for row in dataset.iter_rows():
            yield row[OUTCOME]


def _sendable(access: GraphAccess | None, engine: RayEngine) -> GraphAccess:
    """What the workers open, without the parts that they do not need.

    Raises:
        ConfigurationError: a part cannot be sent to another process.
    """
    login = None if access is None else access.login
    if access is None or login is None:
        raise ConfigurationError(
            "Workers of Ray open the graph once more and cannot use your open driver: "
            "connect with uri, username and password, or with NEO4J_URI"
        )
    if engine.embedder is not None:
        access = replace(access, embedder=None)
    try:
        _pickled((access, engine.embedder))
    except Exception as error:
        raise ConfigurationError(
            f"The graph cannot be opened by the workers of Ray ({error}): choose the embedder in "
            f"the settings, or give "
            "RayEngine a function of a module that makes it"
        ) from error
    return access


def _pickled(value: object) -> bytes:
    """Pickle a value, with functions of the main program and of a notebook."""
    from ray import cloudpickle

    dumps: Callable[[object], bytes] = cloudpickle.dumps
    return dumps(value)


async def _in(
    thread: ThreadPoolExecutor,
    function: Callable[ParametersT, ReturnT],
    /,
    *args: ParametersT.args,
    **kwargs: ParametersT.kwargs,
) -> ReturnT:
    return await asyncio.get_running_loop().run_in_executor(
        thread, partial(function, *args, **kwargs)
    )
