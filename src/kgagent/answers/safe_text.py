"""Text of the graph that cannot pose as the words of a tool."""

STRUCTURE = frozenset('[]|:"<>')
"""Characters with which lines separate names, types and statements."""

JOINERS = "\u200c\u200d"
"""Characters that are not seen, but change how letters and emoji beside them look."""


def safe_text(text: str) -> str:
    """A text in one line, without characters that are not seen, and without what separates the
    statements of a line.
    """
    visible = text if text.isprintable() else "".join(map(_shown, text))
    return " ".join("¦" if word == "|" else word for word in visible.split())


def safe_name(name: str) -> str:
    """A name or a type in one line, in quotes if it has characters that lines use."""
    shown = safe_text(name)
    return shown if STRUCTURE.isdisjoint(shown) else '"' + shown.replace('"', "'") + '"'


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() or character in JOINERS else ""
