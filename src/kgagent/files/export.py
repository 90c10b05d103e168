"""Exports the records of users to a file, page by page, in an order that depends on their content
alone.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgagent.batches import check_batch_size, split_by_size
from kgagent.errors import ConflictError
from kgagent.files.export_format import (
    EMBEDDING_PROPERTIES,
    NOT_EXPORTED,
    ExportWriter,
    Header,
    exported_record,
)
from kgagent.files.json_lines import dump_line
from kgagent.files.reports import ExportReport
from kgagent.graph.deleted_records import DELETED_NAMES, LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import as_text, ontology_label
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row
from kgagent.private_files import replacing_output_file
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.validation import check_user_id

MAX_READS = 20
"""Times that a record is read until two reads in a row agree."""


async def export_records(
    path: Path,
    services: GraphServices,
    *,
    users: Sequence[str] | None,
    embeddings: bool = True,
    batch_size: int = 500,
    progress: Progress | None = None,
) -> ExportReport:
    """Write the records of some users, or of all, to a file; see `KnowledgeGraph.export`.

    They are read in pages, each in transactions of their own. The file appears under its name only
    when it is complete.
    """
    for user_id in users or ():
        check_user_id(user_id)
    check_batch_size(batch_size)
    started = time.perf_counter()
    header = Header(user_id=users[0] if users and len(users) == 1 else None)
    skipped = 0
    with (
        replacing_output_file(path) as stream,
        (progress or SilentProgress()).task(f"Exporting to {path.name}") as advance,
    ):
        writer = ExportWriter(stream, header)
        owners = await all_users(services) if users is None else users
        for user_id in owners:
            export = _UserExport(services, user_id, embeddings, batch_size, writer, advance)
            await export.run()
            skipped += export.skipped
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


async def all_users(services: GraphServices) -> list[str]:
    """Find the users who have records, in order.

    Raises:
        StoreError: the database failed.
    """
    labels = Identifier.any_of([*services.ontology.labels, DELETED_NODE, DELETED_RELATIONSHIP])
    rows = await services.store.read(
        statement("list_users", labels=labels), {}, timeout=LONG_TIMEOUT
    )
    return sorted(row["user_id"] for row in rows)


@dataclass
class _UserExport:
    """Writes the records of one user.

    The pages are read one after the other, each in transactions of its own. Each record is read
    until two reads in a row agree, since Neo4j applies a commit property by property.

    Attributes:
        skipped: number of records that cannot be exported.
    """

    services: GraphServices
    user_id: str
    embeddings: bool
    page_size: int
    writer: ExportWriter
    advance: Advance
    skipped: int = 0

    async def run(self) -> None:
        """Write nodes by label and key, relationships by start and end, and deleted records."""
        labels = Identifier.any_of(self.services.ontology.labels)
        [row] = await self._read(statement("count_nodes_without_key", labels=labels))
        self.skipped += int(row["found"])
        async for rows in self._node_pages():
            await self._write("node", [row["element_id"] for row in rows])
        # Of the relationships that start at one node, only ids and keys are ever in memory
        # together.
        async for rows in self._node_pages():
            connected = (row for row in rows if row["outgoing"])
            for starts in split_by_size(
                connected, lambda row: int(row["outgoing"]), max_size=self.page_size
            ):
                ids = await self._relationships_from([row["element_id"] for row in starts])
                await self._write("relationship", ids)
        # The ids and keys of all deleted records are in memory together.
        rows = await self._read(statement("list_deleted", all_deleted=DELETED_NAMES["all_deleted"]))
        rows.sort(key=lambda row: (row["sort_key"], row["element_id"]))
        await self._write("deleted", [row["element_id"] for row in rows])

    async def _node_pages(self) -> AsyncIterator[list[Row]]:
        """Pages of ids and keys of nodes; a node of several labels belongs to the first of the
        ontology's.
        """
        for label in self.services.ontology.labels:
            after = ""
            while True:
                rows = await self._read(
                    statement("list_nodes", label=Identifier(label)),
                    after=after,
                    limit=self.page_size,
                )
                own = [
                    row
                    for row in rows
                    if row["labels"]
                    and ontology_label(row["labels"], self.services.ontology) == label
                ]
                if own:
                    yield own
                if len(rows) < self.page_size:
                    break
                after = rows[-1]["entity_key"]

    async def _relationships_from(self, starts: Sequence[str]) -> list[str]:
        """Ids of the relationships that start at nodes, in order; those that cannot be exported are
        counted.
        """
        labels = self.services.ontology.labels
        rows = await self._read(statement("list_relationships_from"), element_ids=starts)
        whole = [row for row in rows if row["neo4j_type"]]
        own = [
            row
            for row in whole
            if row["is_own"] and as_text(row["to_entity_key"]) and labels.keys() & row["to_labels"]
        ]
        self.skipped += len(whole) - len(own)
        position = {element_id: number for number, element_id in enumerate(starts)}
        own.sort(
            key=lambda row: (
                position[row["start_id"]],
                row["neo4j_type"],
                self.services.ontology.label_order[
                    ontology_label(row["to_labels"], self.services.ontology)
                ],
                row["to_entity_key"],
                row["relationship_key"] is not None,
                str(row["relationship_key"]),
                sorted(row["texts"] or ()),
                row["element_id"],
            )
        )
        return [row["element_id"] for row in own]

    async def _write(self, kind: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), self.page_size):
            lines = await self._lines(kind, ids[start : start + self.page_size])
            await asyncio.to_thread(self.writer.records, kind, lines)
            self.advance(len(lines))

    async def _lines(self, kind: str, ids: Sequence[str]) -> list[bytes]:
        """Read records until two reads in a row agree; a record that is deleted meanwhile is
        omitted.

        Raises:
            ConflictError: concurrent writes kept changing a record.
            StoreError: the database failed.
        """

        def dump(records: Sequence[Row]) -> dict[str, bytes]:
            return {
                row["element_id"]: dump_line(
                    exported_record(row, self.user_id, self.services.ontology)
                )
                for row in records
            }

        read = statement(
            "read_exported_relationships" if kind == "relationship" else "read_exported_nodes"
        )
        omitted = [*NOT_EXPORTED, *(() if self.embeddings else sorted(EMBEDDING_PROPERTIES))]
        confirmed: dict[str, bytes] = {}
        before: dict[str, bytes] = {}
        open_ids = list(ids)
        for _ in range(MAX_READS):
            if not open_ids:
                return [confirmed[element_id] for element_id in ids if element_id in confirmed]
            [row] = await self._read(read, element_ids=open_ids, omitted=omitted)
            now = await asyncio.to_thread(dump, row["records"])
            confirmed |= {
                element_id: line
                for element_id, line in now.items()
                if before.get(element_id) == line
            }
            open_ids = [
                element_id
                for element_id in open_ids
                if element_id in now and element_id not in confirmed
            ]
            before = now
        raise ConflictError(
            f"{len(open_ids)} records of user {self.user_id!r} keep changing. Export again"
        )

    async def _read(self, text: Statement, **parameters: object) -> list[Row]:
        return await self.services.store.read(text, {"user_id": self.user_id, **parameters})
