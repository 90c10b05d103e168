"""Merging one node into another, in one transaction or not at all. Restoring the dropped node takes
it back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.aliases import ALIASES, changed_aliases
from kgagent.graph.facts import joined_when
from kgagent.graph.merged_statements import lost_statement, note_of, says_something_else
from kgagent.graph.pair_state import PairState
from kgagent.graph.property_names import (
    FIRST_SAID,
    INTERNAL_PROPERTIES,
    LEVEL_FIELDS,
    SOURCE_TEXT,
)
from kgagent.graph.record_saver import with_properties
from kgagent.graph.record_trust import trust_of_joined
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.whole_write import MAX_RECORDS, Change, Changes, Plan, WholeWrite, changed
from kgagent.models import GraphNode, Note
from kgagent.models.history import dump_history
from kgagent.models.merged_notes import merge_notes
from kgagent.models.note import dump_notes
from kgagent.models.plain import aliases_in
from kgagent.models.when import periods_of
from kgagent.ontology import Ontology
from kgagent.turns import in_turns

RecordT = TypeVar("RecordT", bound=Record)

_OF_TYPE = {"relationship_type", "description", "when", "confidence", "salience", *LEVEL_FIELDS}
"""What another statement says of itself, and would be wrong of this one."""

_NEVER_COPIED = INTERNAL_PROPERTIES | {"entity_key", "notes", "updated_at", ALIASES, *LEVEL_FIELDS}


class _Merged(NamedTuple, Generic[RecordT]):
    """A record with what it gets from others, and what those stated that it does not, which its
    notes keep.
    """

    write: Change[RecordT]
    lost: tuple[Note, ...]


@dataclass(frozen=True, kw_only=True)
class MergePlan(Plan[GraphNode]):
    """What a merge does.

    Attributes:
        drop: the dropped node.
        merged: number of relationships of the kept node that get the content of those of the
            dropped one.
        between: number of relationships between the two nodes; they are deleted, and their notes
            move to the kept node.
        cited: number of other records with a note that names the dropped node as its source.
        lost: what the dropped node and its relationships stated otherwise, which the records have
            as notes.
    """

    drop: GraphNode
    merged: int
    between: int
    cited: int
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Merge(WholeWrite[MergePlan]):
    """Merges a node into another of the same label.

    Attributes:
        keep: key of the node to keep.
        drop: key of the node to merge into it.
    """

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
                f"({', '.join(unmanaged)}), which merging would delete; move or delete them with "
                f"the program that created them, or keep this node instead"
            )
        nodes, relationships = await self.graph.citing(self.drop, MAX_RECORDS + 1)
        if max(len(of_drop), len(nodes) + len(relationships)) > MAX_RECORDS:
            raise InputError(
                f"Merging {self.drop} would change more than {MAX_RECORDS:,} records; "
                "keep the node with more relationships instead"
            )
        pairs = await self._pairs(
            {self._other_end(one) for one in of_drop} - {self.keep, self.drop}
        )
        counterparts: dict[tuple[str, ...], RelationshipRecord] = {}
        for other, pair in pairs.items():
            for record in pair.relationships:
                counterparts.setdefault(_place(record, other), record)
        between: list[RelationshipRecord] = []
        groups: dict[tuple[str, ...], list[RelationshipRecord]] = {}
        for record in of_drop:
            other = self._other_end(record)
            if other in {self.keep, self.drop}:
                between.append(record)
            # A node that has been deleted since the first statement took its relationships with it.
            elif other in pairs:
                groups.setdefault(_place(record, other), []).append(record)
        foreign = {
            _place(record, other) for other, pair in pairs.items() for record in pair.foreign
        }
        if refused := next((group for group in groups if group in foreign), None):
            raise InputError(
                f"{self.keep} has a {refused[0]} relationship with {refused[1]} that names another "
                f"user as its owner. `kgagent migrate` gives it to the owner of the two nodes"
            )
        # A record reads its notes once; the plan, which is made in one go, needs those of all
        # records.
        await in_turns(
            lambda record: record.notes, (*of_drop, *counterparts.values(), *nodes, *relationships)
        )

        node = self._kept_node(keep, drop, between)
        merged = [
            self._change(counterparts[group], records)
            for group, records in groups.items()
            if group in counterparts
        ]
        moved = [
            self._moved(records, pairs[group[1]])
            for group, records in groups.items()
            if group not in counterparts
        ]
        deleted = (drop, *between, *(one for records in groups.values() for one in records))
        planned = {one.element_id for one in (keep, *deleted)}
        planned |= {one.write.after.element_id for one in merged}
        cited = [
            self._change(record).write
            for record in (*nodes, *relationships)
            if self._is_cited_by(record) and record.element_id not in planned
        ]
        lost = [*node.lost, *(note for one in [*moved, *merged] for note in one.lost)]
        to_model = self.graph.nodes.to_model
        return MergePlan(
            record=to_model(node.write.after),
            drop=to_model(drop),
            merged=len(merged),
            between=len(between),
            cited=len(cited),
            lost=tuple(dict.fromkeys(note.content for note in lost)),
            changes=Changes(
                deleted=deleted,
                changed=(node.write, *(one.write for one in merged), *cited),
                moved=tuple(one.write for one in moved),
                merged_into=self.keep,
            ),
        )

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
                f"Copy what the node to keep lacks, then delete the other"
            )
        texts = [node.text(SOURCE_TEXT) for node in (keep, drop)]
        if all(texts) and texts[0] != texts[1]:
            raise InputError(
                f"Sources with different texts are not the same, got {_shown(keep)} and "
                f"{_shown(drop)}. Delete the one that is not needed"
            )
        return keep, drop

    async def _pairs(self, others: Iterable[str]) -> dict[str, PairState]:
        """The kept node with each of other nodes that exist, by their keys."""
        intents = [
            RelationshipIntent(from_entity_key=self.keep, to_entity_key=other)
            for other in sorted(others)
        ]
        read = await self.graph.relationships.read_pairs(
            self.graph.user_id, intents, for_update=True
        )
        return {pair.second.entity_key: pair for pair in read if pair.first and pair.second}

    def _is_cited_by(self, record: Record) -> bool:
        return any(note.source_entity_key == self.drop for note in record.notes)

    def _kept_node(
        self, keep: NodeRecord, drop: NodeRecord, between: Sequence[RelationshipRecord]
    ) -> _Merged[NodeRecord]:
        """The kept node with what it gets from the dropped one, and the dropped one's names and
        text.
        """
        change = self._change(keep, (drop, *between))
        aliases = changed_aliases(
            keep, values={}, former=(*aliases_in(drop.properties), drop.text("name"))
        )
        text, words = drop.text(SOURCE_TEXT), dict[str, Any]()
        if text and not keep.text(SOURCE_TEXT):
            words = {SOURCE_TEXT: text, "said_on": drop.properties.get("said_on")}
            words |= trust_of_joined(keep, [drop], words)
        return change._replace(write=changed(keep, {**change.write.changes, **aliases, **words}))

    def _moved(
        self, records: Sequence[RelationshipRecord], pair: PairState
    ) -> _Merged[RelationshipRecord]:
        """A relationship with the kept node in place of the dropped one, and the content of its
        duplicates.
        """
        change = self._change(records[0], records[1:])
        keep, other = pair.first, pair.second
        assert keep is not None  # noqa: S101
        assert other is not None  # noqa: S101
        starts = records[0].from_entity_key == self.drop
        first, second = (keep, other) if starts else (other, keep)
        after = replace(
            change.write.after,
            from_element_id=first.element_id,
            from_entity_key=first.entity_key,
            from_name=first.name,
            to_element_id=second.element_id,
            to_entity_key=second.entity_key,
            to_name=second.name,
        )
        return change._replace(write=replace(change.write, after=after))

    def _change(self, record: RecordT, others: Sequence[Record] = ()) -> _Merged[RecordT]:
        """Give a record what it lacks from others of its kind, and the notes of all of them."""
        alike = [other for other in others if type(other) is type(record)]
        changes = self._missing_properties(record, alike)
        changes |= trust_of_joined(record, alike, changes)
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
        if any(other.history for other in alike):
            histories = (one.history for one in (record, *alike))
            changes["history"] = dump_history(merge(*histories, key=attrgetter("known_since")))
        return _Merged(changed(record, changes), lost)

    def _missing_properties(self, record: Record, others: Iterable[Record]) -> dict[str, Any]:
        """Properties that the record lacks, each from the first of the others that has it."""
        changes: dict[str, Any] = {}
        for other in others:
            present = with_properties(record, changes)
            differs = says_something_else(present, other, self._ontology)
            omitted = _NEVER_COPIED | (_OF_TYPE if differs else set())
            if isinstance(other, RelationshipRecord):
                omitted |= {"when"}
            changes |= {
                name: value
                for name, value in other.properties.items()
                if name not in omitted and present.properties.get(name) in (None, "")
            }
            if not differs and _is_earlier(other, present):
                changes |= {name: other.properties.get(name) for name in FIRST_SAID}
            if (
                not differs
                and isinstance(present, RelationshipRecord)
                and isinstance(other, RelationshipRecord)
            ):
                if when := joined_when(present, other):
                    changes["when"] = when
                for field in LEVEL_FIELDS:
                    level = other.known_level(self._ontology, field)
                    if level is not None and present.known_level(self._ontology, field) is None:
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


def _place(record: RelationshipRecord, other: str) -> tuple[str, ...]:
    """What is the same for relationships that become one if two of their ends do.

    Each of several that another program made between two nodes stays by itself.
    """
    return record.neo4j_type, other, record.key if record.is_parallel else ""


def _is_earlier(other: Record, record: Record) -> bool:
    """Whether a record was said before another one, as far as both days are known."""
    days = [periods_of(one.text("said_on")) for one in (other, record)]
    return all(days) and days[0][0].earliest < days[1][0].earliest


def _shown(node: NodeRecord) -> str:
    return f"{node.label} {node.text('name')!r} ({message_key(node.entity_key)})"
