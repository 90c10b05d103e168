"""What merging one node into another comes to: which relationships move, which become one, and what each then holds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.record_writer import without_nothing
from kgagent.graph.records import INTERNAL_PROPERTIES, LEVEL_FIELDS, NodeRecord, Record, RelationshipRecord
from kgagent.models import Note
from kgagent.models.note import dump_notes, merge_notes
from kgagent.ontology import Ontology

RecordT = TypeVar("RecordT", bound=Record)

MAX_RECORDS = 10_000
"""Records that one merge may touch; all of them are changed in one transaction."""

_NEVER_TAKEN_OVER = INTERNAL_PROPERTIES | {"entity_key", "notes", "updated_at", *LEVEL_FIELDS}


@dataclass(frozen=True, kw_only=True)
class MergeIntent:
    """Two nodes that are the same thing.

    Attributes:
        keep: key of the one that stays.
        drop: key of the one that is merged into it.
    """

    keep: str
    drop: str


@dataclass(frozen=True, kw_only=True)
class MergeState:
    """All that a merge touches, as it is.

    Attributes:
        relationships: those of the node that is dropped.
        counterparts: those of the node that is kept, by type and key of the other end.
        element_ids: of the nodes at the other ends, by key.
        foreign: types of relationships of the dropped node that kgagent does not keep.
        mentioning_nodes: nodes with a note whose source is the dropped node.
        mentioning_relationships: relationships with such a note.
        is_too_large: whether it touches more records than one transaction should.
    """

    keep: NodeRecord | None
    drop: NodeRecord | None
    relationships: tuple[RelationshipRecord, ...] = ()
    counterparts: Mapping[tuple[str, str], RelationshipRecord]
    element_ids: Mapping[str, str]
    foreign: tuple[str, ...] = ()
    mentioning_nodes: tuple[NodeRecord, ...] = ()
    mentioning_relationships: tuple[RelationshipRecord, ...] = ()
    is_too_large: bool = False


@dataclass(frozen=True)
class Changed(Generic[RecordT]):
    """A record before and after; `changes` are the properties that differ."""

    stored: RecordT
    after: RecordT
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class MergePlan:
    """What a merge does.

    Attributes:
        node: the node that is kept.
        drop: the node that is dropped.
        moved: relationships that get the kept node in place of the dropped one.
        united: relationships of the kept node that take over what others of the dropped one said.
        mentioning_nodes: other nodes with a note whose source is the dropped node.
        mentioning_relationships: other relationships with such a note.
        between: relationships between the two nodes; they are dropped, and their notes kept on the node.
        read: every relationship that must not have changed since.
        dropped: every relationship of the dropped node.
    """

    node: Changed[NodeRecord]
    drop: NodeRecord
    moved: tuple[Changed[RelationshipRecord], ...]
    united: tuple[Changed[RelationshipRecord], ...]
    mentioning_nodes: tuple[Changed[NodeRecord], ...]
    mentioning_relationships: tuple[Changed[RelationshipRecord], ...]
    between: tuple[RelationshipRecord, ...]
    read: tuple[RelationshipRecord, ...]
    dropped: tuple[RelationshipRecord, ...]


def plan_merge(intent: MergeIntent, state: MergeState, ontology: Ontology) -> MergePlan:
    """Decide what to write.

    Raises:
        NodeNotFoundError: a node does not exist for this user.
        InputError: the two cannot be merged.
    """
    keep, drop = _mergeable(intent, state)
    both = {intent.keep, intent.drop}
    between = tuple(record for record in state.relationships if _other_end(record, intent.drop) in both)
    groups: dict[tuple[str, str], list[RelationshipRecord]] = {}
    for record in state.relationships:
        if record not in between:
            groups.setdefault((record.neo4j_type, _other_end(record, intent.drop)), []).append(record)
    node = _with_ingestions_of(drop, _united(keep, (drop, *between), intent, ontology))
    element_ids = {**state.element_ids, intent.keep: keep.element_id}
    moved: list[Changed[RelationshipRecord]] = []
    united: list[Changed[RelationshipRecord]] = []
    for place, records in groups.items():
        counterpart = state.counterparts.get(place)
        if counterpart is None:
            taken = _united(records[0], records[1:], intent, ontology)
            moved.append(replace(taken, after=_moved(taken.after, intent, node.after, element_ids)))
        else:
            united.append(_united(counterpart, records, intent, ontology))
    told = {record.element_id for record in (*state.relationships, *(change.stored for change in united), keep, drop)}
    return MergePlan(
        node=node,
        drop=drop,
        moved=tuple(moved),
        united=tuple(united),
        mentioning_nodes=tuple(
            _united(node, (), intent, ontology) for node in state.mentioning_nodes if node.element_id not in told
        ),
        mentioning_relationships=tuple(
            _united(relationship, (), intent, ontology)
            for relationship in state.mentioning_relationships
            if relationship.element_id not in told
        ),
        between=between,
        read=_each_once((*state.relationships, *(change.stored for change in united), *state.mentioning_relationships)),
        dropped=state.relationships,
    )


def stored_form(entity_key: str) -> str:
    """How a key stands in notes as they are stored."""
    return json.dumps(entity_key, ensure_ascii=False)[1:-1]


def mentions(record: Record, entity_key: str) -> bool:
    """Whether a note names a node as its source."""
    return any(note.source_entity_key == entity_key for note in record.notes)


def merged_ingestions(stored: object) -> dict[str, Any]:
    """How far the sources that were merged into a node were read, by key; empty where nothing is kept."""
    try:
        kept = json.loads(stored) if isinstance(stored, str) else None
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def _with_ingestions_of(drop: NodeRecord, kept: Changed[NodeRecord]) -> Changed[NodeRecord]:
    """Remember how far the dropped node was read as a source, so that ingestion does not read it as a new one."""
    told = merged_ingestions(drop.properties.get("ingestion_merged"))
    if "ingestion_progress" in drop.properties:
        told[drop.entity_key] = drop.properties["ingestion_progress"]
    if not told:
        return kept
    merged = {"ingestion_merged": json.dumps(merged_ingestions(kept.stored.properties.get("ingestion_merged")) | told)}
    after = replace(kept.after, properties={**kept.after.properties, **merged})
    return replace(kept, after=after, changes={**kept.changes, **merged})


def _mergeable(intent: MergeIntent, state: MergeState) -> tuple[NodeRecord, NodeRecord]:
    keep, drop = state.keep, state.drop
    if intent.keep == intent.drop:
        raise InputError(f"A node cannot be merged with itself, got {intent.keep} twice")
    if keep is None or drop is None:
        missing = ((intent.keep, keep), (intent.drop, drop))
        raise NodeNotFoundError(f"Node not found: {', '.join(key for key, node in missing if node is None)}")
    if keep.label != drop.label:
        raise InputError(
            f"Only nodes of one label can be merged: {intent.keep} is a {keep.label} and {intent.drop} a {drop.label}"
        )
    if state.foreign:
        raise InputError(
            f"{intent.drop} has relationships that kgagent does not keep ({', '.join(state.foreign)}), which would be "
            "lost; move or delete them with the program that made them, or keep this node instead"
        )
    if state.is_too_large:
        raise InputError(
            f"Merging {intent.drop} would change more than {MAX_RECORDS:,} records at once; "
            "keep the node with more relationships instead"
        )
    return keep, drop


def _united(record: RecordT, others: Sequence[Record], intent: MergeIntent, ontology: Ontology) -> Changed[RecordT]:
    """A record that takes over what others of its kind say beyond it, and the notes of all of them."""
    changes = _taken_over(record, [other for other in others if type(other) is type(record)], ontology)
    notes = _renamed(record.notes, intent)
    if any(other.notes for other in others):
        notes = merge_notes(notes, *(_renamed(other.notes, intent) for other in others))
    if notes != record.notes:
        changes["notes"] = dump_notes(notes)
    return Changed(record, replace(record, properties=without_nothing({**record.properties, **changes})), changes)


def _taken_over(record: Record, others: Iterable[Record], ontology: Ontology) -> dict[str, Any]:
    """Properties that the record lacks, from the first of the others that has them."""
    changes: dict[str, Any] = {}
    for other in others:
        for name, value in other.properties.items():
            if name not in _NEVER_TAKEN_OVER and {**record.properties, **changes}.get(name) in (None, ""):
                changes[name] = value
        if isinstance(record, RelationshipRecord) and isinstance(other, RelationshipRecord):
            for field in LEVEL_FIELDS:
                level = other.known_level(ontology, field)
                if level is not None and field not in changes and record.known_level(ontology, field) is None:
                    changes[field] = level
    return changes


def _renamed(notes: tuple[Note, ...], intent: MergeIntent) -> tuple[Note, ...]:
    """Notes whose source, where it was the dropped node, is the kept one."""
    return tuple(
        note.model_copy(update={"source_entity_key": intent.keep}) if note.source_entity_key == intent.drop else note
        for note in notes
    )


def _moved(
    record: RelationshipRecord, intent: MergeIntent, kept: NodeRecord, element_ids: Mapping[str, str]
) -> RelationshipRecord:
    """A relationship with the kept node in place of the dropped one."""
    other, name = _other_end(record, intent.drop), kept.text("name")
    starts = record.from_entity_key == intent.drop
    start, end = (intent.keep, other) if starts else (other, intent.keep)
    return replace(
        record,
        from_entity_key=start,
        to_entity_key=end,
        from_name=name if starts else record.from_name,
        to_name=record.to_name if starts else name,
        from_element_id=element_ids[start],
        to_element_id=element_ids[end],
    )


def _other_end(record: RelationshipRecord, entity_key: str) -> str:
    return record.to_entity_key if record.from_entity_key == entity_key else record.from_entity_key


def _each_once(records: Iterable[RelationshipRecord]) -> tuple[RelationshipRecord, ...]:
    """Records in the order of their ids, so that merges at once take locks in the same order."""
    found = {record.element_id: record for record in records}
    return tuple(found[element_id] for element_id in sorted(found))
