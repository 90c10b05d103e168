"""Notes as a model gives them."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from kgagent.models import Note
from kgagent.tools.base import Arguments, EntityKey, FilledText, ShortText, ToolContext


class NewNote(Arguments):
    """A note to add."""

    content: FilledText = Field(description="One fact worth keeping, as a sentence.")
    lifetime: ShortText | None = Field(
        None, description="How long the note counts: week, month (default), year or forever."
    )
    source_entity_key: EntityKey | None = Field(
        None, description="entity_key of the Source node that the fact was read in, if any."
    )


def made(notes: Sequence[NewNote | str], context: ToolContext, now: datetime) -> tuple[Note, ...]:
    """Sign and date notes.

    Raises:
        InputError: a lifetime is not one of the ontology's.
    """
    given = (NewNote(content=note) if isinstance(note, str) else note for note in notes)
    return tuple(
        Note(
            content=note.content,
            added_by=context.user_id,
            date_added=now,
            source_entity_key=context.source_entity_key or note.source_entity_key,
            expires_at=context.ontology.note_expiry(note.lifetime, now),
        )
        for note in given
    )
