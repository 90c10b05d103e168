"""A passage of the text of a source, as a statement of it."""

from kgagent.models.note import Note


class Passage(Note):
    """A passage of the text of a source.

    Attributes:
        start: position of its first character in the text, from 0.
    """

    start: int
