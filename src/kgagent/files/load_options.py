"""Write options of a load, which make it safe to load a file again."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kgagent.errors import InputError
from kgagent.graph.nodes import NodeIntent, NodeWriteOptions
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.models import Note


@dataclass(frozen=True, kw_only=True)
class FileNodeIntent(NodeIntent):
    """A node of a file.

    Attributes:
        id: the id from which the key was derived; None if the line gives the key, or has no `id`.
    """

    id: str | None = None


def node_options() -> NodeWriteOptions:
    """Options for nodes: a line never changes the label of a node, nor turns one node into another."""

    def prepare(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
        if stored is None:
            return intent
        if stored.label != intent.label:
            raise InputError(f"{intent.entity_key} is a {stored.label} in the graph and cannot become a {intent.label}")
        if isinstance(intent, FileNodeIntent) and intent.id is not None:
            _check_same_name(intent, stored)
        return replace(intent, notes=_new_notes(intent.notes, stored.notes))

    return NodeWriteOptions(prepare=prepare)


def relationship_options() -> RelationshipWriteOptions:
    """Options for relationships: one transaction at a time, since two that touch the same nodes may deadlock."""

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        return intent if stored is None else replace(intent, notes=_new_notes(intent.notes, stored.notes))

    return RelationshipWriteOptions(prepare=prepare, lock=asyncio.Lock())


def _check_same_name(intent: FileNodeIntent, stored: NodeRecord) -> None:
    old, new = stored.text("name"), intent.values["name"]
    if new.casefold() != old.casefold():
        raise InputError(
            f"id {intent.id!r} was loaded as {old!r} before, and this line says {new!r}; use another id, or give "
            f"entity_key {stored.entity_key!r} to rename it"
        )


def _new_notes(notes: Iterable[Note], stored: Iterable[Note]) -> tuple[Note, ...]:
    """The notes that no earlier load added, not even as notes that have expired since."""
    known = {(note.identity, note.expires_at) for note in stored}
    return tuple(note for note in notes if (note.identity, note.expires_at) not in known)
