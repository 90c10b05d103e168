"""A passage of the text of a source, as a statement of it."""

from kgagent.models.note import Note


def in_section(text: str, section: str | None) -> str:
    """The text of a passage behind its section, unless it begins with that."""
    if not section or text.lstrip("“# ").startswith(section):
        return text
    return f"{section}: {text}"


class Passage(Note):
    """A passage of the text of a source.

    Attributes:
        section: the headings above it ("Engine > Maintenance"), or who speaks; None if it has
            neither.
    """

    section: str | None = None

    @property
    def searched_text(self) -> str:
        """Its words behind its section."""
        return in_section(self.content, self.section)
