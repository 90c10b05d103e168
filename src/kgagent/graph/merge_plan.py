"""Planning the merge of two nodes: which relationships move, which are merged, and what each record then holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.aliases import ALIASES, changed_aliases
from kgagent.graph.property_names import INTERNAL_PROPERTIES, LEVEL_FIELDS
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord, as_text
from kgagent.graph.reference_forms import message_key
from kgagent.graph.replaced_statements import lost_statement, note_of
from kgagent.models import Note
from kgagent.models.merged_notes import merge_notes
from kgagent.models.note import dump_notes
from kgagent.models.plain import aliases_in
from kgagent.ontology import Ontology

RecordT = TypeVar("RecordT", bound=Record)

MAX_RECORDS = 10_000
"""Maximum number of records that a merge may change; all of them are changed in one transaction."""

"""Called with the properties of the kept and of the dropped node; returns properties to set on the kept one."""

_OF_TYPE = ("description", "confidence", "salience", *LEVEL_FIELDS)
_NEVER_COPIED = INTERNAL_PROPERTIES | {"entity_key", "notes", "updated_at", ALIASES, *LEVEL_FIELDS}


@dataclass(frozen=True, kw_only=True)
class MergeIntent:
    """Two nodes that stand for the same thing.

    Attributes:
        keep: key of the node to keep.
        drop: key of the node to merge into it.
    """

    keep: str
    drop: str


@dataclass(frozen=True, kw_only=True)
class MergeRecords:
    """The records that a merge reads.

    Attributes:
        keep: the node to keep; None if it does not exist.
        drop: the node to drop, likewise.
        relationships: relationships of the dropped node.
        counterparts: relationships of the kept node, by type and key of the other end.
        unmanaged_types: types of relationships of the dropped node that kgagent does not manage.
        foreign: type and key of the other end of each relationship of the kept node that names another owner.
        citing_nodes: nodes with a note that names the dropped node as its source.
        citing_relationships: relationships with such a note.
        is_too_large: whether there are more records than one transaction should change.
    """

    keep: NodeRecord | None
    drop: NodeRecord | None
    relationships: tuple[RelationshipRecord, ...] = ()
    counterparts: Mapping[tuple[str, str], RelationshipRecord]
    unmanaged_types: tuple[str, ...] = ()
    foreign: frozenset[tuple[str, str]] = frozenset()
    citing_nodes: tuple[NodeRecord, ...] = ()
    citing_relationships: tuple[RelationshipRecord, ...] = ()
    is_too_large: bool = False


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


@dataclass(frozen=True)
class MergePlan:
    """What a merge writes.

    Attributes:
        node: the kept node.
        drop: the dropped node.
        moved: relationships that get the kept node in place of the dropped one.
        merged: relationships of the kept node that receive the content of those of the dropped node.
        citing_nodes: other nodes with a note that names the dropped node as its source.
        citing_relationships: other relationships with such a note.
        between: relationships between the two nodes; they are deleted, and their notes move to the kept node.
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


def plan_merge(intent: MergeIntent, records: MergeRecords, ontology: Ontology) -> MergePlan:
    """Decide what to write.

    Args:
        intent: the two nodes.
        records: what the merge reads.
        ontology: the words for attitude and proximity.

    Raises:
        NodeNotFoundError: a node does not exist for this user.
        InputError: the two nodes cannot be merged.
    """
    keep, drop = _check(intent, records)
    ends = {intent.keep, intent.drop}
    between = tuple(record for record in records.relationships if _other_end(record, intent.drop) in ends)
    groups: dict[tuple[str, str], list[RelationshipRecord]] = {}
    for record in records.relationships:
        if record not in between:
            groups.setdefault((record.neo4j_type, _other_end(record, intent.drop)), []).append(record)
    node = _merge(keep, (drop, *between), intent, ontology)
    if aliases := changed_aliases(keep, values={}, former=(*aliases_in(drop.properties), drop.text("name"))):
        node = replace(node, after=with_properties(node.after, aliases), changes={**node.changes, **aliases})
    moved: list[RecordChange[RelationshipRecord]] = []
    merged: list[RecordChange[RelationshipRecord]] = []
    for group, relationships in groups.items():
        if group in records.foreign:
            raise InputError(
                f"{intent.keep} has a {group[0]} relationship with {group[1]} that names another user as its owner. "
                "`kgagent migrate` gives it to the owner of the two nodes"
            )
        counterpart = records.counterparts.get(group)
        if counterpart is None:
            change = _merge(relationships[0], relationships[1:], intent, ontology)
            moved.append(replace(change, after=_with_kept_node(change.after, intent, node.after)))
        else:
            merged.append(_merge(counterpart, relationships, intent, ontology))
    counterparts = [change.stored for change in merged]
    planned = {record.element_id for record in (*records.relationships, *counterparts, keep, drop)}
    return MergePlan(
        node=node,
        drop=drop,
        moved=tuple(moved),
        merged=tuple(merged),
        citing_nodes=tuple(
            _merge(citing, (), intent, ontology) for citing in records.citing_nodes if citing.element_id not in planned
        ),
        citing_relationships=tuple(
            _merge(citing, (), intent, ontology)
            for citing in records.citing_relationships
            if citing.element_id not in planned
        ),
        between=between,
        read=_in_lock_order((*records.relationships, *counterparts, *records.citing_relationships)),
        deleted=records.relationships,
    )


