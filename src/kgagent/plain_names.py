"""Forms of names and words: what is the same name, what differs in accents only, and which words
may be forms of one.

`normalised_name` says whether two texts are one name. `plain_text` also ignores accents and
punctuation between words; `_plain_text.cypher` computes the same in the database.
"""

import math
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

ZERO_WIDTH = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner and byte order mark, which copied text contains."""

_INVISIBLE = ZERO_WIDTH + "\u200c\u200d\ufe0f"
"""These and joiners, which only change how their neighbors look; names are stored with joiners,
compared without.
"""

APOSTROPHES = "'\u2019\u2018\u02bc"
"""Characters that stand for the apostrophe in "O'Brien"; names are compared with the first."""

MIN_FORM_LENGTH = 4
"""Letters that two forms of a word share at their start at least."""

_WITHOUT_ZERO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))
_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, _INVISIBLE))
_ONE_APOSTROPHE = dict.fromkeys(map(ord, APOSTROPHES), APOSTROPHES[0])

_PLAIN_LETTERS = {
    0xDF: "ss",
    0xE6: "ae",
    0xF0: "d",
    0xF8: "o",
    0xFE: "th",
    0x111: "d",
    0x127: "h",
    0x131: "i",
    0x142: "l",
    0x153: "oe",
    0x3C2: "\N{GREEK SMALL LETTER SIGMA}",
}
"""Lower-case letters that Unicode does not decompose, with those in place of which they are
written.
"""

_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_BETWEEN_WORDS = re.compile(r"[ \t\r\n,;.()\"/]+")

_DISTINCT = frozenset({"<circle>", "<font>", "<fraction>", "<square>", "<sub>", "<super>"})
"""Compatibility forms that mean something else than the letters or digits that they consist of:
"x²", "①", "½".
"""


def without_zero_width(text: str) -> str:
    """A text without characters that are never seen."""
    return text.translate(_WITHOUT_ZERO_WIDTH)


def with_one_apostrophe(text: str) -> str:
    """A text with one character for all apostrophes."""
    return text.translate(_ONE_APOSTROPHE)


def compatible_form(name: str) -> str:
    """A name with compatibility forms replaced, one apostrophe, and without characters that are not
    seen.
    """
    return unicodedata.normalize("NFKC", name).translate(_WITHOUT_INVISIBLE | _ONE_APOSTROPHE)


def normalised_name(name: str) -> str:
    """A name without differences of letter case, Unicode forms, apostrophes, invisible characters
    and white space.
    """
    return " ".join(compatible_form(name).casefold().split())


def plain_text(text: str) -> str:
    """The words of a text in lower case, without accents, with "o" for "ø" and the like, and with
    one apostrophe.
    """
    return " ".join(filter(None, _BETWEEN_WORDS.split(_without_accents(_decomposed(text)))))


def other_spelling(name: str) -> str | None:
    """The plain text of a name, if it has accents or the like; otherwise None."""
    letters = _decomposed(name)
    return None if _without_accents(letters) == letters else plain_text(name)


def contains_words(plain: str, part: str) -> bool:
    """Whether a plain text contains all words of another, one after the other."""
    return f" {part} " in f" {plain} "


def folded_words(text: str) -> list[str]:
    """Words without letter case and accents; in scripts without letter case, which may lack spaces,
    each letter is one.

    ASCII words, of which most texts are, take a tenth of the time.
    """
    return (
        _ASCII_WORD.findall(text.lower())
        if text.isascii()
        else "".join(map(_part_of_word, plain_text(text))).split()
    )


def are_forms(word: str, other: str) -> bool:
    """Whether two words may be forms of one: they start with the same letters, at least half of the
    longer one.
    """
    if len(word) < MIN_FORM_LENGTH or word[:MIN_FORM_LENGTH] != other[:MIN_FORM_LENGTH]:
        return False
    size = math.ceil(max(len(word), len(other)) / 2)
    return word[:size] == other[:size]


def words_in_some_form(asked: Iterable[str], present: Iterable[str]) -> list[str]:
    """The words that are among the present ones, or have a form there."""
    by_start: dict[str, set[str]] = {}
    for word in present:
        by_start.setdefault(word[:MIN_FORM_LENGTH], set()).add(word)
    return [
        word
        for word in asked
        if word in (alike := by_start.get(word[:MIN_FORM_LENGTH], ()))
        or any(are_forms(word, other) for other in alike)
    ]


def plain_name(name: str) -> str:
    """The form of a name of which keys are made; a usual name stays as it is, as does one of
    invisible characters.

    Characters that only look different, such as full-width letters and ligatures, are replaced;
    "x²" is not "x2".
    """
    letters = "".join(map(_plain_character, name.translate(_WITHOUT_INVISIBLE)))
    return " ".join(unicodedata.normalize("NFC", letters).split()) or name


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text).lower()


def _without_accents(letters: str) -> str:
    if letters.isascii():
        return letters
    return _ACCENTS.sub(
        "", letters.translate(_PLAIN_LETTERS | _WITHOUT_INVISIBLE | _ONE_APOSTROPHE)
    )


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
