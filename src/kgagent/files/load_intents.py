"""Converts lines to the writes that they request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgagent.errors import InputError
from kgagent.files.load_lines import NodeLine, NoteLine, RelationshipLine
from kgagent.files.load_options import FileNodeIntent
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import Note
from kgagent.ontology import Ontology


@dataclass(frozen=True)
class LineConverter:
    """Converts lines to intents.

    Attributes:
        user_id: owner of the graph.
        ontology: provides the lifetimes of notes.
        keys: `entity_key` of the node of each `id` in the file.
        now: time of the load.
    """

    user_id: str
    ontology: Ontology
    keys: Mapping[str, str]
    now: datetime

    def node(self, line: NodeLine, entity_key: str) -> FileNodeIntent:
        """Create the node, or update it with the values of the line.

        Raises:
            InputError: the ontology does not have a note's lifetime.
        """
        values = {"name": line.name, "description": line.description, "created_at": line.created_at}
        return FileNodeIntent(
            entity_key=entity_key,
            label=line.label,
            or_update=True,
            values=_without_none(values) | line.properties,
            notes=self._notes(line.notes),
            aliases=tuple(line.aliases),
            id=line.id if line.entity_key is None else None,
        )

    def relationship(self, line: RelationshipLine) -> RelationshipIntent:
        """Create the relationship, or update it with the values of the line.

        Raises:
            InputError: the ontology does not have a note's lifetime.
        """
        values = line.model_dump(include={"relationship_type", "description", "attitude", "proximity"})
        return RelationshipIntent(
            from_entity_key=self._key(line.from_),
            to_entity_key=self._key(line.to),
            neo4j_type=line.neo4j_type,
            create=True,
            or_update=True,
            values=_without_none(values) | line.properties,
            notes=self._notes(line.notes),
        )

    def _notes(self, notes: Sequence[NoteLine]) -> tuple[Note, ...]:
        return tuple(
            Note(
                content=note.content,
                added_by=note.added_by or self.user_id,
                date_added=note.date_added or self.now,
                source_entity_key=note.source_entity_key and self._key(note.source_entity_key),
                expires_at=self._expiry(note),
            )
            for note in notes
        )

    def _expiry(self, note: NoteLine) -> datetime | None:
        if note.lifetime is None:
            return note.expires_at
        try:
            return self.ontology.note_expiry(note.lifetime, note.date_added or self.now)
        except OverflowError:
            raise InputError(f"date_added is too late to compute an expiry, got {note.date_added}") from None

    def _key(self, reference: str) -> str:
        return self.keys.get(reference, reference)


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
