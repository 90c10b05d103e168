"""What a record stated before it was merged into another, for a note that keeps it."""

from collections.abc import Iterable
from datetime import datetime

from neo4j.time import DateTime
from pydantic import JsonValue

from kgagent.graph.aliases import ALIASES
from kgagent.graph.property_names import ADOPTED, INTERNAL_PROPERTIES, LEVEL_FIELDS, TIMES
from kgagent.graph.records import Record, RelationshipRecord, visible
from kgagent.models import Note
from kgagent.models.free_types import type_names
from kgagent.models.note import as_utc, times_of_note
from kgagent.models.when import periods_of
from kgagent.ontology import Ontology
from kgagent.ontology.model import as_words

LONGEST_VALUE = 200
"""Characters of a value of a property that a note quotes."""

_NOT_QUOTED = (
    INTERNAL_PROPERTIES
    | TIMES
    | {"entity_key", "name", "notes", ALIASES, "is_owner", "relationship_type"}
)
_NOT_QUOTED |= {"description", "confidence", "salience", *LEVEL_FIELDS}
"""Properties whose other values are no statements, or stay in another form."""


def says_something_else(kept: Record, other: Record, ontology: Ontology) -> bool:
    """Whether a relationship states something else than another one beside it: it has another type,
    or one that says its direction, which is the opposite.

    The two share a node, and have another, or two that become one, at their other ends.
    """
    if not isinstance(kept, RelationshipRecord) or not isinstance(other, RelationshipRecord):
        return False
    present, types = (type_names(one.text("relationship_type")) for one in (kept, other))
    if present and types and present != types:
        return True
    undirected = ontology.symmetric_types
    # The type of another program's relationship is a statement with a direction.
    if ADOPTED not in other.properties:
        undirected |= type_names(as_words(other.neo4j_type))
    if types <= undirected or ontology.relationship(other.neo4j_type).has_fixed_direction:
        return False
    (start, end), (other_start, other_end) = kept.ends_in_direction, other.ends_in_direction
    return (start == other_end or end == other_start) and start != other_start


def lost_statement(kept: Record, merged: Record, ontology: Ontology) -> str:
    """What a record states that the one into which it is merged does not; empty if nothing.

    A relationship is merged into a node if it joins two that become one.
    """
    description = merged.text("description")
    if isinstance(merged, RelationshipRecord) and not isinstance(kept, RelationshipRecord):
        statement = _joined(
            merged.triplet + _level_words(merged, LEVEL_FIELDS, ontology), description
        )
        return f"Before the merge: {statement}" if description else ""
    values = _other_values(kept, merged, ontology)
    if not isinstance(kept, RelationshipRecord) or not isinstance(merged, RelationshipRecord):
        return _joined("" if description == kept.text("description") else description, *values)
    known = {field: kept.known_level(ontology, field) for field in LEVEL_FIELDS}
    levels = (
        field for field in LEVEL_FIELDS if merged.known_level(ontology, field) != known[field]
    )
    words = _level_words(merged, levels, ontology)
    if says_something_else(kept, merged, ontology):
        return _joined(merged.triplet + words, description, *values)
    statement = description if description != kept.text("description") else ""
    if not words and not values:
        return statement
    return _joined(merged.triplet + words, description if statement else "", *values)


def note_of(statement: str, stored: Record) -> Note:
    """A note with a statement of a record, its time and its class, by its author and of the time
    when it was last written.
    """
    author = stored.text("user_id") or "unknown"
    times: dict[str, str | None] = {}
    if isinstance(stored, RelationshipRecord):
        when, said_on = (
            text if periods_of(text) else None
            for text in (stored.text("when"), stored.text("said_on"))
        )
        times = times_of_note(when, said_on)
    return Note(
        content=statement,
        added_by=author,
        date_added=_written_at(stored),
        trust=stored.trust,
        **times,
    )


def _other_values(kept: Record, merged: Record, ontology: Ontology) -> list[str]:
    """The other values of properties of which the kept record has a value, if they are short."""
    hidden = _NOT_QUOTED | ontology.hidden_properties
    if isinstance(kept, RelationshipRecord):
        # The relationship, or the note, has the time.
        hidden |= {"when"}
    known, values = visible(kept.properties, hidden), visible(merged.properties, hidden)
    differing = {
        name: value for name, value in values.items() if name in known and value != known[name]
    }
    texts = {name: _short_text(value) for name, value in differing.items()}
    return [f"{name}: {text}" for name, text in texts.items() if text]


def _short_text(value: JsonValue) -> str:
    """A value as text; empty if it is long, or a list of numbers, as vectors are."""
    items = value if isinstance(value, list) else [value]
    is_quoted = all(isinstance(item, str) for item in items) or not isinstance(value, list | dict)
    text = ", ".join(str(item).strip() for item in items) if is_quoted else ""
    return text if len(text) <= LONGEST_VALUE else ""


def _level_words(stored: RelationshipRecord, fields: Iterable[str], ontology: Ontology) -> str:
    levels = {field: stored.known_level(ontology, field) for field in fields}
    words = (
        ontology.word(stored.neo4j_type, field, level)
        for field, level in levels.items()
        if level is not None
    )
    listed = ", ".join(filter(None, words))
    return listed and f" ({listed})"


def _joined(*parts: str) -> str:
    *others, last = filter(None, parts) if any(parts) else [""]
    return ". ".join([*(part.rstrip(". ") for part in others), last])


def _written_at(record: Record) -> datetime | None:
    moment = record.properties.get("updated_at")
    return as_utc(moment.to_native()) if isinstance(moment, DateTime) else None
