"""Names and words: which texts are one name, the words of a text, which words are forms of one, and
which names are alike.

A name has two forms for comparison. `normalised_name` says whether two texts are one name: letter
case, Unicode forms, apostrophes, invisible characters and white space make no other name.
`plain_text` also ignores accents and punctuation between words, for names that are only similar and
for words; `_plain_text.cypher` computes it in the database.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable
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

MIN_DISTINCTIVE = 4
"""Minimum number of letters of a word by which names are compared, if a name has such a word."""

SIMILAR_WORD, SIMILAR_NAME = 70, 60
"""Minimum similarity, of 100, of two words of names that are spelt alike, and of two names of which
one may be meant by the other.
"""

MAX_NAME_LENGTH = 80
"""Characters of a name that messages include and comparisons use."""

EXACT_NAME = 1.0
"""Score of a name that equals the text."""

SHARED_WORDS = 0.6
"""Highest score of a name that only shares words with the text."""

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


def compatible_name(name: str) -> str:
    """A name without differences that are not seen; a usual name stays as it is. Keys are made of
    it.

    Characters that only look different, such as full-width letters and ligatures, are replaced;
    "x²" is not "x2".
    """
    letters = name
    if not name.isascii():
        letters = "".join(map(_compatible_character, name.translate(_WITHOUT_INVISIBLE)))
    return " ".join(unicodedata.normalize("NFC", letters).split()) or name


def normalised_name(name: str) -> str:
    """The form in which names are compared: two texts with the same form are one name."""
    return with_one_apostrophe(compatible_name(name)).casefold()


def normalised_type(name: str) -> str:
    """The form in which free types are compared: "works at" for WORKS_AT and "Works-at"."""
    return normalised_name(compatible_name(name).replace("_", " ").replace("-", " "))


def with_one_apostrophe(text: str) -> str:
    """A text with one character for all apostrophes."""
    return text.translate(_ONE_APOSTROPHE)


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


def plain_words(text: str) -> list[str]:
    """The words of a text in their plain form; in scripts without letter case, which may lack
    spaces, each letter is one.

    ASCII words, of which most texts are, take a tenth of the time.
    """
    return (
        _ASCII_WORD.findall(text.lower())
        if text.isascii()
        else "".join(map(_part_of_word, plain_text(text))).split()
    )


def plain_sentence(text: str) -> str:
    """The words of a text in their plain form, in a row."""
    return " ".join(plain_words(text))


def contains_quote(text: str, quote: str) -> bool:
    """Whether a text has the words of a quote, one after the other; only the words are compared."""
    return contains_words(plain_sentence(text), plain_sentence(quote))


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


def name_score(text: str, name: str) -> float:
    """Score a name against a text, ignoring case and accents.

    Returns:
        1.0 if they are equal; 0.7 to 1.0 if one contains the other, by their lengths; up to 0.6 by
        the share of common words; otherwise 0.0.
    """
    # A name without letters, such as "?", has no plain form.
    one, other = plain_text(text) or text.strip(), plain_text(name) or name.strip()
    if not one or not other:
        return 0.0
    if one == other:
        return EXACT_NAME
    short, long = sorted((one, other), key=len)
    if short in long:
        return 0.7 + 0.3 * len(short) / len(long)
    words, others = set(one.split()), set(other.split())
    return min(SHARED_WORDS, len(words & others) / max(len(words), len(others)))


def is_near(reference: str, names: Iterable[str]) -> bool:
    """Whether a name has a word of a reference, or a similar one: "rajiv", "rajeev". Short words
    count only if there are no others.
    """
    words_of_names = {word for name in names for word in plain_text(name).split()}
    wanted = plain_text(reference).split()
    distinctive = [word for word in wanted if len(word) >= MIN_DISTINCTIVE] or wanted
    return any(
        _similarity(word, other, SIMILAR_WORD) for word in distinctive for other in words_of_names
    )


def closest_names(name: str, existing: Collection[str]) -> list[str]:
    """The existing names most similar to `name`, at most three; case and punctuation are
    ignored.
    """
    wanted = _letters(name)
    scored = ((_similarity(wanted, _letters(known), SIMILAR_NAME), known) for known in existing)
    close = sorted((-score, known) for score, known in scored if score)
    return [known for _, known in close[:3]]


def did_you_mean(name: str, existing: Collection[str]) -> str:
    """The question "Did you mean …?" for similar names; empty if there are none."""
    close = closest_names(name, existing)
    return f"Did you mean {' or '.join(map(shorten_name, close))}?" if close else ""


def shorten_name(name: str) -> str:
    """The name, truncated if it is very long."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 3]}..."


def _similarity(one: str, other: str, minimum: float) -> float:
    """How similar two texts are, to 100; 0 below a minimum."""
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other, score_cutoff=minimum)


def _letters(name: str) -> str:
    return "".join(c for c in name[:MAX_NAME_LENGTH].casefold() if c.isalnum())


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


def _compatible_character(character: str) -> str:
    form = unicodedata.decomposition(character).partition(" ")[0]
    return character if form in _DISTINCT else unicodedata.normalize("NFKC", character)
