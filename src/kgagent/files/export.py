"""Writes the records of one user, or of all, to a file."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.files.export_format import EmbeddingFacts, Header, LineWriter, ontology_fingerprint
from kgagent.files.reports import ExportReport
from kgagent.files.stored_records import EMBEDDING_PROPERTIES, UserRecords, all_users
from kgagent.graph.store import Store
from kgagent.ontology import Ontology
from kgagent.private_files import replacing_output_file
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.validation import check_user_id


async def export_records(
    path: Path,
    *,
    store: Store,
    ontology: Ontology,
    embedder: Embedder,
    users: Sequence[str] | None,
    embeddings: bool = True,
    batch_size: int = 500,
    progress: Progress | None = None,
) -> ExportReport:
    """Write records to a file, in pages that are each read in transactions of their own.

    The file appears under its name only when it is complete.

    Args:
        path: the file; an existing one is replaced.
        store: the database.
        ontology: labels of the nodes.
        embedder: the embedder of the graph, which the header names.
        users: owners of the records; None is every user.
        embeddings: whether the file has the embeddings.
        batch_size: records per page, from 1.
        progress: receives the number of records.

    Raises:
        InputError: an argument is invalid, or the file cannot be written.
        ConflictError: concurrent writes kept changing a record.
        StoreError: the database failed.
    """
    for user_id in users or ():
        check_user_id(user_id)
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    started = time.perf_counter()
    header = Header(
        user_id=users[0] if users and len(users) == 1 else None,
        embeddings=EmbeddingFacts.of(embedder) if embeddings else None,
        ontology=ontology_fingerprint(ontology),
    )
    omitted = frozenset() if embeddings else EMBEDDING_PROPERTIES
    skipped = 0
    with (
        replacing_output_file(path) as stream,
        (progress or SilentProgress()).task(f"Exporting to {path.name}") as advance,
    ):
        writer = LineWriter(stream, header)
        owners = await all_users(store, ontology) if users is None else users
        for one in owners:
            records = UserRecords(store, ontology, one, omitted, batch_size)
            skipped += await records.without_key()
            await _write(writer, "node", records.nodes(), advance)
            async for lines, foreign in records.relationships():
                await _write_page(writer, "relationship", lines, advance)
                skipped += foreign
            await _write(writer, "deleted", records.deleted(), advance)
        footer = writer.finish()
    return ExportReport(
        users=len(owners),
        nodes=footer.nodes,
        relationships=footer.relationships,
        deleted=footer.deleted,
        skipped=skipped,
        sha256=footer.sha256,
        seconds=time.perf_counter() - started,
    )


async def _write(writer: LineWriter, kind: str, pages: AsyncIterator[list[bytes]], advance: Advance) -> None:
    async for lines in pages:
        await _write_page(writer, kind, lines, advance)


async def _write_page(writer: LineWriter, kind: str, lines: list[bytes], advance: Advance) -> None:
    await asyncio.to_thread(writer.records, kind, lines)
    advance(len(lines))
