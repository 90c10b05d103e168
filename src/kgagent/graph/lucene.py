"""Lucene queries for the words of any text."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

from kgagent.names import APOSTROPHES, other_spelling

MAX_WORDS = 100
"""Number of words of a text that are searched; with their other forms, in three fields each, they
stay below the 1,024 clauses that Lucene accepts."""

MAX_WORD_LENGTH = 200
"""Characters; the index splits words that are longer than 255."""

MIN_INFLECTED_LENGTH = 4
"""Minimum number of letters of a word that is searched in singular and plural."""

# Vowel signs, accents and joiners, which `\w` does not match: they never end a word.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    r"\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u0f18-\u0fbc\u1000-\u109f\u1780-\u17ff\u1ab0-\u1aff"
    r"\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
)
_LETTERS = rf"[\w{_MARKS}]+"
_PICTOGRAPH = (
    r"[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_DRESS = r"[\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{_PICTOGRAPH}{_DRESS}(?:\u200d{_PICTOGRAPH}{_DRESS})*"
# As in the analyzer of the index: an emoji with its modifiers is a word; apostrophes and dots stay
# inside words, and commas inside numbers.
_WORD = re.compile(rf"{_EMOJI}|{_LETTERS}(?:(?:['\u2018\u2019.]|(?<=\d),(?=\d)){_LETTERS})*")
_PARTS = re.compile(r"['\u2018\u2019.,]")
# Scripts that are written without spaces: in the analyzer, each character is a word.
_UNSPACED = re.compile(
    r"[\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_APOSTROPHES = APOSTROPHES[:2]
_KNOWN = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "So"})
"""Categories of characters; the analyzer drops words without a character of these."""


def words(text: str) -> list[str]:
    """The words of a text, each once, ignoring case; if there are too many, the longest, which are
    the most specific.

    A run of Chinese characters or hiragana is split into pairs, because word boundaries are
    unknown.
    """
    by_folded: dict[str, str] = {}
    for word in _words(text):
        by_folded.setdefault(word.casefold(), word)
    longest = set(sorted(by_folded, key=lambda word: (-len(word), word))[:MAX_WORDS])
    return [word for folded, word in by_folded.items() if folded in longest]


def forms(word: str) -> list[str]:
    """A word with its singular or plural in English, in each normal form, without accents, and with
    each apostrophe.
    """
    spellings = [word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)]
    spellings += [other_spelling(word) or word]
    spellings += [
        form.replace(old, new)
        for form in spellings
        for old in _APOSTROPHES
        if old in form
        for new in _APOSTROPHES
    ]
    if word.isascii() and word.isalpha() and len(word) >= MIN_INFLECTED_LENGTH:
        spellings.append(_other_number(word))
    return list(dict.fromkeys(spellings))


def any_word(
    text: str, fields: Mapping[str, float], *, without: Collection[str] = ()
) -> str | None:
    """A query for any of the words of a text in some fields.

    Args:
        text: any text; quotes, brackets, `AND`, `:` and `*` have no special meaning.
        fields: names of indexed properties with their weights.
        without: words in lower case that are omitted if others remain.

    Returns:
        The query, or None if the text has no word.
    """
    asked = words(text)
    asked = [word for word in asked if word.casefold() not in without] or asked
    phrases = " ".join(quoted(form) for word in asked for form in forms(word))
    return (
        " ".join(f"{field}:({phrases})^{weight:g}" for field, weight in fields.items())
        if phrases
        else None
    )


def must_be(field: str, values: Iterable[str]) -> str:
    """A clause that keeps records with one of some values in a field, without changing the score.

    The index contains words, not values, so records whose value has the same words pass too.
    """
    return f"+{field}:({' '.join(quoted(value) for value in values)})^0"


def quoted(value: str) -> str:
    """A phrase; inside quotes, only the quote and the backslash are special."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        for word in _apart(match.group()):
            if any(unicodedata.category(letter) in _KNOWN for letter in word):
                yield word[:MAX_WORD_LENGTH]


def _apart(word: str) -> Iterator[str]:
    """A word, and its parts if it has several."""
    runs = _UNSPACED.findall(word)
    if runs:
        for run in runs:
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        yield from (rest for rest in _UNSPACED.split(word) if rest)
        return
    yield word
    if _PARTS.search(word):
        yield from _PARTS.split(word)


def _other_number(word: str) -> str:
    folded = word.lower()
    if folded.endswith("ies"):
        return word[:-3] + "y"
    if folded.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if folded.endswith("s"):
        return word + "es" if folded.endswith(("ss", "us", "is")) else word[:-1]
    if folded.endswith("y") and folded[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if folded.endswith(("x", "z", "ch", "sh")) else "s")
