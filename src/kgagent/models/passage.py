"""A passage of the text of a source, as a statement of it."""

from kgagent.models.note import Note


class Passage(Note):
    """A passage of the text of a source."""