def _check(intent: MergeIntent, records: MergeRecords) -> tuple[NodeRecord, NodeRecord]:
    keep, drop = records.keep, records.drop
    if intent.keep == intent.drop:
        raise InputError(
            f"A node cannot be merged with itself, got {intent.keep} twice; of two nodes with one name, give the keys"
        )
    if keep is None or drop is None:
        found = ((intent.keep, keep), (intent.drop, drop))
        raise NodeNotFoundError(f"Node not found: {', '.join(key for key, node in found if node is None)}")
    if keep.label != drop.label:
        raise InputError(
            f"Only nodes of one label can be merged, got {_shown(keep)} and {_shown(drop)}. Copy "
            "what the node to keep lacks, then delete the other"
        )
    if records.unmanaged_types:
        raise InputError(
            f"{intent.drop} has relationships that kgagent does not manage ({', '.join(records.unmanaged_types)}), "
            "which merging would delete; move or delete them with the program that created them, or keep "
            "this node instead"
        )
    if records.is_too_large:
        raise InputError(
            f"Merging {intent.drop} would change more than {MAX_RECORDS:,} records; "
            "keep the node with more relationships instead"
        )
    return keep, drop


def _merge(record: RecordT, others: Sequence[Record], intent: MergeIntent, ontology: Ontology) -> RecordChange[RecordT]:
    """Give a record what it lacks from others of its kind, and the notes of all of them."""
    changes = _missing_properties(record, [other for other in others if type(other) is type(record)], ontology)
    notes = _with_kept_source(record.notes, intent)
    added = [_with_kept_source(other.notes, intent) for other in others]
    lost = _lost_statements(with_properties(record, changes), others, ontology)
    if lost or any(added):
        notes = merge_notes(notes, *added, lost)
    if notes != record.notes:
        changes["notes"] = dump_notes(notes)
    return RecordChange(record, with_properties(record, changes), changes, lost)


def _missing_properties(record: Record, others: Iterable[Record], ontology: Ontology) -> dict[str, Any]:
    """Properties that the record lacks, each from the first of the others that has it.

    A description and levels of a relationship of another type would say something else of this one.
    """
    changes: dict[str, Any] = {}
    for other in others:
        of_type = {*_OF_TYPE} if _is_of_another_type({**record.properties, **changes}, other) else set()
        for name, value in other.properties.items():
            known = {**record.properties, **changes}.get(name)
            if name not in _NEVER_COPIED | of_type and known in (None, ""):
                changes[name] = value
        if not of_type and isinstance(record, RelationshipRecord) and isinstance(other, RelationshipRecord):
            for field in LEVEL_FIELDS:
                level = other.known_level(ontology, field)
                if level is not None and field not in changes and record.known_level(ontology, field) is None:
                    changes[field] = level
    return changes


def _is_of_another_type(known: Mapping[str, Any], other: Record) -> bool:
    types = {as_text(known.get("relationship_type")).casefold(), other.text("relationship_type").casefold()}
    return len(types - {""}) > 1


def _lost_statements(kept: Record, others: Iterable[Record], ontology: Ontology) -> tuple[Note, ...]:
    """Notes with what the merged records state that the kept one does not."""
    lost = ((lost_statement(kept, other, ontology), other) for other in others)
    return tuple(note_of(statement, other) for statement, other in lost if statement)


def _with_kept_source(notes: tuple[Note, ...], intent: MergeIntent) -> tuple[Note, ...]:
    """Notes that name the kept node as their source where they named the dropped one."""
    return tuple(
        note.model_copy(update={"source_entity_key": intent.keep}) if note.source_entity_key == intent.drop else note
        for note in notes
    )


def _with_kept_node(record: RelationshipRecord, intent: MergeIntent, kept: NodeRecord) -> RelationshipRecord:
    """A relationship with the kept node in place of the dropped one."""
    if record.from_entity_key == intent.drop:
        return replace(record, from_entity_key=intent.keep, from_name=kept.text("name"))
    return replace(record, to_entity_key=intent.keep, to_name=kept.text("name"))


def _other_end(record: RelationshipRecord, entity_key: str) -> str:
    return record.to_entity_key if record.from_entity_key == entity_key else record.from_entity_key


def _in_lock_order(records: Iterable[RelationshipRecord]) -> tuple[RelationshipRecord, ...]:
    """Each record once, sorted by id: concurrent merges then take locks in the same order."""
    by_id = {record.element_id: record for record in records}
    return tuple(by_id[element_id] for element_id in sorted(by_id))


def _shown(node: NodeRecord) -> str:
    return f"{node.label} {node.text('name')!r} ({message_key(node.entity_key)})"
