"""Imports a file that export wrote: first a check of the whole file, then batch by batch, each in
one transaction.
"""

import asyncio
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from kgagent.batches import check_batch_size
from kgagent.errors import (
    ConflictError,
    ConstraintViolationError,
    EntityGoneError,
    InputError,
    StatementValueError,
)
from kgagent.files.batch_writing import LineItem, line_batches, resumable, write_batches
from kgagent.files.export_format import (
    ExportedDeletion,
    ExportedNode,
    ExportedRecord,
    check_export,
    exported_lines,
)
from kgagent.files.import_matches import Match, Matcher
from kgagent.files.import_trust import not_raised
from kgagent.files.property_values import TimeText
from kgagent.files.reports import ImportConflict, ImportCounts, ImportReport
from kgagent.graph.embedded_text import EmbeddedText, vector_changes
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_trust import highest_trust
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.statement_index import index_row
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row, Store
from kgagent.progress import Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.trust import level, not_changed
from kgagent.validation import check_user_id

Line = LineItem[ExportedRecord]

KINDS = {"node": "nodes", "relationship": "relationships", "deleted": "deleted"}
"""What a report calls the records of each kind."""

MAX_CONFLICTS = 1_000
"""Conflicts that a report describes; all are counted."""


async def import_records(
    path: Path,
    services: GraphServices,
    *,
    user_id: str | None = None,
    overwrite: bool = False,
    batch_size: int = 500,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the records of a file; see `KnowledgeGraph.import_records`. Those that the graph has
    already are left as they are.
    """
    check_batch_size(batch_size)
    if user_id is not None:
        check_user_id(user_id)
    started = time.perf_counter()
    progress = progress or SilentProgress()
    with progress.task(f"Checking {path.name}"):
        header, total = await asyncio.to_thread(check_export, path, services.ontology)
    if user_id is not None and header.user_id != user_id:
        owner = "several users" if header.user_id is None else repr(header.user_id)
        raise InputError(f"{path} has the records of {owner}, not of {user_id!r}")
    importer = _Importer(services, overwrite=overwrite)
    with (
        resumable(path.name, "import", total=total, done=lambda: importer.done),
        progress.task(f"Importing {path.name}", total) as advance,
    ):

        async def write_batch(batch: Sequence[Line]) -> None:
            await importer.write(batch)
            advance(len(batch))

        await write_batches(_batches(path, batch_size), write_batch)
    return ImportReport(
        **{name: ImportCounts(**counts) for name, counts in importer.counts.items()},
        embedded=importer.embedded,
        conflicts=tuple(importer.conflicts),
        seconds=time.perf_counter() - started,
    )


class _Importer:
    """Writes batches, and counts what became of their records."""

    def __init__(self, services: GraphServices, *, overwrite: bool) -> None:
        self._services = services
        self._overwrite = overwrite
        self.counts = {kind: Counter[str]() for kind in KINDS.values()}
        self.conflicts: list[ImportConflict] = []
        self.embedded = 0

    @property
    def done(self) -> int:
        """Number of records that were written, or that need not or cannot be written."""
        return sum(counts.total() for counts in self.counts.values())

    async def write(self, batch: Sequence[Line]) -> None:
        """Write records of one kind and one user; those that meet a concurrent write are looked up
        and written again.

        What the database refuses each time is a conflict.

        Raises:
            ConflictError: concurrent writes won.
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        kind, user_id = KINDS[batch[0].value.kind], batch[0].value.user_id
        matcher = Matcher(self._services, user_id)
        remaining = list(batch)
        refused: dict[int, str] = {}
        for _ in range(self._services.write_context.attempts):
            lines = remaining
            matches = await matcher.find([line.value for line in lines])
            refused, remaining = {}, []
            for action, wanted in self._to_write(lines, matches).items():
                rows = await self._rows(wanted)
                labels = Identifier.any_of(self._services.ontology.labels)
                write = statement(f"{action}_{kind}", labels=labels)
                written = await _write(self._services.store, write, rows, user_id, refused)
                self.counts[kind]["created" if action == "import" else "overwritten"] += len(
                    written
                )
                remaining += [line for line, _ in wanted if line.number not in written]
            if not remaining:
                return
        for line in remaining:
            if line.number not in refused:
                raise ConflictError(f"Concurrent writes keep changing {line.value}")
            self._add_conflict(line, refused[line.number])

    def _to_write(
        self, lines: Sequence[Line], matches: Sequence[Match]
    ) -> dict[str, list[tuple[Line, Match]]]:
        """The records to write, by what is done with them; the others are counted."""
        by_action: dict[str, list[tuple[Line, Match]]] = defaultdict(list)
        most = self._services.write_context.trust
        for line, match in zip(lines, matches, strict=True):
            if match.state == "new":
                by_action["import"].append((line, match))
            elif match.state == "different" and self._overwrite:
                trust = highest_trust(match.stored)
                if level(trust) > level(most):
                    self._add_conflict(line, not_changed(str(line.value), trust, most))
                else:
                    by_action["overwrite"].append((line, match))
            elif match.state == "equal":
                self.counts[KINDS[line.value.kind]]["unchanged"] += 1
            else:
                self._add_conflict(line, match.reason)
        return by_action

    async def _rows(self, wanted: Sequence[tuple[Line, Match]]) -> list[Row]:
        """The parameters by which a statement writes records of one kind: embeddings that are not
        current are made, and statements are indexed. A deleted record gets them when it is
        restored.
        """
        services, now = self._services, self._services.write_context.clock()
        trust = services.write_context.trust
        properties = await asyncio.to_thread(
            lambda: [not_raised(one.value.decoded(), match.stored, trust) for one, match in wanted]
        )
        more: list[dict[str, Any]] = [
            {"position": line.number, **match.target} for line, match in wanted
        ]
        if not isinstance(wanted[0][0].value, ExportedDeletion):
            records = [
                _stored(line.value, known, services)
                for (line, _), known in zip(wanted, properties, strict=True)
            ]
            texts = [_embedded_text(record, services, now) for record in records]
            changes = await vector_changes(services.embedder, texts)
            for record, known, row, change in zip(records, properties, more, changes, strict=True):
                known.update(change.properties)
                if change.vector is not None:
                    known[record.vector_property] = change.vector
                    self.embedded += 1
                row["stated"] = index_row(_kind(record, services), change, services.embedder)
        return [
            _row(known, services.store) | row for known, row in zip(properties, more, strict=True)
        ]

    def _add_conflict(self, line: Line, reason: str) -> None:
        self.counts[KINDS[line.value.kind]]["conflicts"] += 1
        if len(self.conflicts) < MAX_CONFLICTS:
            self.conflicts.append(
                ImportConflict(line=line.number, record=str(line.value), reason=reason)
            )


def _stored(
    exported: ExportedRecord, properties: dict[str, Any], services: GraphServices
) -> NodeRecord | RelationshipRecord:
    """A record of a file as the database would have it."""
    texts = {name: value.text for name, value in properties.items() if isinstance(value, TimeText)}
    row: Row = {"element_id": "", "properties": {**properties, **texts}}
    if isinstance(exported, ExportedNode):
        vector = properties.get(services.ontology.node_embedding)
        row |= {"labels": exported.labels, "vector_length": _length(vector)}
        return NodeRecord.read(row, services.ontology)
    assert not isinstance(exported, ExportedDeletion)  # noqa: S101
    vector = properties.get(RelationshipRecord.vector_property)
    row |= {"neo4j_type": exported.neo4j_type, "vector_length": _length(vector)}
    row |= {"from_entity_key": exported.start[1], "to_entity_key": exported.end[1]}
    return RelationshipRecord.read({**row, "from_name": "", "to_name": ""})


def _length(vector: object) -> int | None:
    return len(vector) if isinstance(vector, array) else None


def _kind(record: NodeRecord | RelationshipRecord, services: GraphServices) -> Any:  # noqa: ANN401
    return services.nodes if isinstance(record, NodeRecord) else services.relationships


def _embedded_text(
    record: NodeRecord | RelationshipRecord, services: GraphServices, now: datetime
) -> EmbeddedText:
    """What is embedded of a record; nothing of a relationship of a type that the ontology does not
    have.
    """
    if (
        isinstance(record, RelationshipRecord)
        and record.neo4j_type not in services.ontology.relationships
    ):
        return EmbeddedText("", None)
    return EmbeddedText.of(_kind(record, services), record, record, now)


def _row(properties: Mapping[str, object], store: Store) -> Row:
    """The properties of a record as the statements take them, in the form of vectors that the
    server accepts.
    """
    row: Row = {"properties": {}, "times": [], "vectors": []}
    for name, value in properties.items():
        if isinstance(value, array):
            row["vectors"].append({"name": name, "value": store.vector(value)})
        elif isinstance(value, TimeText):
            row["times"].append({"name": name, "kind": value.kind, "value": value.text})
        elif isinstance(value, list) and value and isinstance(value[0], TimeText):
            texts = [item.text for item in value]
            row["times"].append({"name": name, "kind": f"{value[0].kind}s", "value": texts})
        elif value is not None:
            row["properties"][name] = value
    return row


async def _write(
    store: Store, text: Statement, rows: Sequence[Row], user_id: str, refused: dict[int, str]
) -> set[int]:
    """Write rows in one transaction, or each in its own if the database refuses one of them.

    Returns:
        The positions of the rows that were written.
    """
    try:
        written = await store.write(text, {"user_id": user_id, "rows": rows})
    except (ConstraintViolationError, StatementValueError, EntityGoneError) as error:
        if len(rows) > 1:
            alone = [await _write(store, text, [row], user_id, refused) for row in rows]
            return set().union(*alone)
        if not isinstance(error, EntityGoneError):
            refused[rows[0]["position"]] = str(error)
        return set()
    return {row["position"] for row in written}


def _batches(path: Path, batch_size: int) -> Iterator[list[Line]]:
    """Consecutive records of one kind and one user, limited in number and in size."""
    for _, group in groupby(
        exported_lines(path), key=lambda line: (line.value.kind, line.value.user_id)
    ):
        yield from line_batches(group, batch_size)
