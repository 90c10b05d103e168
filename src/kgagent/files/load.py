"""Loads a JSON Lines file: first a check, then the nodes, then the relationships."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from kgagent.batches import check_batch_size
from kgagent.errors import InputError
from kgagent.files.batch_writing import resumable
from kgagent.files.load_reader import LoadReader
from kgagent.files.load_workers import WorkersWriter
from kgagent.files.load_writer import LineKind, LoadJob, LoadWriter
from kgagent.files.reports import LineProblem, LoadCounts, LoadReport
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices
from kgagent.validation import check_user_id


async def load_file(
    path: Path,
    services: GraphServices,
    *,
    user_id: str,
    batch_size: int,
    concurrency: int,
    progress: Progress | None = None,
    workers: AbstractAsyncContextManager[RayWorkers] | None = None,
) -> LoadReport:
    """Load nodes and relationships into a user's graph; unchanged records make no embedding request.

    An invalid line is reported and does not stop the others. Relationships may precede their nodes. The file is read
    three times and never held in memory.

    Args:
        path: JSON Lines in UTF-8; FORMAT.md in this folder describes the format.
        services: the parts of the graph.
        user_id: owner of the graph.
        batch_size: lines per transaction, from 1.
        concurrency: maximum number of concurrent batches, from 1.
        progress: receives the number of lines.
        workers: processes that write the lines, each with so many batches; None is this process.

    Raises:
        ConfigurationError: the workers cannot be used.
        InputError: the file cannot be read or is no JSON Lines file, or an argument is invalid.
        EmbeddingError: a batch could not be embedded; the message says how many lines are loaded. Load the file again
            to continue.
        StoreError: the database failed; likewise.
    """
    check_user_id(user_id)
    check_batch_size(batch_size)
    if concurrency < 1:
        raise InputError(f"concurrency must be at least 1, got {concurrency}")
    started = time.perf_counter()
    progress = progress or SilentProgress()
    reader = LoadReader(
        path,
        user_id=user_id,
        ontology=services.ontology,
        now=services.write_context.clock(),
        owners={owner.entity_key: owner.name or "the node" for owner in await services.references.owners(user_id)},
    )
    with progress.task(f"Checking {path.name}"):
        await asyncio.to_thread(reader.check)
    async with workers or nullcontext() as opened:

        def writer(kind: LineKind, total: int) -> LoadWriter:
            job = LoadJob(kind=kind, user_id=user_id, batch_size=batch_size, concurrency=concurrency)
            if opened is None:
                return LoadWriter(services, job, reader.problems)
            return WorkersWriter(services, job, reader.problems, opened, total)

        node_writer = writer("nodes", reader.nodes)
        relationship_writer = writer("relationships", reader.relationships)
        total = reader.nodes + reader.relationships
        with resumable(path, "load", total=total, done=lambda: node_writer.done + relationship_writer.done):
            # Embedding can take long; a database that is gone by then is noticed before it ends.
            async with services.store.reachability.watched():
                with progress.task("Loading nodes", reader.nodes) as advance:
                    await node_writer.write(reader.node_intents(), advance)
                with progress.task("Loading relationships", reader.relationships) as advance:
                    await relationship_writer.write(reader.relationship_intents(), advance)
    return LoadReport(
        nodes=LoadCounts(**node_writer.counts),
        relationships=LoadCounts(**relationship_writer.counts),
        embedded=node_writer.embedded + relationship_writer.embedded,
        problems=tuple(LineProblem(line=line, reason=reason) for line, reason in sorted(reader.problems.items())),
        seconds=time.perf_counter() - started,
    )
