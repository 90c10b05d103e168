"""Which names a text holds."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SHORTEST_NAME = 2
"""Letters that a name has at the least; shorter ones stand in too many texts by chance."""


@dataclass(frozen=True)
class _Place:
    first: int
    end: int

    def lies_within(self, other: "_Place") -> bool:
        return self != other and other.first <= self.first and self.end <= other.end


def named_in(text: str, names: Iterable[str]) -> set[str]:
    """Find the names that stand in a text as whole words, letter case, accents and punctuation aside.

    A name that stands only inside longer ones ("King" in "King Lear") is not meant and left out.

    Args:
        text: for instance a question.
        names: names as they are written.
    """
    words = _words(text)
    places = {name: list(_places(_words(name), words)) for name in names}
    taken = [place for found in places.values() for place in found]
    return {
        name
        for name, found in places.items()
        if any(not any(place.lies_within(other) for other in taken) for place in found)
    }


def _places(name: list[str], words: list[str]) -> Iterator[_Place]:
    if sum(map(len, name)) < SHORTEST_NAME:
        return
    for first in range(len(words) - len(name) + 1):
        if words[first : first + len(name)] == name:
            yield _Place(first, first + len(name))


def _words(text: str) -> list[str]:
    """Folded words; of a script without letter case, which may have no spaces, each letter is one."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    parted = "".join(f" {c} " if _is_caseless(c) else c if c.isalnum() else " " for c in folded)
    return parted.split()


def _is_caseless(letter: str) -> bool:
    return letter.isalpha() and letter.upper() == letter.lower()
