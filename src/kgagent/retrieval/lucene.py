"""Any text as a Lucene query that looks for its words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

MAX_WORDS = 100
"""Words of a text that are looked for; with their other forms, in three fields each, they stay below the 1,024 clauses
that Lucene takes."""

MAX_WORD_LENGTH = 200
"""Characters; the index parts words that are longer than 255."""

MIN_INFLECTED_LENGTH = 4
"""Letters of a word that is looked for in singular and plural."""

# Vowel signs, accents and joiners, which no letter class of `re` knows: they never end a word.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    r"\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u0f18-\u0fbc\u1000-\u109f\u1780-\u17ff\u1ab0-\u1aff"
    r"\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
)
_LETTERS = rf"[\w{_MARKS}]+"
_PICTOGRAPH = r"[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
_DRESS = r"[\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{_PICTOGRAPH}{_DRESS}(?:\u200d{_PICTOGRAPH}{_DRESS})*"
# As the index's analyser has it: an emoji with all that joins it is a word; apostrophes and dots stay inside words, and
# commas inside numbers.
_WORD = re.compile(rf"{_EMOJI}|{_LETTERS}(?:(?:['\u2019.]|(?<=\d),(?=\d)){_LETTERS})*")
_PARTS = re.compile(r"['\u2019.,]")
# Scripts that are written without spaces: the analyser takes each character for a word.
_UNSPACED = re.compile(r"[\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_KNOWN = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "So"})
"""Categories of characters of which a word has one at the least; the analyser drops what has none."""

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about an and any are as at be been but by can could did do does for from had has have he her hers him his how
        i if in into is its me my of on or our she should so some than that the their them then there these they this
        those to us was we were what when where which while who whom whose why with would you your
        """,
    )
)
"""English words that stand in nearly every question and say nothing about what it is of."""


def words(text: str) -> list[str]:
    """The words of a text, each once, letter case aside; of too many, the longest, as those tell most.

    English function words are left out where others remain. A run of Chinese characters or hiragana gives its pairs,
    since nothing tells where its words end.
    """
    found: dict[str, str] = {}
    for word in _words(text):
        found.setdefault(word.casefold(), word)
    found = {folded: word for folded, word in found.items() if folded not in _FUNCTION_WORDS} or found
    kept = set(sorted(found, key=lambda word: (-len(word), word))[:MAX_WORDS])
    return [word for folded, word in found.items() if folded in kept]


def forms(word: str) -> list[str]:
    """A word with its singular or plural, by the rules of English spelling, and with its accents written either way."""
    found = [word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)]
    if word.isascii() and word.isalpha() and len(word) >= MIN_INFLECTED_LENGTH:
        found.append(_other_number(word))
    return list(dict.fromkeys(found))


def any_word(text: str, fields: Mapping[str, float]) -> str | None:
    """A query for the words of a text, any of them, in some fields.

    Args:
        text: anything that a person or a model may write; quotes, brackets, `AND`, `:` and `*` are no grammar here.
        fields: names of indexed properties with how much a hit in them counts.

    Returns:
        The query, or None where the text has no word.
    """
    quoted = [_quoted(form) for word in words(text) for form in forms(word)]
    return " ".join(f"{field}:({' '.join(quoted)})^{weight:g}" for field, weight in fields.items()) if quoted else None


def must_be(field: str, values: Iterable[str]) -> str:
    """A clause that keeps to records whose field is one of some values, and that does not count.

    The index knows words, not values, so that records with other values of the same words pass too.
    """
    return f"+{field}:({' '.join(_quoted(value) for value in values)})^0"


def _quoted(value: str) -> str:
    """A phrase: between quotes, only the quote and the backslash are grammar."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        for word in _apart(match.group()):
            if any(unicodedata.category(letter) in _KNOWN for letter in word):
                yield word[:MAX_WORD_LENGTH]


def _apart(word: str) -> Iterator[str]:
    """A word as it stands, and its parts where it has some."""
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
