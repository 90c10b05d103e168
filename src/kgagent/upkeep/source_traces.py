"""Removing what a source left on records that stay: its notes, and its progress on nodes that it was merged into."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kgagent.errors import ConflictError
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.records import Record
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import WriteOptions
from kgagent.models.ingestion_state import merged_sources
from kgagent.models.merged_notes import stored_form
from kgagent.models.note import dump_notes, notes_text_at, parse_notes
from kgagent.progress import Advance
from kgagent.services import GraphServices
from kgagent.upkeep.examination import ScannedIntent
from kgagent.upkeep.rewrite import Change, Rewrite, Tally
from kgagent.upkeep.scan import KINDS, InspectedT, Scan, Selection, scan_of

_KEYS = ("entity_key", "from_entity_key", "to_entity_key")
"""The keys of a deleted node, or of the nodes of a deleted relationship."""


@dataclass(frozen=True)
class SourceTraces:
    """The traces of one source of a user.

    Notes are removed with the writes of the tools, so that each record that stays has the embedding of its text.
    Deleted records lose theirs and get another when they are restored.

    Attributes:
        services: the open graph.
        user_id: owner of the source.
        entity_key: key of the source.
        batch_size: records per transaction.
    """

    services: GraphServices
    user_id: str
    entity_key: str
    batch_size: int

    async def count(self, *, with_source: bool = False) -> Counter[str]:
        """Count the notes of the source, and the nodes with its progress.

        Args:
            with_source: whether to include records that are forgotten with the source: its node and relationships.

        Raises:
            StoreError: the database failed.
        """
        counts = Counter[str]()
        for scan in self._scans:
            async with scan.records() as records:
                async for inspected in records:
                    if with_source or self.entity_key not in inspected.entity_keys:
                        counts += self._traces(inspected.record.properties)
        for row in await self._deleted():
            if with_source or self.entity_key not in {row[name] for name in _KEYS}:
                counts += self._traces(row)
        return counts

    async def remove(self, advance: Advance) -> None:
        """Remove all traces.

        Raises:
            ConflictError: records kept their traces.
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        tally = Tally()
        for scan in self._scans:
            await self._rewrite(scan).run(tally, advance)
        for row in await self._deleted():
            await self._remove_from_deleted(row)
        if remaining := await self.count(with_source=True):
            cause = f" ({tally.skipped[0].why})" if tally.skipped else ""
            raise ConflictError(f"{remaining.total()} notes from {self.entity_key} remain{cause}. Forget it again")

    @property
    def _scans(self) -> list[Scan[Any]]:
        selection = Selection(user_id=self.user_id, mentioned=stored_form(self.entity_key))
        return [scan_of(self.services, kind, selection) for kind in KINDS]

    def _rewrite(self, scan: Scan[InspectedT]) -> Rewrite[InspectedT]:
        """The removal of the traces from the records of a scan."""

        def judge(inspected: InspectedT) -> Change | None:
            return Change() if self._traces(inspected.record.properties) else None

        def prepare(intent: ScannedIntent, stored: Record | None) -> ScannedIntent:
            return intent if stored is None else replace(intent, values=self._changed(stored.properties))

        options: WriteOptions[Any, Any] = WriteOptions(prepare=prepare)
        context = self.services.write_context
        return Rewrite(scan=scan, judge=judge, options=options, context=context, batch_size=self.batch_size)

    async def _deleted(self) -> list[Row]:
        """The deleted records that have traces."""
        rows = await self.services.store.read(
            statement("find_deleted_that_mention", all_deleted=DELETED_NAMES["all_deleted"]),
            {"user_id": self.user_id, "mentioned": stored_form(self.entity_key)},
        )
        return [row for row in rows if self._traces(row)]

    async def _remove_from_deleted(self, row: Row) -> None:
        changed = self._changed(row)
        notes = parse_notes(changed.get("notes"))
        await self.services.store.write(
            statement("remove_source_from_deleted", all_deleted=DELETED_NAMES["all_deleted"]),
            {
                "user_id": self.user_id,
                "element_id": row["element_id"],
                "notes": row["notes"] if "notes" in changed else None,
                "notes_after": changed.get("notes"),
                "notes_text": notes_text_at(notes, self.services.write_context.clock()) or None,
                "merged": row["ingestion_merged"],
                "merged_after": changed.get("ingestion_merged", row["ingestion_merged"]),
            },
        )

    def _traces(self, properties: Mapping[str, Any]) -> Counter[str]:
        """How many notes and how much progress of the source a record has; empty if it has none."""
        notes = parse_notes(properties.get("notes"))
        return +Counter(
            notes=sum(note.source_entity_key == self.entity_key for note in notes),
            merged_sources=int(self.entity_key in merged_sources(properties.get("ingestion_merged"))),
        )

    def _changed(self, properties: Mapping[str, Any]) -> dict[str, str | None]:
        """The properties that change when the traces are removed; None removes one."""
        traces = self._traces(properties)
        changed: dict[str, str | None] = {}
        if traces["notes"]:
            others = [n for n in parse_notes(properties["notes"]) if n.source_entity_key != self.entity_key]
            changed["notes"] = dump_notes(others) if others else None
        if traces["merged_sources"]:
            merged = merged_sources(properties["ingestion_merged"])
            del merged[self.entity_key]
            changed["ingestion_merged"] = json.dumps(merged) if merged else None
        return changed
