"""Adding notes to others, the notes of records that become one, and how stored notes name their
source.
"""

import json
from collections.abc import Iterable
from datetime import datetime

from kgagent.models.note import LONG_AGO, Note, oldest_first
from kgagent.trust import level


def add_notes(existing: tuple[Note, ...], added: Iterable[Note], now: datetime) -> tuple[Note, ...]:
    """Add notes; a note that repeats a current one only extends its expiry, raises its trust, gives
    its quote if that one has none, and may have been said earlier. One of a lower class says
    nothing new.
    """
    notes = list(existing)
    for note in added:
        identity = note.identity
        equal = next(
            (i for i, old in enumerate(notes) if old.identity == identity and old.is_current(now)),
            None,
        )
        if equal is None:
            notes.append(note)
            continue
        old = notes[equal]
        if level(note.trust) < level(old.trust):
            continue
        more: dict[str, object] = {}
        if _expires_later(note, old):
            more["expires_at"] = note.expires_at
        if level(note.trust) > level(old.trust):
            more["trust"] = note.trust
        if note.quote and not old.quote:
            more["quote"] = note.quote
        if note.said_on and note.known_since < old.known_since:
            more["said_on"] = note.said_on
        if more:
            notes[equal] = old.model_copy(update=more)
    return tuple(notes)


def merge_notes(*groups: Iterable[Note]) -> tuple[Note, ...]:
    """Merge the notes of several records in order of time; of equal notes, one is kept with the
    later expiry.
    """
    notes = oldest_first(note for group in groups for note in group)
    # No note had expired then, so expired notes are compared like the others.
    return add_notes((), notes, LONG_AGO)


def stored_form(entity_key: str) -> str:
    """A key as it appears inside stored notes."""
    return json.dumps(entity_key, ensure_ascii=False)[1:-1]


def _expires_later(one: Note, other: Note) -> bool:
    return other.expires_at is not None and (
        one.expires_at is None or one.expires_at > other.expires_at
    )
