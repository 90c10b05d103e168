"""The notes of records that become one, and how stored notes name their source."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from kgagent.models.note import Note, add_notes

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def merge_notes(*groups: Iterable[Note]) -> tuple[Note, ...]:
    """Merge the notes of several records in order of time; of equal notes, one is kept with the later expiry."""
    notes = sorted((note for group in groups for note in group), key=lambda note: note.date_added or _LONG_AGO)
    # No note had expired then, so expired notes are compared like the others.
    return add_notes((), notes, _LONG_AGO)


def stored_form(entity_key: str) -> str:
    """A key as it appears inside stored notes."""
    return json.dumps(entity_key, ensure_ascii=False)[1:-1]
