"""Having the work of a load or of a migration done by worker processes of Ray Data."""

import asyncio
import logging
import os
import pickle
import platform
import socket
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import ConfigurationError, InputError, KgAgentError, StoreError
from kgagent.extras import require_extra
from kgagent.graph.bookmarks import bookmarks_of, use_bookmarks
from kgagent.opening import GraphAccess
from kgagent.progress import Advance
from kgagent.services import GraphServices

if TYPE_CHECKING:
    import pyarrow
    from ray import ObjectRef

ReturnT = TypeVar("ReturnT")

BLOCKS_PER_WORKER = 4
"""Fewest blocks of each worker, if there is enough work, so that none waits long for the last
one.
"""

CONNECTION_TIMEOUT = 5.0
"""Seconds in which a cluster must answer."""


class Mergeable(Protocol):
    """What work counts and reports; the type is called without arguments to make an empty one."""

    def merge(self, other: Self) -> None:
        """Add what another part of the work has counted."""
        ...


TallyT = TypeVar("TallyT", bound=Mergeable)
JobT = TypeVar("JobT")
ItemT = TypeVar("ItemT")

Work = Callable[[GraphServices, JobT, Sequence[ItemT], TallyT], Awaitable[None]]
"""Does the work of a job for some items in a worker process, and counts it; a function of a module,
which each worker imports.
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
        await asyncio.to_thread(_import_ray)
        sendable = _sendable(access, self)
        # Ray ends the processes that it has started when the thread that started them ends.
        with ThreadPoolExecutor(1, "kgagent-ray") as thread:
            is_own = await _in(thread, _start_ray, self.address, self.workers)
            try:
                yield RayWorkers(self, services, sendable, thread)
            finally:
                if is_own:
                    import ray

                    await _in(thread, ray.shutdown)


class RayWorkers:
    """Runs work in worker processes, while Ray is in use."""

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
        self,
        work: Work[JobT, ItemT, TallyT],
        job: JobT,
        blocks: AsyncIterable[Sequence[ItemT]],
        tally: TallyT,
        advance: Advance,
    ) -> None:
        """Do the work for all blocks of items, in any order.

        Blocks are listed before the first one starts. They wait in Ray's object store, which moves
        them to disk when it is full.

        Args:
            work: a function of a module of kgagent.
            job: what it is called with; can be pickled, as the items can.
            blocks: lists of items.
            tally: receives what the workers count.
            advance: receives the number of items done.

        Raises:
            KgAgentError: what ended the work of a block.
            ConfigurationError: a worker cannot use the graph's embedder, or has another version of
                kgagent.
            StoreError: a worker cannot reach the database, or Ray failed.
        """
        import ray

        references = [await _in(self._thread, ray.put, [*items]) async for items in blocks]
        if not references:
            return
        task = _Task(
            work=partial(_work, work, job, type(tally)),
            access=self._access,
            make_embedder=self.engine.embedder,
            embedder=_identity(self._services.write_context.embedder),
            bookmarks=await bookmarks_of(self._services.store),
        )
        sealed = _SealedTask(_pickled(task), version("kgagent"), references)
        bookmarks: dict[str, tuple[str, ...]] = {}
        rows = _outcomes(sealed, self.engine.workers)
        try:
            while (row := await _in(self._thread, next, rows, None)) is not None:
                outcome: _Outcome = pickle.loads(row)  # noqa: S301 - made by a worker of this task
                bookmarks[outcome.worker] = outcome.bookmarks
                if outcome.tally is not None:
                    tally.merge(outcome.tally)
                if outcome.error is not None:
                    raise outcome.error
                advance(outcome.count)
        except ray.exceptions.RayError as error:
            raise StoreError(f"Ray failed: {str(error).strip().splitlines()[-1]}") from error
        finally:
            await _in(self._thread, rows.close)
        await use_bookmarks(
            self._services.store, {bookmark for seen in bookmarks.values() for bookmark in seen}
        )


class _Task(NamedTuple):
    """What a worker needs."""

    work: Callable[[GraphServices, Sequence[Any]], Awaitable[tuple[Mergeable, KgAgentError | None]]]
    access: GraphAccess
    make_embedder: Callable[[], Embedder] | None
    embedder: tuple[str, str, int]
    bookmarks: tuple[str, ...]


@dataclass(frozen=True)
class _SealedTask:
    """A pickled task, the version of kgagent that sends it, and references to its blocks in Ray's
    object store.

    A task has secrets, and Ray writes the text of such arguments to its records, so the text has
    nothing of it.
    """

    task: bytes = field(repr=False)
    kgagent: str
    blocks: "Sequence[ObjectRef[Any]]" = field(repr=False)


@dataclass(frozen=True)
class _Outcome:
    """What became of a block.

    Attributes:
        worker: machine and process of the worker.
        bookmarks: what the worker has written and read until now.
        count: number of its items.
        tally: what the work counted; None if the worker could not begin.
        error: why it could not begin, or what ended the work.
    """

    worker: str
    bookmarks: tuple[str, ...] = ()
    count: int = 0
    tally: Any = None
    error: KgAgentError | None = None


class _BlockWorker:
    """What Ray Data creates in each worker process: it keeps one graph open, and works on one block
    at a time.

    A block that is repeated, because its worker was lost, is written by the same compare-and-set as
    before.
    """

    def __init__(self, sealed: _SealedTask) -> None:
        self._sealed = sealed
        self._runner = asyncio.Runner()
        # Nothing closes the graph: the process ends without it.
        self._resources = AsyncExitStack()
        self._opened: tuple[_Task, GraphServices] | None = None
        self._name = f"{platform.node()}:{os.getpid()}"

    def __call__(self, blocks: "pyarrow.Table") -> "pyarrow.Table":
        """Work on each row.

        Args:
            blocks: a column `block` of positions among the blocks of the task.

        Returns:
            A column `outcome` of pickled outcomes.
        """
        import pyarrow
        import ray

        outcomes = [
            pickle.dumps(self._runner.run(self._run(ray.get(self._sealed.blocks[position]))))
            for position in blocks.column("block").to_pylist()
        ]
        return pyarrow.table({"outcome": pyarrow.array(outcomes, pyarrow.binary())})

    async def _run(self, items: Sequence[Any]) -> _Outcome:
        try:
            self._opened = task, services = self._opened or await self._open()
        except KgAgentError as error:
            return _Outcome(self._name, error=error)
        tally, stopped = await task.work(services, items)
        bookmarks = await bookmarks_of(services.store)
        return _Outcome(self._name, bookmarks, len(items), tally, stopped)

    async def _open(self) -> tuple[_Task, GraphServices]:
        if self._sealed.kgagent != (own := version("kgagent")):
            raise ConfigurationError(
                f"The worker {self._name} has kgagent {own}, and this process "
                f"{self._sealed.kgagent}: install the same version on all machines of the cluster"
            )
        task: _Task = pickle.loads(self._sealed.task)  # noqa: S301 - from the process that sent it
        try:
            services = await self._resources.enter_async_context(
                task.access.open(task.make_embedder)
            )
            await use_bookmarks(services.store, task.bookmarks)
        except KgAgentError as error:
            kind = StoreError if isinstance(error, StoreError) else ConfigurationError
            raise kind(f"The worker {self._name} could not open the graph: {error}") from error
        embedder = services.write_context.embedder
        if _identity(embedder) != task.embedder:
            raise ConfigurationError(
                f"The worker {self._name} has another embedder ({embedder}) than this process "
                f"({task.embedder[0]}): give all of them the same settings"
            )
        return task, services


async def _work(
    work: Work[Any, Any, Any],
    job: object,
    make_tally: Callable[[], Mergeable],
    services: GraphServices,
    items: Sequence[Any],
) -> tuple[Mergeable, KgAgentError | None]:
    tally = make_tally()
    try:
        await work(services, job, items, tally)
    except KgAgentError as error:
        return tally, error
    return tally, None


def _identity(embedder: Embedder) -> tuple[str, str, int]:
    """The text of an embedder, and what its vectors depend on: model and dimensions."""
    return str(embedder), embedder.model, embedder.dimensions


def _outcomes(sealed: _SealedTask, workers: int) -> Generator[bytes]:
    """Do a task by Ray Data; all calls come from one thread."""
    import ray.data

    with _quiet_data():
        positions = [{"block": position} for position in range(len(sealed.blocks))]
        dataset = ray.data.from_items(positions, override_num_blocks=len(positions)).map_batches(
            _BlockWorker,
            fn_constructor_args=(sealed,),
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(positions))),
            num_cpus=1,
        )
        for row in dataset.iter_rows():
            yield row["outcome"]


def _sendable(access: GraphAccess | None, engine: RayEngine) -> GraphAccess:
    """What the workers open, without the parts that they do not need.

    Raises:
        ConfigurationError: a part cannot be sent to another process.
    """
    if access is None or access.login is None:
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
            f"the settings, or give RayEngine a function of a module that makes it"
        ) from error
    return access


def _pickled(value: object) -> bytes:
    """Pickle a value, with functions of the main program and of a notebook."""
    from ray import cloudpickle

    dumps: Callable[[object], bytes] = cloudpickle.dumps
    return dumps(value)


async def _in(thread: ThreadPoolExecutor, function: Callable[..., ReturnT], *args: Any) -> ReturnT:  # noqa: ANN401
    return await asyncio.wrap_future(thread.submit(function, *args))


def _import_ray() -> None:
    with require_extra("ray"):
        import pyarrow  # noqa: F401
        import ray.data  # noqa: F401


def _start_ray(address: str | None, workers: int) -> bool:
    """Start Ray or connect to it, unless the program has done so; return whether this call did.

    Args:
        address: an existing cluster, "auto" for that of this machine, or None to start Ray here.
        workers: CPUs of a Ray that is started.

    Raises:
        ConfigurationError: it is not possible.
    """
    import ray

    if ray.is_initialized():
        return False
    if address is not None:
        _check_address(address)
    # Ray's processes send no report to its makers, and write no log of its internals here.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    local: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(
            address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if address else local),
        )
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        where = f"the cluster {address}" if address else "this machine"
        advice = ". If the cluster requires a token, set RAY_AUTH_MODE=token" if address else ""
        raise ConfigurationError(f"Ray cannot be used on {where}: {error}{advice}") from error
    return True


def _check_address(address: str) -> None:
    """Refuse a cluster that does not answer; Ray would end this process.

    Raises:
        ConfigurationError: there is no server at the address.
    """
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigurationError(
            f'The address of a Ray cluster is "auto" or host:port, got {address!r}'
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTION_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"No Ray cluster answers at {address}: {error}. `ray status` on its head node shows "
            f"the address"
        ) from error


@contextmanager
def _quiet_data() -> Iterator[None]:
    """Let Ray Data print neither its plans nor progress bars; the command line has its own."""
    import ray.data

    log, context = logging.getLogger("ray.data"), ray.data.DataContext.get_current()
    before = log.level, context.enable_progress_bars
    log.setLevel(logging.ERROR)
    context.enable_progress_bars = False
    try:
        yield
    finally:
        log.setLevel(before[0])
        context.enable_progress_bars = before[1]
