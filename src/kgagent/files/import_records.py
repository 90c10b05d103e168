"""Imports a file that export wrote: first a check of the whole file, then batch by batch, each in one transaction."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kgagent.batches import split_by_size
from kgagent.errors import (
    ConflictError,
    ConstraintViolationError,
    EmbeddingError,
    EntityGoneError,
    InputError,
    StatementValueError,
    StoreError,
)
from kgagent.files.export_format import (
    BATCH_BYTES,
    EmbeddingFacts,
    NumberedLine,
    RecordLine,
    check_file,
    ontology_fingerprint,
    record_lines,
)
from kgagent.files.import_matches import ImportedDeleted, ImportedNodes, ImportedRelationships, ImportKind, Place
from kgagent.files.import_rows import Properties, Reembedding, check_record, decoded_properties, row_of
from kgagent.files.reports import ImportConflict, ImportCounts, ImportReport
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row, Store
from kgagent.graph.writes import WriteContext
from kgagent.progress import Progress, SilentProgress
from kgagent.validation import check_user_id

MAX_CONFLICTS = 1_000
"""Conflicts that a report describes; all are counted."""

DIFFERENT = "the graph has another one with this key; overwrite replaces it"


async def import_records(
    path: Path,
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    write_context: WriteContext,
    user_id: str | None = None,
    overwrite: bool = False,
    batch_size: int = 500,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the records of a file; those that the graph has already are left as they are.

    Args:
        path: a file that export wrote.
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        write_context: dependencies of writes.
        user_id: the user whom the file must name; None accepts any, and a file of several users.
        overwrite: whether records that differ are replaced by those of the file, instead of reported.
        batch_size: records per transaction, from 1.
        progress: receives the number of records.

    Raises:
        InputError: the file is not whole, does not fit this graph, or an argument is invalid; nothing was imported.
        EmbeddingError: records could not be embedded; import the file again to continue.
        StoreError: the database failed; likewise.
    """
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    if user_id is not None:
        check_user_id(user_id)
    started = time.perf_counter()
    shown = progress or SilentProgress()
    ontology = nodes.ontology
    with shown.task(f"Checking {path.name}"):
        header, footer = await asyncio.to_thread(
            check_file, path, lambda header, record: check_record(record, header.user_id, ontology)
        )
    if user_id is not None and header.user_id != user_id:
        owner = "several users" if header.user_id is None else repr(header.user_id)
        raise InputError(f"{path} has the records of {owner}, not of {user_id!r}")
    keeps_embeddings = header.embeddings == EmbeddingFacts.of(write_context.embedder) and (
        header.ontology == ontology_fingerprint(ontology)
    )
    embeds = Reembedding(nodes, relationships, write_context.embedder, write_context.clock())
    importer = _Importer(
        kinds={
            "node": ImportedNodes(nodes.store, ontology, keeps_embeddings),
            "relationship": ImportedRelationships(nodes.store, ontology, keeps_embeddings),
            "deleted": ImportedDeleted(nodes.store, ontology, keeps_embeddings),
        },
        embeds=None if keeps_embeddings else embeds,
        overwrite=overwrite,
        attempts=write_context.attempts,
    )
    total = footer.nodes + footer.relationships + footer.deleted
    done = 0
    try:
        with shown.task(f"Importing {path.name}", total) as advance:
            batches = _batches(record_lines(path), batch_size)
            while batch := await asyncio.to_thread(next, batches, None):
                await importer.write(batch)
                done += len(batch)
                advance(len(batch))
    except (EmbeddingError, StoreError, ConflictError) as error:
        problem = str(error).rstrip(".")
        raise type(error)(
            f"{problem}. {done:,} of {total:,} records are imported; import {path.name} again to continue"
        ) from error
    return importer.report(embeddings_kept=keeps_embeddings, seconds=time.perf_counter() - started)


