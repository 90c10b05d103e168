"""What a record stated before it was replaced or merged, for a note that keeps it."""

from datetime import datetime

from neo4j.time import DateTime

from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.models import Note
from kgagent.models.note import as_utc
from kgagent.ontology import Ontology


def replaced_statement(stored: RelationshipRecord, relationship_type: str, description: str) -> str:
    """What a type and a description that replace those of a relationship no longer state; empty if nothing."""
    old_type, old = stored.text("relationship_type"), stored.text("description")
    if old_type.casefold() in {"", relationship_type.casefold()}:
        return old if old != description else ""
    return f"{stored.triplet}. {old}" if old else stored.triplet


def lost_statement(kept: Record, merged: Record, ontology: Ontology) -> str:
    """What a record states that the one of its kind into which it is merged does not; empty if nothing."""
    if not isinstance(kept, RelationshipRecord) or not isinstance(merged, RelationshipRecord):
        description = merged.text("description")
        return description if description != kept.text("description") else ""
    statement = replaced_statement(merged, kept.text("relationship_type"), kept.text("description"))
    levels = {field: merged.known_level(ontology, field) for field in LEVEL_FIELDS}
    lost = [
        ontology.word(merged.neo4j_type, field, level)
        for field, level in levels.items()
        if level is not None and level != kept.known_level(ontology, field)
    ]
    if not any(lost):
        return statement
    rest = statement.removeprefix(merged.triplet).removeprefix(". ")
    return ". ".join(filter(None, (f"{merged.triplet} ({', '.join(filter(None, lost))})", rest)))


def note_of(statement: str, stored: Record) -> Note:
    """A note with a statement of a record, by its author and of the time when it was last written."""
    return Note(content=statement, added_by=stored.text("user_id") or "unknown", date_added=_written_at(stored))


def _written_at(record: Record) -> datetime | None:
    moment = record.properties.get("updated_at")
    return as_utc(moment.to_native()) if isinstance(moment, DateTime) else None
