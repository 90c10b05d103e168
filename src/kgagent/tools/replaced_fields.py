"""What an update of a relationship replaced, and what it kept that may not hold any more."""

from kgagent.formatting import beginning
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.relationships import RelationshipWriteResult

MAX_KEPT = 200
"""Characters of a description that a hint repeats."""


def kept_description(written: RelationshipWriteResult) -> str | None:
    """A hint that the type or a level changed but not the description, which the caller did not give."""
    description = written.record.description
    if not description or not replaced_fields(written):
        return None
    return f"Kept description: {beginning(description, MAX_KEPT)!r}; check that it still holds"


def replaced_fields(written: RelationshipWriteResult) -> dict[str, str | int]:
    """The type, and the levels as numbers, that a write replaced or removed, as they were."""
    if written.stored is None:
        return {}
    levels = {field: written.stored.level(field) for field in LEVEL_FIELDS}
    old = {"relationship_type": written.stored.text("relationship_type"), **levels}
    return {field: value for field, value in old.items() if value and value != getattr(written.record, field)}
