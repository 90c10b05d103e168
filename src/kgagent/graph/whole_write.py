"""Writes that take effect as a whole or not at all: deletions, merges and restorations.

What is deleted, and what a merge changes, is kept in nodes with labels of their own until it can no
longer be restored. No search, index or constraint reads those labels, so nodes can be connected
again at once.
"""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from kgagent.graph.compare_and_set import conflict_error, pause_after
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.property_names import OLD_EMBEDDINGS, STATEMENTS_HASH
from kgagent.graph.record_saver import embedded, stored_version, with_properties, written_row
from kgagent.graph.record_trust import check_trusted
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.store import Row
from kgagent.graph.taken_back import fingerprints
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import ModelT, PlannedWrite, RecordT
from kgagent.turns import in_turns

MAX_RECORDS = 10_000
"""Maximum number of relationships that one transaction deletes, and of records that it changes."""


@dataclass(frozen=True)
class Change(PlannedWrite[RecordT]):
    """A record that is stored, or kept although it was deleted, and what changes in it."""

    stored: RecordT


def changed(record: RecordT, changes: Mapping[str, Any]) -> Change[RecordT]:
    """A record with changed properties; None removes one."""
    return Change(record, with_properties(record, changes), changes)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What one transaction changes.

    Attributes:
        deleted: records that are deleted.
        changed: records that stay.
        moved: of the deleted relationships, those that get another node as an end instead.
        restored: deleted records that are restored; a relationship without the element id of an
            end joins the restored node.
        used: what was kept of other records and is no longer needed.
        merged_into: key of the node that the deleted one is merged into.
    """

    deleted: tuple[Record, ...] = ()
    changed: tuple[Change[Any], ...] = ()
    moved: tuple[Change[Any], ...] = ()
    restored: tuple[Change[Any], ...] = ()
    used: tuple[Record, ...] = ()
    merged_into: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[ModelT]):
    """What a write does.

    Attributes:
        record: the node or relationship, as callers see it: before a deletion, or after a merge or
            a restoration.
        changes: what is written.
    """

    record: ModelT
    changes: Changes


PlanT = TypeVar("PlanT", bound=Plan[Any])


@dataclass(frozen=True)
class Done(Generic[PlanT]):
    """A write that took effect.

    Attributes:
        plan: what was written.
        embedded: number of new embeddings.
        at: the time of the write.
        undo_until: until when it can be undone; None if it cannot.
    """

    plan: PlanT
    embedded: int
    at: datetime
    undo_until: datetime | None


@dataclass(frozen=True)
class WholeWrite(ABC, Generic[PlanT]):
    """A write that is planned from what is stored, and saved if that has not changed meanwhile.

    Attributes:
        graph: the records of the user.
        window: how long it can be undone; zero keeps nothing.
    """

    graph: UserGraph
    window: timedelta

    @abstractmethod
    async def plan(self) -> PlanT:
        """Read what is stored and decide what to write.

        Raises:
            InputError: the write is impossible.
            StoreError: the database failed.
        """

    async def run(self) -> Done[PlanT]:
        """Plan and save, again after a conflict.

        Raises:
            ConflictError: each attempt met a conflict.
            EmbeddingError: the embedder failed.
            InputError: a record is of a higher class than the call.
            KgAgentError: as `plan`.
        """
        attempts = self.graph.context.attempts
        for conflicts in range(1, attempts + 1):
            if (done := await self._save(await self.plan())) is not None:
                return done
            if conflicts < attempts:
                await pause_after(conflicts)
        raise conflict_error(attempts)

    async def _save(self, plan: PlanT) -> Done[PlanT] | None:
        """Embed the texts that changed and write; None if something has changed meanwhile."""
        graph, changes = self.graph, plan.changes
        stay, replaced = len(changes.changed), len(changes.changed) + len(changes.moved)
        planned = (*changes.changed, *changes.moved, *changes.restored)
        check_trusted((*changes.deleted, *(one.stored for one in planned)), graph.context.trust)
        at = graph.context.clock()
        vectors, _ = await embedded(graph, planned, at)
        times = [at] * replaced + [None] * len(changes.restored)
        rows = await in_turns(
            lambda one: written_row(graph, one[0], one[1], at, one[2]),
            zip(planned, vectors, times, strict=True),
        )
        # Embedding took time, in which what is to be restored may have expired.
        now = graph.context.clock()
        until = now + self.window if self.window else None
        kept = await _kept(graph, changes, now, until) if until else {}
        held = [
            *((one, {**_found(graph, one), "is_deleted": True}) for one in changes.deleted),
            *(
                (one.stored, {**row, "is_deleted": False})
                for one, row in zip(changes.changed, rows[:stay], strict=True)
            ),
        ]
        # Sorted, so that concurrent writes take locks in the same order.
        held.sort(key=lambda one: one[0].element_id)
        held = [(one, {**row, "kept": kept.get(one.element_id)}) for one, row in held]
        new = list(zip(planned[stay:], rows[stay:], strict=True))
        used = (*(one.stored for one in changes.restored), *changes.used)
        parameters = {
            "now": now,
            "nodes": [row for one, row in held if isinstance(one, NodeRecord)],
            "relationships": [row for one, row in held if isinstance(one, RelationshipRecord)],
            "kept": [
                {"element_id": one.element_id, "version": stored_version(one)} for one in used
            ],
            "new_nodes": [row for one, row in new if isinstance(one.after, NodeRecord)],
            "new_relationships": [
                row for one, row in new if isinstance(one.after, RelationshipRecord)
            ],
            "unindexed": [_record_key(graph, one) for one in changes.deleted],
        }
        if not await graph.write("write_as_whole", parameters, **DELETED_NAMES):
            return None
        if (on_change := graph.context.on_change) is not None:
            for one, updated_at in zip(planned, times, strict=True):
                kind = graph.kind(one.after)
                before = kind.to_model(one.stored, None) if updated_at else None
                on_change(before, kind.to_model(one.after, None))
        return Done(plan, sum(vector.vector is not None for vector in vectors), at, until)


async def _kept(
    graph: UserGraph, changes: Changes, now: datetime, until: datetime
) -> Mapping[str, Row]:
    """What is kept of the records of a write besides their own properties, by element id; None
    removes a property.
    """
    has_node = any(isinstance(one, NodeRecord) for one in changes.deleted)
    shared = {
        "kgagent_deletion": str(uuid.uuid4()) if has_node else None,
        "kgagent_deleted_at": now,
        "kgagent_undo_until": until,
        "kgagent_merged_into": changes.merged_into,
        **dict.fromkeys((STATEMENTS_HASH, *OLD_EMBEDDINGS)),
    }
    kept: dict[str, Row] = {}
    for record in (*changes.deleted, *(one.stored for one in changes.changed)):
        own: Row = {}
        if isinstance(record, RelationshipRecord):
            own = {
                "user_id": graph.user_id,
                "relationship_key": _record_key(graph, record),
                "kgagent_neo4j_type": record.neo4j_type,
                "kgagent_from_entity_key": record.from_entity_key,
                "kgagent_to_entity_key": record.to_entity_key,
            }
        kept[record.element_id] = {**shared, **own}
    written = (*changes.changed, *changes.moved)
    marks = await in_turns(lambda one: fingerprints(one.changes), written)
    for one, mark in zip(written, marks, strict=True):
        kept[one.stored.element_id]["kgagent_written"] = mark
    for one in changes.changed:
        # What is taken back has another text in most cases, so its embedding is not kept.
        kept[one.stored.element_id] |= {"kgagent_stays": True, one.stored.vector_property: None}
    return kept


def _record_key(graph: UserGraph, record: Record) -> str:
    return str(graph.kind(record).statement_location(record)["record"])


def _found(graph: UserGraph, record: Record) -> Row:
    """The parameter by which the statement finds a record, and checks that it is as it was read."""
    location = graph.kind(record).location(record)
    return {**location, "element_id": record.element_id, "version": stored_version(record)}