class _Importer:
    """Writes batches, and counts what became of their records."""

    def __init__(
        self, *, kinds: dict[str, ImportKind[Any]], embeds: Reembedding | None, overwrite: bool, attempts: int
    ) -> None:
        self._kinds = kinds
        self._embeds = embeds
        self._overwrite = overwrite
        self._attempts = attempts
        self._counts = {kind.name: Counter[str]() for kind in kinds.values()}
        self._conflicts: list[ImportConflict] = []
        self._embedded = 0

    async def write(self, batch: Sequence[NumberedLine]) -> None:
        """Write records of one kind and one user; of those that meet a concurrent write, the places are found again.

        What the database refuses each time is a conflict.

        Raises:
            ConflictError: concurrent writes won.
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        kind, user_id = self._kinds[batch[0].record.kind], batch[0].record.user_id
        remaining = list(batch)
        for _ in range(self._attempts):
            places = await kind.find(user_id, [line.record for line in remaining])
            new: list[tuple[NumberedLine, Place]] = []
            different: list[tuple[NumberedLine, Place]] = []
            for line, place in zip(remaining, places, strict=True):
                if place.state == "new":
                    new.append((line, place))
                elif place.state == "different" and self._overwrite:
                    different.append((line, place))
                elif place.state == "equal":
                    self._counts[kind.name]["unchanged"] += 1
                else:
                    self._conflict(kind, line, place.reason or DIFFERENT)
            remaining, refused = await self._save(kind, kind.create(), new, "created", user_id)
            others, refused_too = await self._save(kind, kind.overwrite(), different, "overwritten", user_id)
            remaining += others
            refused |= refused_too
            if not remaining:
                return
        for line in remaining:
            if line.number not in refused:
                raise ConflictError(f"Concurrent writes keep changing {kind.title(line.record)}")
            self._conflict(kind, line, refused[line.number])

    def report(self, *, embeddings_kept: bool, seconds: float) -> ImportReport:
        """What became of all records."""
        return ImportReport(
            **{name: ImportCounts(**counts) for name, counts in self._counts.items()},
            embedded=self._embedded,
            embeddings_kept=embeddings_kept,
            conflicts=tuple(self._conflicts),
            seconds=seconds,
        )

    async def _save(
        self,
        kind: ImportKind[Any],
        text: Statement,
        wanted: Sequence[tuple[NumberedLine, Place]],
        outcome: str,
        user_id: str,
    ) -> tuple[list[NumberedLine], dict[int, str]]:
        """Write records in one transaction.

        Returns:
            Those that met a conflict; and why the database refused some of them, by the number of their line.
        """
        if not wanted:
            return [], {}
        properties, made = await self._properties([line.record for line, _ in wanted])
        rows = [
            row_of(one, kind.store, position=position, **wanted[position][1].location)
            for position, one in enumerate(properties)
        ]
        done, refused = await _write(kind.store, text, rows, user_id)
        self._counts[kind.name][outcome] += len(done)
        self._embedded += made
        remaining = [line for position, (line, _) in enumerate(wanted) if position not in done]
        return remaining, {wanted[position][0].number: reason for position, reason in refused.items()}

    async def _properties(self, records: Sequence[RecordLine]) -> tuple[list[Properties], int]:
        if self._embeds is not None:
            return await self._embeds.apply(records)
        return await asyncio.to_thread(lambda: [decoded_properties(record) for record in records]), 0

    def _conflict(self, kind: ImportKind[Any], line: NumberedLine, reason: str) -> None:
        self._counts[kind.name]["conflicts"] += 1
        if len(self._conflicts) < MAX_CONFLICTS:
            self._conflicts.append(ImportConflict(line=line.number, record=kind.title(line.record), reason=reason))


async def _write(store: Store, text: Statement, rows: Sequence[Row], user_id: str) -> tuple[set[int], dict[int, str]]:
    """Write rows in one transaction, or each in its own if the database refuses one of them.

    Returns:
        The positions of those that are written; and why others are refused, by position.
    """
    try:
        written = await store.write(text, {"user_id": user_id, "rows": rows})
    except (ConstraintViolationError, StatementValueError, EntityGoneError) as error:
        if len(rows) == 1:
            is_refused = not isinstance(error, EntityGoneError)
            return set(), {rows[0]["position"]: str(error)} if is_refused else {}
        done: set[int] = set()
        refused: dict[int, str] = {}
        for row in rows:
            one, reason = await _write(store, text, [row], user_id)
            done |= one
            refused |= reason
        return done, refused
    return {row["position"] for row in written}, {}


def _batches(lines: Iterable[NumberedLine], batch_size: int) -> Iterator[list[NumberedLine]]:
    """Consecutive records of one kind and one user, limited in number and in size."""
    for _, group in groupby(lines, key=lambda line: (line.record.kind, line.record.user_id)):
        yield from split_by_size(group, lambda line: line.size, max_size=BATCH_BYTES, max_items=batch_size)
