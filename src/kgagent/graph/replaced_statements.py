"""What a record stated before it was replaced or merged, for a note that keeps it."""

from collections.abc import Iterable
from datetime import datetime

from neo4j.time import DateTime

from kgagent.graph.aliases import ALIASES
from kgagent.graph.property_names import INTERNAL_PROPERTIES, LEVEL_FIELDS, TIMES
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.models import Note
from kgagent.models.note import as_utc
from kgagent.ontology import Ontology

_NOT_QUOTED = INTERNAL_PROPERTIES | TIMES | {"entity_key", "name", "notes", ALIASES, "is_owner", "relationship_type"}
_NOT_QUOTED |= {"description", "confidence", "salience", *LEVEL_FIELDS}
"""Properties whose other values are no statements, or stay in another form."""


def replaced_statement(stored: RelationshipRecord, relationship_type: str, description: str) -> str:
    """What a type and a description that replace those of a relationship no longer state; empty if nothing."""
    old_type, old = stored.text("relationship_type"), stored.text("description")
    if old_type.casefold() in {"", relationship_type.casefold()}:
        return old if old != description else ""
    return f"{stored.triplet}. {old}" if old else stored.triplet


def lost_statement(kept: Record, merged: Record, ontology: Ontology) -> str:
    """What a record states that the one of its kind into which it is merged does not; empty if nothing."""
    values = _other_values(kept, merged, ontology)
    if not isinstance(kept, RelationshipRecord) or not isinstance(merged, RelationshipRecord):
        description = merged.text("description")
        return _joined("" if description == kept.text("description") else description, *values)
    levels = (
        field for field in LEVEL_FIELDS if merged.known_level(ontology, field) != kept.known_level(ontology, field)
    )
    words = _level_words(merged, levels, ontology)
    statement = replaced_statement(merged, kept.text("relationship_type"), kept.text("description"))
    if not words and not values:
        return statement
    return _joined(merged.triplet + words, statement.removeprefix(merged.triplet).removeprefix(". "), *values)


def described_relationship(stored: RelationshipRecord, ontology: Ontology) -> str:
    """The description of a relationship after its type and levels; empty if it has none."""
    description = stored.text("description")
    return description and _joined(stored.triplet + _level_words(stored, LEVEL_FIELDS, ontology), description)


def note_of(statement: str, stored: Record) -> Note:
    """A note with a statement of a record, by its author and of the time when it was last written."""
    return Note(content=statement, added_by=stored.text("user_id") or "unknown", date_added=_written_at(stored))


def _other_values(kept: Record, merged: Record, ontology: Ontology) -> list[str]:
    """The other values of properties of which the kept record has a value."""
    names = sorted(kept.properties.keys() & merged.properties.keys() - (_NOT_QUOTED | ontology.hidden_properties))
    differing = (name for name in names if merged.properties[name] not in (None, "", kept.properties[name]))
    return [f"{name}: {merged.properties[name]}" for name in differing]


def _level_words(stored: RelationshipRecord, fields: Iterable[str], ontology: Ontology) -> str:
    levels = {field: stored.known_level(ontology, field) for field in fields}
    words = (ontology.word(stored.neo4j_type, one, level) for one, level in levels.items() if level is not None)
    found = ", ".join(filter(None, words))
    return found and f" ({found})"


def _joined(*parts: str) -> str:
    return ". ".join(filter(None, parts))


def _written_at(record: Record) -> datetime | None:
    moment = record.properties.get("updated_at")
    return as_utc(moment.to_native()) if isinstance(moment, DateTime) else None
