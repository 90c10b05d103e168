"""Plain forms of names, without invisible differences: Unicode forms, invisible characters and white space."""

import unicodedata
from functools import lru_cache

ZERO_WIDTH = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner and byte order mark, which copied text contains."""

JOINERS = "\u200c\u200d\ufe0f"
"""Characters that only change how their neighbors look; names are stored with them and compared without them."""

INVISIBLE = ZERO_WIDTH + JOINERS

_WITHOUT_ZERO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))
_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))

_UNDECOMPOSED = {
    0xE6: "ae",
    0xF0: "d",
    0xF8: "o",
    0xFE: "th",
    0x111: "d",
    0x127: "h",
    0x131: "i",
    0x142: "l",
    0x153: "oe",
}
"""Lower-case letters that Unicode does not decompose, with the ASCII letters in place of which they are written."""

PLAIN_LETTERS = [[chr(code), plain] for code, plain in _UNDECOMPOSED.items()] + [[chr(c), ""] for c in range(768, 880)]
"""What the database replaces in a decomposed name to compare it without accents: letters, and combining accents."""

_DISTINCT = frozenset({"<circle>", "<font>", "<fraction>", "<square>", "<sub>", "<super>"})
"""Compatibility forms that mean something else than the letters or digits that they consist of: "x²", "①", "½"."""


def without_zero_width(text: str) -> str:
    """A text without characters that are never seen."""
    return text.translate(_WITHOUT_ZERO_WIDTH)


def without_invisible(text: str) -> str:
    """A text without characters that are not seen by themselves."""
    return text.translate(_WITHOUT_INVISIBLE)


def without_accents(text: str) -> str:
    """A text without combining characters."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def folded(text: str) -> str:
    """A text in lower case, with ASCII letters in place of those that Unicode does not decompose."""
    return text.casefold().translate(_UNDECOMPOSED)


def folded_words(text: str) -> list[str]:
    """Folded words without accents; in scripts without letter case, which may have no spaces, each letter is a word."""
    return "".join(map(_part_of_word, unicodedata.normalize("NFKD", folded(text)))).split()


def ascii_form(text: str) -> str | None:
    """A text in lower-case ASCII, as people without the keys for it type it; None if that is the same or impossible."""
    plain = without_accents(folded(text))
    return plain if plain.isascii() and not text.isascii() else None


def plain_name(name: str) -> str:
    """The form of a name of which keys are made; a usual name stays as it is, as does one of invisible characters.

    Characters that only look different, such as full-width letters and ligatures, are replaced; "x²" is not "x2".
    """
    letters = "".join(map(_plain_character, without_invisible(name)))
    return " ".join(unicodedata.normalize("NFC", letters).split()) or name


@lru_cache(maxsize=10_000)
def _part_of_word(character: str) -> str:
    if unicodedata.combining(character):
        return ""
    if character.isalpha() and character.upper() == character.lower():
        return f" {character} "
    return character if character.isalnum() else " "


def _plain_character(character: str) -> str:
    form = unicodedata.decomposition(character).partition(" ")[0]
    return character if form in _DISTINCT else unicodedata.normalize("NFKC", character)
