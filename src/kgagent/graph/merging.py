"""Merging one node into another, in one transaction or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.aliases import ALIASES, changed_aliases
from kgagent.graph.merged_statements import lost_statement, note_of
from kgagent.graph.pair_state import PairState
from kgagent.graph.property_names import INTERNAL_PROPERTIES, LEVEL_FIELDS
from kgagent.graph.record_saver import stored_version, with_properties
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord, as_text
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.single_write import SingleWrite, embedded_rows, version_of
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import PlannedWrite
from kgagent.models import GraphNode, Note
from kgagent.models.free_types import normalised_type
from kgagent.models.history import dump_history
from kgagent.models.merged_notes import merge_notes, stored_form
from kgagent.models.note import LONG_AGO, dump_notes
from kgagent.models.plain import aliases_in
from kgagent.ontology import Ontology
from kgagent.turns import in_turns

RecordT = TypeVar("RecordT", bound=Record)

MAX_RECORDS = 10_000
"""Maximum number of records that a merge may change; all of them are changed in one transaction."""

_OF_TYPE = ("description", "when", "confidence", "salience", *LEVEL_FIELDS)
_NEVER_COPIED = INTERNAL_PROPERTIES | {"entity_key", "notes", "updated_at", ALIASES, *LEVEL_FIELDS}


@dataclass(frozen=True)
class RecordChange(Generic[RecordT]):
    """A record before and after a merge.

    Attributes:
        stored: the record before.
        after: the record after.
        changes: the properties that differ.
        lost: what the records merged into it stated that it does not; its notes keep it.
    """

    stored: RecordT
    after: RecordT
    changes: Mapping[str, Any]
    lost: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MergePlan:
    """What a merge writes.

    Attributes:
        node: the kept node.
        drop: the dropped node.
        moved: relationships that get the kept node in place of the dropped one.
        merged: relationships of the kept node that receive the content of those of the dropped
            node.
        citing_nodes: other nodes with a note that names the dropped node as its source.
        citing_relationships: other relationships with such a note.
        between: relationships between the two nodes; they are deleted, and their notes move to the
            kept node.
        read: every relationship whose version must be unchanged.
        deleted: every relationship of the dropped node.
    """

    node: RecordChange[NodeRecord]
    drop: NodeRecord
    moved: tuple[RecordChange[RelationshipRecord], ...]
    merged: tuple[RecordChange[RelationshipRecord], ...]
    citing_nodes: tuple[RecordChange[NodeRecord], ...]
    citing_relationships: tuple[RecordChange[RelationshipRecord], ...]
    between: tuple[RelationshipRecord, ...]
    read: tuple[RelationshipRecord, ...]
    deleted: tuple[RelationshipRecord, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """What the dropped node and its relationships stated otherwise, which the records have as
        notes.
        """
        changes: tuple[RecordChange[Any], ...] = (self.node, *self.moved, *self.merged)
        return tuple(dict.fromkeys(note.content for change in changes for note in change.lost))


@dataclass(frozen=True)
class MergeResult:
    """A merge that was written.

    Attributes:
        plan: what was written.
        node: the kept node.
        embedded: number of new embeddings.
    """

    plan: MergePlan
    node: GraphNode
    embedded: int


@dataclass(frozen=True)
class Merge(SingleWrite[MergePlan, MergeResult]):
    """Merges a node into another of the same label.

    Attributes:
        graph: the records of the user.
        keep: key of the node to keep.
        drop: key of the node to merge into it.
    """

    graph: UserGraph
    keep: str
    drop: str

    async def plan(self) -> MergePlan:
        """Read the two nodes and all records that change, and decide what to write.

        Raises:
            NodeNotFoundError: a node does not exist for this user.
            InputError: the two nodes cannot be merged.
        """
        user_id = self.graph.user_id
        stored = await self.graph.nodes.read(user_id, [self.keep, self.drop], for_update=True)
        keep, drop = self._checked(stored.get(self.keep), stored.get(self.drop))
        of_drop, unmanaged = await self.graph.relationships.read_of_node(
            user_id, self.drop, limit=MAX_RECORDS + 1
        )
        if unmanaged:
            raise InputError(
                f"{self.drop} has relationships that kgagent does not manage "
                f"({', '.join(unmanaged)}), which merging "
                "would delete; move or delete them with the program that created them, or keep "
                "this node instead"
            )
        nodes, relationships = await self._citing()
        if max(len(of_drop), len(nodes) + len(relationships)) > MAX_RECORDS:
            raise InputError(
                f"Merging {self.drop} would change more than {MAX_RECORDS:,} records; "
                "keep the node with more relationships instead"
            )
        others = {self._other_end(record) for record in of_drop} - {self.keep, self.drop}
        pairs = await self._pairs(others)
        counterparts: dict[tuple[str, str], RelationshipRecord] = {}
        for other, pair in pairs.items():
            for record in pair.relationships:
                counterparts.setdefault((record.neo4j_type, other), record)
        # A node that has been deleted since the first statement took its relationships with it.
        own = tuple(
            record
            for record in of_drop
            if self._other_end(record) in {self.keep, self.drop, *pairs}
        )
        # A record reads its notes once; the plan, which is made in one go, needs those of all
        # records.
        await in_turns(
            lambda record: record.notes, (*own, *counterparts.values(), *nodes, *relationships)
        )

        between = tuple(
            record for record in own if self._other_end(record) in {self.keep, self.drop}
        )
        node = self._kept_node(keep, drop, between)
        groups: dict[tuple[str, str], list[RelationshipRecord]] = {}
        for record in own:
            if record not in between:
                groups.setdefault((record.neo4j_type, self._other_end(record)), []).append(record)
        foreign = {
            (record.neo4j_type, other) for other, pair in pairs.items() for record in pair.foreign
        }
        if refused := next((group for group in groups if group in foreign), None):
            raise InputError(
                f"{self.keep} has a {refused[0]} relationship with {refused[1]} that names another "
                f"user as its owner. "
                "`kgagent migrate` gives it to the owner of the two nodes"
            )
        united = [
            (counterparts[group], records)
            for group, records in groups.items()
            if group in counterparts
        ]
        alone = [records for group, records in groups.items() if group not in counterparts]
        planned = {
            record.element_id for record in (*own, *(record for record, _ in united), keep, drop)
        }
        citing = [record for record in relationships if self._is_cited_by(record)]
        return MergePlan(
            node=node,
            drop=drop,
            moved=tuple(self._moved(records, node.after) for records in alone),
            merged=tuple(self._change(record, records) for record, records in united),
            citing_nodes=tuple(
                self._change(record)
                for record in nodes
                if self._is_cited_by(record) and record.element_id not in planned
            ),
            citing_relationships=tuple(
                self._change(record) for record in citing if record.element_id not in planned
            ),
            between=between,
            read=_in_lock_order((*own, *(record for record, _ in united), *citing)),
            deleted=own,
        )

    async def save(self, plan: MergePlan) -> MergeResult | None:
        """Embed the changed texts and write."""
        graph = self.graph
        nodes = (plan.node, *plan.citing_nodes)
        relationships = (*plan.moved, *plan.merged, *plan.citing_relationships)
        changes: list[RecordChange[Any]] = [*nodes, *relationships]
        records = [PlannedWrite(one.stored, one.after, one.changes) for one in changes]
        rows, embedded = await embedded_rows(records, graph)
        first_moved, first_changed = len(nodes), len(nodes) + len(plan.moved)
        parameters = {
            "keep": plan.node.stored.element_id,
            "drop": plan.drop.element_id,
            "read_nodes": [
                version_of(node) for node in (plan.drop, *(change.stored for change in nodes))
            ],
            "read_relationships": [
                {
                    "element_id": record.element_id,
                    "neo4j_type": record.neo4j_type,
                    "version": stored_version(record),
                }
                for record in plan.read
            ],
            "changed_nodes": rows[:first_moved],
            "moved": rows[first_moved:first_changed],
            "changed": rows[first_changed:],
            "dropped": [record.element_id for record in plan.deleted],
            "unindexed": [
                plan.drop.entity_key,
                *(graph.relationships.relationship_key(record) for record in plan.deleted),
            ],
        }
        if not await graph.write("merge_nodes", parameters):
            return None
        if graph.context.on_change is not None:
            # Deleted records are not reported.
            for one in changes:
                kind = graph.kind(one.after)
                graph.context.on_change(
                    kind.to_model(one.stored, None), kind.to_model(one.after, None)
                )
        node = graph.nodes.to_model(with_properties(plan.node.after, rows[0]["properties"]))
        return MergeResult(plan, node, embedded)

    @property
    def _ontology(self) -> Ontology:
        return self.graph.nodes.ontology

    def _checked(
        self, keep: NodeRecord | None, drop: NodeRecord | None
    ) -> tuple[NodeRecord, NodeRecord]:
        if self.keep == self.drop:
            raise InputError(
                f"A node cannot be merged with itself, got {self.keep} twice; of two nodes with "
                f"one name, give the keys"
            )
        if keep is None or drop is None:
            both = ((self.keep, keep), (self.drop, drop))
            raise NodeNotFoundError(
                f"Node not found: {', '.join(key for key, node in both if node is None)}"
            )
        if keep.label != drop.label:
            raise InputError(
                f"Only nodes of one label can be merged, got {_shown(keep)} and {_shown(drop)}. "
                f"Copy "
                "what the node to keep lacks, then delete the other"
            )
        return keep, drop

    async def _citing(self) -> tuple[list[NodeRecord], list[RelationshipRecord]]:
        """Records whose notes contain the key of the dropped node, perhaps as their source."""

        async def rows(name: str) -> list[Row]:
            text = statement(name, **self.graph.relationships.names)
            parameters = {"limit": MAX_RECORDS + 1, "text": stored_form(self.drop)}
            return await self.graph.nodes.store.read_for_update(
                text, {"user_id": self.graph.user_id, **parameters}
            )

        nodes = [
            NodeRecord.read(row["node"], self._ontology)
            for row in await rows("read_nodes_that_mention")
        ]
        of_relationships = await rows("read_relationships_that_mention")
        return nodes, [RelationshipRecord.read(row["relationship"]) for row in of_relationships]

    async def _pairs(self, others: Iterable[str]) -> dict[str, PairState]:
        """The kept node with each of other nodes that exist, by their keys."""
        intents = [
            RelationshipIntent(from_entity_key=self.keep, to_entity_key=other)
            for other in sorted(others)
        ]
        user_id = self.graph.user_id
        read = (
            await self.graph.relationships.read_pairs(user_id, intents, for_update=True)
            if intents
            else []
        )
        return {pair.second.entity_key: pair for pair in read if pair.second is not None}

    def _is_cited_by(self, record: Record) -> bool:
        return any(note.source_entity_key == self.drop for note in record.notes)

    def _kept_node(
        self, keep: NodeRecord, drop: NodeRecord, between: Sequence[RelationshipRecord]
    ) -> RecordChange[NodeRecord]:
        node = self._change(keep, (drop, *between))
        aliases = changed_aliases(
            keep, values={}, former=(*aliases_in(drop.properties), drop.text("name"))
        )
        return replace(
            node, after=with_properties(node.after, aliases), changes={**node.changes, **aliases}
        )

    def _moved(
        self, records: Sequence[RelationshipRecord], kept: NodeRecord
    ) -> RecordChange[RelationshipRecord]:
        """A relationship with the kept node in place of the dropped one, and the content of its
        duplicates.
        """
        change = self._change(records[0], records[1:])
        if change.after.from_entity_key == self.drop:
            return replace(
                change,
                after=replace(change.after, from_entity_key=self.keep, from_name=kept.text("name")),
            )
        return replace(
            change, after=replace(change.after, to_entity_key=self.keep, to_name=kept.text("name"))
        )

    def _change(self, record: RecordT, others: Sequence[Record] = ()) -> RecordChange[RecordT]:
        """Give a record what it lacks from others of its kind, and the notes of all of them."""
        changes = self._missing_properties(
            record, [other for other in others if type(other) is type(record)]
        )
        kept = with_properties(record, changes)
        lost = tuple(
            note_of(text, other)
            for other in others
            if (text := lost_statement(kept, other, self._ontology))
        )
        notes = self._with_kept_source(record.notes)
        added = [self._with_kept_source(other.notes) for other in others]
        if lost or any(added):
            notes = merge_notes(notes, *added, lost)
        if notes != record.notes:
            changes["notes"] = dump_notes(notes)
        if any(other.history for other in others if type(other) is type(record)):
            entries = [
                entry
                for one in (record, *others)
                if type(one) is type(record)
                for entry in one.history
            ]
            changes["history"] = dump_history(
                sorted(entries, key=lambda entry: entry.until or LONG_AGO)
            )
        return RecordChange(record, with_properties(record, changes), changes, lost)

    def _missing_properties(self, record: Record, others: Iterable[Record]) -> dict[str, Any]:
        """Properties that the record lacks, each from the first of the others that has it.

        A description, a time and levels of a relationship of another type would say something else
        of this one.
        """
        changes: dict[str, Any] = {}
        for other in others:
            of_type = (
                {*_OF_TYPE}
                if _is_of_another_type({**record.properties, **changes}, other)
                else set()
            )
            for name, value in other.properties.items():
                own = {**record.properties, **changes}.get(name)
                if name not in _NEVER_COPIED | of_type and own in (None, ""):
                    changes[name] = value
            if (
                not of_type
                and isinstance(record, RelationshipRecord)
                and isinstance(other, RelationshipRecord)
            ):
                for field in LEVEL_FIELDS:
                    level = other.known_level(self._ontology, field)
                    if (
                        level is not None
                        and field not in changes
                        and record.known_level(self._ontology, field) is None
                    ):
                        changes[field] = level
        return changes

    def _with_kept_source(self, notes: tuple[Note, ...]) -> tuple[Note, ...]:
        """Notes that name the kept node as their source where they named the dropped one."""
        kept = {"source_entity_key": self.keep}
        return tuple(
            note.model_copy(update=kept) if note.source_entity_key == self.drop else note
            for note in notes
        )

    def _other_end(self, record: RelationshipRecord) -> str:
        return (
            record.to_entity_key if record.from_entity_key == self.drop else record.from_entity_key
        )


def _is_of_another_type(properties: Mapping[str, Any], other: Record) -> bool:
    given, stored = as_text(properties.get("relationship_type")), other.text("relationship_type")
    types = {normalised_type(given), normalised_type(stored)}
    return len(types - {""}) > 1


def _in_lock_order(records: Iterable[RelationshipRecord]) -> tuple[RelationshipRecord, ...]:
    """Each record once, sorted by id: concurrent merges then take locks in the same order."""
    by_id = {record.element_id: record for record in records}
    return tuple(by_id[element_id] for element_id in sorted(by_id))


def _shown(node: NodeRecord) -> str:
    return f"{node.label} {node.text('name')!r} ({message_key(node.entity_key)})"
