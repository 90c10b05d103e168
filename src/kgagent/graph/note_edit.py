"""The change or the removal of a stored note."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.errors import InputError, NotFoundError
from kgagent.formatting import counted, listed
from kgagent.graph.records import Record
from kgagent.models import Note
from kgagent.models.merged_notes import add_notes
from kgagent.models.note import LONG_AGO, dump_notes
from kgagent.names import shorten_name
from kgagent.trust import Trust, level, not_changed


@dataclass(frozen=True)
class NoteEdit:
    """The change or the removal of a stored note.

    Attributes:
        note: its text, or the beginning of it, which stays the same while others write.
        changes: the fields that change; None removes the note.
        trust: class of the call, which the note gets with another text.
    """

    note: str
    changes: Mapping[str, Any] | None
    trust: Trust

    def find(self, notes: Sequence[Note]) -> Note:
        """Find the note; one that has the new text already, if there is no other.

        Raises:
            NotFoundError: there is no such note.
            InputError: several notes begin so.
        """
        wanted, content = self.note.removesuffix("…"), (self.changes or {}).get("content")
        matches = [note for note in notes if note.content == wanted]
        matches = matches or [note for note in notes if note.content.startswith(wanted)]
        matches = matches or [note for note in notes if note.content == content]
        contents = list(dict.fromkeys(note.content for note in matches))
        if len(contents) == 1:
            return matches[-1]
        shown = repr(shorten_name(wanted))
        known = contents or [note.content for note in notes]
        texts = listed([repr(shorten_name(content)) for content in known], "; ")
        if contents:
            raise InputError(
                f"{len(contents)} notes begin with {shown}; give more of the text: {texts}"
            )
        there_are = f"There {'is' if len(notes) == 1 else 'are'} {counted(len(notes), 'note')}"
        raise NotFoundError(
            ": ".join(filter(None, (f"No note begins with {shown}. {there_are}", texts)))
        )

    def apply(self, note: Note) -> Note | None:
        """The note after the change; None if it is removed."""
        if self.changes is None:
            return None
        is_new = self.changes.get("content", note.content) != note.content
        trust = self.trust if is_new else note.trust
        return note.model_copy(update={**self.changes, "trust": trust})

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write.

        Raises:
            NotFoundError: there is no such note.
            InputError: several notes begin so, or it is of a higher class than the call.
        """
        content = self.find(stored.notes).content
        most = max((note.trust for note in stored.notes if note.content == content), key=level)
        if level(most) > level(self.trust):
            raise InputError(not_changed(f"the note {shorten_name(content)!r}", most, self.trust))
        edited = (self.apply(note) if note.content == content else note for note in stored.notes)
        distinct = add_notes((), filter(None, edited), LONG_AGO)
        return {"notes": dump_notes(distinct) if distinct else None}
