"""Text formatting that several modules share."""

import re
from collections.abc import Sequence


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun: "1 node", "2 nodes", "1,200 entities".

    Args:
        count: the number.
        noun: singular form.
        plural: plural form; by default the noun with an "s".
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


MAX_LISTED = 10
"""Texts that a message lists."""


def listed(texts: Sequence[str], separator: str = ", ", most: int = MAX_LISTED) -> str:
    """The first texts, and how many more there are: "Ada, Bo, 3 more"."""
    more = [f"{len(texts) - most:,} more"] if len(texts) > most else []
    return separator.join([*texts[:most], *more])


_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

JOINERS = "\u200c\u200d"
"""Characters that are not seen, but change how letters and emoji beside them look."""


def in_one_line(text: str) -> str:
    """A text with single spaces for all white space and without other characters that are not seen,
    so that no stored text can pose as a line of its own or command a terminal.
    """
    visible = text if text.isprintable() else "".join(map(_shown, text))
    return " ".join(visible.split())


def visible_text(text: str) -> str:
    """A text with its tabs and line breaks, and without other characters that are not seen."""
    if text.isprintable():
        return text
    lines = _LINE_BREAK.sub("\n", text)
    return "".join(c for c in lines if c.isprintable() or c in "\n\t" or c in JOINERS)


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() or character in JOINERS else ""


def beginning(text: str, length: int) -> str:
    """A text in one line of at most `length` characters, the last of which is "…" if it was cut."""
    line = in_one_line(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def encodable(text: str) -> str:
    """A text with "?" for unpaired surrogates, which neither files nor terminals accept."""
    return text.encode("utf-8", "replace").decode()


def without_credentials(address: str) -> str:
    """An address with "…" for the name and password and for the query that it may contain."""
    return re.sub(
        r"[?#].*", "?…", re.sub(r"//.*@", "//…@", address, flags=re.DOTALL), flags=re.DOTALL
    )


def has_unpaired_surrogates(text: str) -> bool:
    """Whether a text contains an unpaired surrogate, which UTF-8 cannot encode, so that no database
    accepts it.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
