"""Writers for records that a file tells of, once or again."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgagent.errors import InputError
from kgagent.graph.nodes import NodeIntent, NodeWriter
from kgagent.graph.record_writer import PlannedWrite, WriteContext
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationship_writer import RelationshipWriter
from kgagent.graph.relationships import PairState, RelationshipIntent, RelationshipRepository
from kgagent.models import Note


@dataclass(frozen=True, kw_only=True)
class NodeOfFile(NodeIntent):
    """A node of a file.

    Attributes:
        id: what the key was derived from; None where the line gives the key, or has no `id`.
    """

    id: str | None = None


class FileNodeWriter(NodeWriter):
    """Writes nodes of files; a line never turns one node into another."""

    def plan(self, intent: NodeIntent, state: NodeRecord | None) -> PlannedWrite[NodeIntent, NodeRecord]:
        """Decide what to write.

        Raises:
            InputError: the node is there under another label, or another file's `id` is that of another node.
        """
        if state is None:
            return super().plan(intent, state)
        if state.label != intent.label:
            raise InputError(f"{intent.entity_key} is a {state.label} in the graph and cannot become a {intent.label}")
        if isinstance(intent, NodeOfFile) and intent.id is not None:
            _check_same_name(intent, state)
        return super().plan(replace(intent, notes=_new_notes(intent.notes, state.notes)), state)


class FileRelationshipWriter(RelationshipWriter):
    """Writes relationships of files; one transaction at a time, since two that touch the same nodes may deadlock."""

    def __init__(self, repository: RelationshipRepository, writing: WriteContext, *, user_id: str) -> None:
        super().__init__(repository, writing, user_id=user_id)
        self._turn = asyncio.Lock()
        self._whose_turn: asyncio.Task[Any] | None = None

    def plan(
        self, intent: RelationshipIntent, state: PairState
    ) -> PlannedWrite[RelationshipIntent, RelationshipRecord]:
        """Decide what to write; errors are those of `RelationshipWriter`."""
        stored, _ = self._repository.find(intent, state)
        if stored is not None:
            intent = replace(intent, notes=_new_notes(intent.notes, stored.notes))
        return super().plan(intent, state)

    async def _write(self, name: str, rows: Sequence[dict[str, Any]]) -> set[int]:
        task = asyncio.current_task()
        if not rows or self._whose_turn is task:
            return await super()._write(name, rows)
        async with self._turn:
            self._whose_turn = task
            try:
                return await super()._write(name, rows)
            finally:
                self._whose_turn = None


def _check_same_name(intent: NodeOfFile, stored: NodeRecord) -> None:
    old, new = stored.text("name"), intent.values["name"]
    if new.casefold() != old.casefold():
        raise InputError(
            f"id {intent.id!r} was loaded as {old!r} before, and this line says {new!r}; use another id, or give "
            f"entity_key {stored.entity_key!r} to rename it"
        )


def _new_notes(notes: Iterable[Note], stored: Iterable[Note]) -> tuple[Note, ...]:
    """Leave out the notes that an earlier load brought, those that have expired since included."""
    known = {_content(note) for note in stored}
    return tuple(note for note in notes if _content(note) not in known)


def _content(note: Note) -> tuple[object, ...]:
    return (note.content, note.source_entity_key, note.expires_at)
