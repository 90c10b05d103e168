"""Loads a JSON Lines file: first a check, then the nodes, then the relationships."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

from kgagent.errors import EmbeddingError, InputError, StoreError
from kgagent.files.batch_writer import BatchSizes, BatchWriter, LineIntent
from kgagent.files.load_check import FileCheck, check_file, valid_lines
from kgagent.files.load_intents import LineConverter
from kgagent.files.load_lines import NodeLine, RelationshipLine
from kgagent.files.load_report import LineProblem, LoadReport
from kgagent.files.load_strategies import LineKind, line_strategy
from kgagent.files.load_workers import WorkersWriter
from kgagent.files.node_keys import node_key
from kgagent.graph.node_references import NodeReferences
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.writes import WriteContext
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayWorkers
from kgagent.validation import check_user_id

BATCH_SIZE = 500
CONCURRENCY = 3


async def load_file(
    path: Path,
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    write_context: WriteContext,
    user_id: str,
    batch_size: int = BATCH_SIZE,
    concurrency: int = CONCURRENCY,
    progress: Progress | None = None,
    workers: AbstractAsyncContextManager[RayWorkers] | None = None,
) -> LoadReport:
    """Load nodes and relationships into a user's graph; unchanged records make no embedding request.

    An invalid line is reported and does not stop the others. Relationships may precede their nodes. The file is read
    three times and never held in memory.

    Args:
        path: JSON Lines in UTF-8; FORMAT.md in this folder describes the format.
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        write_context: dependencies of writes.
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
    if batch_size < 1 or concurrency < 1:
        raise InputError(f"batch_size and concurrency must be at least 1, got {batch_size} and {concurrency}")
    started = time.perf_counter()
    progress = progress or SilentProgress()
    with progress.task(f"Checking {path.name}"):
        check = await asyncio.to_thread(check_file, path, user_id=user_id, ontology=nodes.ontology)
    if check.owners:
        stored = await NodeReferences(nodes.store, nodes.ontology).owners(user_id)
        check.refuse_second_owners((owner.entity_key, owner.name) for owner in stored)
    converter = LineConverter(user_id, nodes.ontology, check.keys, write_context.clock())
    async with workers or nullcontext() as opened:

        def writer(kind: LineKind, total: int) -> BatchWriter[Any]:
            strategy = line_strategy(
                kind, nodes=nodes, relationships=relationships, write_context=write_context, user_id=user_id
            )
            sizes = BatchSizes(attempts=write_context.attempts, batch_size=batch_size, concurrency=concurrency)
            if opened is None:
                return BatchWriter(strategy, check.problems, sizes)
            return WorkersWriter(strategy, check.problems, sizes, opened, kind=kind, user_id=user_id, total=total)

        node_writer = writer("nodes", check.nodes)
        relationship_writer = writer("relationships", check.relationships)
        try:
            # Embedding can take long; a database that is gone by then is noticed before it ends.
            async with nodes.store.reachability.watched():
                with progress.task("Loading nodes", check.nodes) as advance:
                    await node_writer.write(_nodes(path, check, converter), advance)
                check.forget_invalid_ids()
                with progress.task("Loading relationships", check.relationships) as advance:
                    await relationship_writer.write(_relationships(path, check, converter), advance)
        except (EmbeddingError, StoreError) as error:
            done = node_writer.counts().total + relationship_writer.counts().total
            problem = str(error)
            end = "" if problem.endswith((".", "?")) else "."
            raise type(error)(
                f"{problem}{end} {done:,} of {check.nodes + check.relationships:,} lines are loaded; "
                f"load {path.name} again to continue"
            ) from error
    return LoadReport(
        nodes=node_writer.counts(),
        relationships=relationship_writer.counts(),
        embedded=node_writer.embedded + relationship_writer.embedded,
        problems=tuple(LineProblem(line=line, reason=reason) for line, reason in sorted(check.problems.items())),
        seconds=time.perf_counter() - started,
    )


def _nodes(path: Path, check: FileCheck, converter: LineConverter) -> Iterator[LineIntent[NodeIntent]]:
    for line, parsed in valid_lines(path, check):
        if isinstance(parsed, NodeLine):
            key = node_key(parsed, line.text, user_id=converter.user_id, ontology=converter.ontology)
            try:
                yield LineIntent(line.number, converter.node(parsed, key))
            except InputError as error:
                check.problems[line.number] = str(error)


def _relationships(path: Path, check: FileCheck, converter: LineConverter) -> Iterator[LineIntent[RelationshipIntent]]:
    for line, parsed in valid_lines(path, check):
        if isinstance(parsed, RelationshipLine):
            try:
                yield LineIntent(line.number, converter.relationship(parsed))
            except InputError as error:
                check.problems[line.number] = str(error)
