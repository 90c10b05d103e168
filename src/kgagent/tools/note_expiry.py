"""When the notes that a write added expire; every answer of a write says so."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kgagent.formatting import counted
from kgagent.graph.writes import WriteResult
from kgagent.models import Note
from kgagent.models.graph import GraphModel


class NoteExpiry(GraphModel):
    """Notes that expire at the same time."""

    expires_at: datetime
    notes: int

    def __str__(self) -> str:
        """The expiry in one line: "Expiry of 2 notes: 2026-01-08"."""
        return f"Expiry of {counted(self.notes, 'note')}: {self.expires_at:%Y-%m-%d}"


def expiries(notes: Iterable[Note]) -> tuple[NoteExpiry, ...]:
    """When notes expire, the earliest first; notes without expiry are not counted."""
    counts = Counter(note.expires_at for note in notes if note.expires_at is not None)
    return tuple(NoteExpiry(expires_at=moment, notes=counts[moment]) for moment in sorted(counts))


def new_expiries(written: WriteResult[Any]) -> tuple[NoteExpiry, ...]:
    """When the notes expire that a write added or extended."""
    stored = set() if written.stored is None else {(note.identity, note.expires_at) for note in written.stored.notes}
    return expiries(note for note in written.record.notes if (note.identity, note.expires_at) not in stored)


def short_answer(message: str, *, embedded: bool, note_expiries: Iterable[NoteExpiry]) -> str:
    """The text of a write: what changed, whether there is a new embedding, and when new notes expire."""
    return "\n".join([message, f"embedding_regenerated: {'true' if embedded else 'false'}", *map(str, note_expiries)])
