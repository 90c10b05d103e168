"""What a relationship stated before its type or description was replaced, for a note that keeps it."""

from datetime import datetime

from neo4j.time import DateTime

from kgagent.graph.records import Record, RelationshipRecord
from kgagent.models import Note
from kgagent.models.note import as_utc


def replaced_statement(stored: RelationshipRecord, relationship_type: str, description: str) -> str:
    """What a type and a description that replace those of a relationship no longer state; empty if nothing."""
    old_type, old = stored.text("relationship_type"), stored.text("description")
    if old_type.casefold() in {"", relationship_type.casefold()}:
        return old if old != description else ""
    return f"{stored.triplet}. {old}" if old else stored.triplet


def note_of(statement: str, stored: RelationshipRecord) -> Note:
    """A note with a statement of a relationship, by its author and of the time when it was last written."""
    return Note(content=statement, added_by=stored.text("user_id") or "unknown", date_added=_written_at(stored))


def _written_at(record: Record) -> datetime | None:
    moment = record.properties.get("updated_at")
    return as_utc(moment.to_native()) if isinstance(moment, DateTime) else None
