"""Which names a text holds."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

MIN_NAME_LENGTH = 2
"""Letters that a name has at the least; shorter ones stand in too many texts by chance."""


MAX_TEXT_LENGTH = 1_000
"""Words of a text in which names are looked for."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")

_Place = tuple[int, int]
"""First word of a name in a text, and the one after its last."""


def named_in(text: str, names: Iterable[str]) -> set[str]:
    """Find the names that stand in a text as whole words, letter case, accents and punctuation aside.

    A name that stands only inside longer ones ("King" in "King Lear") is not meant and left out.

    Args:
        text: for instance a question.
        names: names as they are written.
    """
    positions: dict[str, list[int]] = defaultdict(list)
    words = _words(text)[:MAX_TEXT_LENGTH]
    for position, word in enumerate(words):
        positions[word].append(position)
    places = {name: _places(_words(name), words, positions) for name in names}
    outermost = _outermost({place for found in places.values() for place in found})
    return {name for name, found in places.items() if outermost & found}


def _places(name: Sequence[str], words: Sequence[str], positions: Mapping[str, Sequence[int]]) -> set[_Place]:
    if sum(map(len, name)) < MIN_NAME_LENGTH:
        return set()
    starts = positions.get(name[0], ())
    return {(first, first + len(name)) for first in starts if words[first : first + len(name)] == name}


def _outermost(places: Iterable[_Place]) -> set[_Place]:
    """Those that lie within no other: in the order of their beginnings, those that end after all before them."""
    kept: set[_Place] = set()
    reached = 0
    for first, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if end > reached:
            kept.add((first, end))
            reached = end
    return kept


def _words(text: str) -> list[str]:
    """Folded words; of a script without letter case, which may have no spaces, each letter is one."""
    if text.isascii():
        # What the rest comes to for most names, at a tenth of its time.
        return _ASCII_WORD.findall(text.lower())
    folded = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    parted = "".join(f" {c} " if _is_caseless(c) else c if c.isalnum() else " " for c in folded)
    return parted.split()


def _is_caseless(letter: str) -> bool:
    return letter.isalpha() and letter.upper() == letter.lower()
