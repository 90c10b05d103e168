"""Text of the graph that cannot pose as the words of a tool."""

import unicodedata

STRUCTURE = frozenset('[]|:"')
"""Characters with which lines separate names, types and statements."""


def safe_text(text: str) -> str:
    """A text in one line, without control characters, and without what separates the statements of a line."""
    visible = "".join(letter if letter.isprintable() else _shown(letter) for letter in text)
    return " ".join("¦" if word == "|" else word for word in visible.split())


def safe_name(name: str) -> str:
    """A name or a type in one line, in quotes if it has characters that lines use."""
    shown = safe_text(name)
    return shown if STRUCTURE.isdisjoint(shown) else '"' + shown.replace('"', "'") + '"'


def _shown(letter: str) -> str:
    """What is shown of a character that is not printable: joiners of letters and emoji stay."""
    if letter.isspace():
        return " "
    return letter if unicodedata.category(letter) == "Cf" else ""
