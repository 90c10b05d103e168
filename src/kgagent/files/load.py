"""Loads files: first a check, then the nodes, then the relationships."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from kgagent.batches import check_batch_size
from kgagent.errors import InputError
from kgagent.files.batch_writing import resumable
from kgagent.files.conversion import Target
from kgagent.files.documents import documents_in, load_documents
from kgagent.files.line_source import LineSource
from kgagent.files.load_reader import LineKind, LoadReader
from kgagent.files.load_writer import LoadJob, LoadTally, LoadWriter
from kgagent.files.reports import LineProblem, LoadCounts, LoadReport
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices
from kgagent.validation import check_user_id


async def load_files(
    paths: Sequence[Path],
    services: GraphServices,
    *,
    user_id: str,
    label: str | None,
    columns: str | None = None,
    batch_size: int,
    concurrency: int,
    progress: Progress | None = None,
    workers: AbstractAsyncContextManager[RayWorkers] | None = None,
) -> LoadReport:
    """Load files; see `KnowledgeGraph.load`. Unchanged records make no embedding request.

    Documents are stored last. Relationships may precede their nodes. The other files are read three
    times; JSON Lines and Neo4j's CSV are never held in memory.
    """
    documents, lines, skipped = await asyncio.to_thread(documents_in, paths)
    if documents and not lines:
        stored = await load_documents(documents, services, user_id=user_id, progress=progress)
        return stored.model_copy(update={"remarks": (*skipped, *stored.remarks)})
    check_user_id(user_id)
    check_batch_size(batch_size)
    if concurrency < 1:
        raise InputError(f"concurrency must be at least 1, got {concurrency}")
    if not lines:
        reasons = ". ".join(map(str, skipped))
        raise InputError(reasons or "Give at least one file to load")
    if label is not None:
        services.ontology.label(label)
    started = time.perf_counter()
    progress = progress or SilentProgress()
    owners = {
        owner.entity_key: owner.name or "the node"
        for owner in await services.resolver.owners(user_id)
    }
    max_notes = services.settings.max_notes
    target = Target(services.ontology, user_id, owners, label, columns, max_notes)
    source = LineSource(lines, target)
    reader = LoadReader(source, now=services.write_context.clock())
    with progress.task(f"Checking {source.name}"):
        await asyncio.to_thread(reader.check)
    nodes, relationships = (LoadTally(problems=reader.problems) for _ in range(2))
    kinds: dict[LineKind, LoadTally] = {"nodes": nodes, "relationships": relationships}
    total = reader.counts.total()
    async with workers or nullcontext() as opened:
        with resumable(
            source.name, "load", total=total, done=lambda: nodes.done + relationships.done
        ):
            # Embedding can take long; a database that is gone by then is noticed before it ends.
            async with services.store.reachability.watched():
                for kind, tally in kinds.items():
                    job = LoadJob(
                        kind=kind,
                        user_id=user_id,
                        batch_size=batch_size,
                        concurrency=concurrency,
                        trust=services.write_context.trust,
                    )
                    writer, intents = LoadWriter(services, job, tally), reader.intents(kind)
                    count = reader.counts[kind]
                    with progress.task(f"Loading {kind}", count) as advance:
                        if opened is None:
                            await writer.write(intents, advance)
                        else:
                            await writer.write_on_workers(opened, count, intents, advance)

    def in_order(found: Mapping[int, LineProblem]) -> tuple[LineProblem, ...]:
        return tuple(found[number] for number in sorted(found))

    skipped += tuple(
        LineProblem(line=0, place=path.name, reason=reason)
        for path, reason in target.remarks.items()
    )
    left_out = {at: one for at, one in reader.remarks.items() if at not in reader.problems}
    report = LoadReport(
        nodes=LoadCounts(**nodes.counts),
        relationships=LoadCounts(**relationships.counts),
        embedded=nodes.embedded + relationships.embedded,
        problems=in_order(reader.problems),
        remarks=(*skipped, *in_order(left_out), *in_order(nodes.remarks | relationships.remarks)),
        seconds=time.perf_counter() - started,
    )
    if not documents:
        return report
    stored = await load_documents(documents, services, user_id=user_id, progress=progress)
    return report.joined(stored)
