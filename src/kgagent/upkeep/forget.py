"""Forgetting: deleting all data of a user, a source or another node, irreversibly."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgagent.batches import check_batch_size
from kgagent.errors import ConflictError, InputError, NodeNotFoundError, NotFoundError
from kgagent.formatting import counted, has_unpaired_surrogates
from kgagent.graph.deleted_records import DELETED_NAMES, LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import Record
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import WriteOptions
from kgagent.models.merged_notes import stored_form
from kgagent.models.note import Note, dump_notes, notes_text_at, parse_notes
from kgagent.models.report import Report
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.upkeep.examination import Intent
from kgagent.upkeep.purge import delete_in_batches
from kgagent.upkeep.rewrite import Rewrite, Tally
from kgagent.upkeep.scan import KINDS, Scan
from kgagent.validation import check_user_id


class ForgetReport(Report):
    """What was forgotten, or with `dry_run` would be.

    Attributes:
        nodes: number of nodes.
        relationships: number of relationships.
        deleted: number of deleted nodes and relationships that were kept so that they can be
            restored.
        notes: number of notes of a source that were removed from records that stay.
        other_nodes: number of nodes that have the user's id but labels outside the ontology;
            kgagent does not delete them. 0 for a single node.
        entity_key: key of the node that was forgotten; None for a user.
        dry_run: whether nothing was changed.
    """

    nodes: int = 0
    relationships: int = 0
    deleted: int = 0
    notes: int = 0
    other_nodes: int = 0
    entity_key: str | None = None
    dry_run: bool = False

    def __str__(self) -> str:
        """The report in one line."""
        parts = [
            counted(self.nodes, "node"),
            counted(self.relationships, "relationship"),
            counted(self.deleted, "deleted record"),
        ]
        if self.notes:
            parts.append(f"{counted(self.notes, 'note')} of other records")
        done = "would be forgotten" if self.dry_run else "forgotten"
        other = (
            f"; {counted(self.other_nodes, 'node')} of other programs stay"
            if self.other_nodes
            else ""
        )
        return f"{', '.join(parts[:-1])} and {parts[-1]} {done}{other}"


async def forget(
    services: GraphServices,
    *,
    user_id: str,
    entity_key: str | None = None,
    dry_run: bool = False,
    batch_size: int = 200,
    progress: Progress | None = None,
) -> ForgetReport:
    """Delete all data of a user or of a node in batches, so that other calls do not wait for long.

    The arguments and errors are those of `KnowledgeGraph.forget`.
    """
    check_user_id(user_id)
    if entity_key is not None and (not entity_key or has_unpaired_surrogates(entity_key)):
        raise InputError(f"entity_key must be a text that is not empty, got {entity_key!r}")
    check_batch_size(batch_size)
    given, unknown = entity_key, None
    if given is not None:
        try:
            references = await services.resolver.find(user_id, [given], loosely=False)
            entity_key = references.key(given)
        except NodeNotFoundError as error:
            unknown = error
    # Older notes have the name of a source where others have its key.
    targets = [
        _Target(services, user_id, key, batch_size) for key in dict.fromkeys((entity_key, given))
    ]
    counts = sum([await target.count() for target in targets], Counter[str]())
    if unknown is not None and not counts.total():
        raise NotFoundError(
            f"Nothing is stored under the key {given!r}. {unknown}. "
            "A deleted node can be named only by its full key"
        ) from unknown
    if dry_run:
        return ForgetReport(**counts, entity_key=entity_key, dry_run=True)
    try:
        with (progress or SilentProgress()).task(
            "Forgetting", counts.total() - counts["other_nodes"]
        ) as advance:
            deleted = sum([await target.delete(advance) for target in targets], Counter[str]())
    finally:
        services.live_schema.forget(user_id)
        services.retrieval.evict()
        services.shared.clear()
        if services.query_cache is not None:
            services.query_cache.evict()
    return ForgetReport(
        **deleted, notes=counts["notes"], other_nodes=counts["other_nodes"], entity_key=entity_key
    )


@dataclass(frozen=True)
class _Target:
    """What is forgotten: a node, or a user if `entity_key` is None."""

    services: GraphServices
    user_id: str
    entity_key: str | None
    batch_size: int

    async def count(self) -> Counter[str]:
        """Count what would be deleted, by the fields of `ForgetReport`."""
        counts = await self._count("count_records_to_forget")
        if self.entity_key is None:
            return counts + await self._count("count_other_data_of_user")
        return counts + Counter(notes=await self._count_notes(omitted_key=self.entity_key))

    async def delete(self, advance: Advance) -> Counter[str]:
        """Delete it, and count what was deleted.

        Raises:
            ConflictError: concurrent writes won.
            EmbeddingError: a record without the notes of a source could not be embedded.
            StoreError: the database failed.
        """
        names = ["forget_records", "forget_deleted", "forget_statements"]
        if self.entity_key is None:
            names.append("forget_foreign_relationships")
        counts = Counter[str]()
        for name in names:
            counts += await delete_in_batches(
                self.services.store,
                statement(name, **self._names),
                self._parameters,
                batch_size=self.batch_size,
                attempts=self.services.write_context.attempts,
                advance=advance,
            )
        del counts["entries"]
        if self.entity_key is not None:
            await self._remove_notes(advance)
        return counts

    async def _count(self, name: str) -> Counter[str]:
        text = statement(name, **self._names)
        [row] = await self.services.store.read(text, self._parameters, timeout=LONG_TIMEOUT)
        return Counter(row)

    async def _count_notes(self, omitted_key: str | None = None) -> int:
        """Number of the notes that name the node as their source, but not those of a node and its
        relationships.
        """
        count = 0
        for scan in self._scans:
            async with scan.records() as records:
                async for inspected in records:
                    if omitted_key not in inspected.entity_keys:
                        count += self._own_notes(inspected.record.notes)
        for row in await self._deleted():
            if omitted_key not in {row["entity_key"], row["from_entity_key"], row["to_entity_key"]}:
                count += self._own_notes(parse_notes(row["notes"]))
        return count

    async def _remove_notes(self, advance: Advance) -> None:
        """Remove the notes that name the node as their source.

        The writes are those of the tools, so that each record that stays has the embedding of its
        text. Deleted records lose theirs and get another when they are restored.

        Raises:
            ConflictError: records kept their notes.
        """
        tally = Tally()
        options: WriteOptions = WriteOptions(prepare=self._without_notes)
        for scan in self._scans:
            await Rewrite(
                scan=scan,
                judge=lambda inspected: () if self._own_notes(inspected.record.notes) else None,
                options=options,
                batch_size=self.batch_size,
            ).run(tally, advance)
        for row in await self._deleted():
            others = self._other_notes(parse_notes(row["notes"]))
            await self.services.store.write(
                statement("remove_source_from_deleted", **self._names),
                {
                    "user_id": self.user_id,
                    "element_id": row["element_id"],
                    "notes": row["notes"],
                    "notes_after": dump_notes(others) if others else None,
                    "notes_text": notes_text_at(others, self.services.write_context.clock())
                    or None,
                },
            )
        if remaining := await self._count_notes():
            cause = f" ({tally.skipped[0].why})" if tally.skipped else ""
            raise ConflictError(
                f"{remaining} notes from {self.entity_key} remain{cause}. Forget it again"
            )

    def _without_notes(self, intent: Intent, stored: Record | None) -> Intent:
        if stored is None or not self._own_notes(stored.notes):
            return intent
        others = self._other_notes(stored.notes)
        return replace(intent, values={"notes": dump_notes(others) if others else None})

    def _own_notes(self, notes: Sequence[Note]) -> int:
        return len(notes) - len(self._other_notes(notes))

    def _other_notes(self, notes: Sequence[Note]) -> list[Note]:
        return [note for note in notes if note.source_entity_key != self.entity_key]

    @property
    def _scans(self) -> list[Scan]:
        mentioned = stored_form(self.entity_key or "")
        return [Scan(self.services, kind, self.user_id, mentioned=mentioned) for kind in KINDS]

    async def _deleted(self) -> list[Row]:
        """The deleted records whose notes name the node as their source."""
        rows = await self.services.store.read(
            statement("find_deleted_that_mention", **self._names),
            {"user_id": self.user_id, "mentioned": stored_form(self.entity_key or "")},
        )
        return [row for row in rows if self._own_notes(parse_notes(row["notes"]))]

    @property
    def _names(self) -> dict[str, Identifier]:
        deleted = {"all_deleted": DELETED_NAMES["all_deleted"]}
        return {**self.services.relationships.names, **deleted}

    @property
    def _parameters(self) -> dict[str, str | None]:
        return {"user_id": self.user_id, "entity_key": self.entity_key}
