"""Any text as a Lucene query that looks for its words."""

import re
from collections.abc import Iterable, Iterator, Mapping

MOST_WORDS = 250
"""Words of a text that are looked for; in three fields each they stay below the 1,024 clauses that Lucene takes."""

LONGEST_WORD = 200
"""Characters; the index parts words that are longer than 255."""

# Words may hold an apostrophe or a dot, which the index's analyser keeps inside them; a pictograph is its own word.
_WORD = re.compile(r"\w+(?:['\u2019.]\w+)*|[\u2600-\u27bf\U0001f000-\U0001faff]")
_PARTS = re.compile(r"['\u2019.]")
# Scripts that are written without spaces: the analyser takes each character for a word.
_UNSPACED = re.compile(r"[\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


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
    kept = set(sorted(found, key=lambda word: (-len(word), word))[:MOST_WORDS])
    return [word for folded, word in found.items() if folded in kept]


def any_word(text: str, fields: Mapping[str, float]) -> str | None:
    """A query for the words of a text, any of them, in some fields.

    Args:
        text: anything that a person or a model may write; quotes, brackets, `AND`, `:` and `*` are no grammar here.
        fields: names of indexed properties with how much a hit in them counts.

    Returns:
        The query, or None where the text has no word.
    """
    quoted = [_quoted(word) for word in words(text)]
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
            yield word[:LONGEST_WORD]


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
