"""How well the relationship types of a path fit a query.

    fit = cosine - 0.02 · (types - 1) + 0.2 · (types that a word of the query names - 1, if positive)

`cosine` compares the sum of the types' mean embeddings with the query without its names. Different types are assumed to
have a cosine of 0.8: by their own, types with little in common would fit too well. Each type needs a word of its own,
and the words must be in order: in English, what is nearest to a name is nearest in the graph. "Who starred in films by
the director of Critters?" names the director first and the actors last, and so does its path. Words after a name follow
those before it, unless the name is possessive ("Ann's mother"). The weights were chosen on 2WikiMultihopQA and MetaQA.
"""

import math
import re
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import accumulate, pairwise
from operator import mul

from kgagent.graph.lucene import content_words, words
from kgagent.models.plain import humanize_relation_type
from kgagent.retrieval.vector_search import VectorQuery

LIKENESS, LENGTH_COST, WORD_WEIGHT = 0.8, 0.02, 0.2

STEM = 4
"""Minimum number of letters that two forms of a word share at their start; also at least half of the longer form."""

_MY, _POSSESSIVE = re.compile(r"(?i)\bmy\b"), re.compile(r"['\u2019](?:s\b|(?!\w))")


class TypeFit:
    """The fit of paths for one query; types are added, with their similarities, as the search finds them."""

    def __init__(self, query: VectorQuery, query_words: Sequence[str]) -> None:
        self._vector = query.vector if query.without_names is None else query.without_names
        self._length = math.hypot(*self._vector) or 1.0
        self._words = query_words
        self.similarities: dict[str, float] = {}
        self._named: dict[str, list[bool]] = {}
        self._counts: dict[tuple[str, ...], list[int]] = {(): [0] * (len(query_words) + 1)}
        self._fits: dict[tuple[str, ...], float] = {}

    def add(self, one: str, mean: Sequence[float], similarity: float) -> None:
        """Add a type with its mean embedding, of length 1; if that is empty, with the similarity of what was found."""
        self.similarities[one] = sum(map(mul, mean, self._vector)) / self._length if mean else similarity
        own = [word.casefold() for word in words(humanize_relation_type(one))]
        if any(is_named := [any(_ends_in(word, x) or _ends_in(x, word) for x in own) for word in self._words]):
            self._named[one] = is_named

    def of(self, types: tuple[str, ...]) -> float:
        """The fit of a path with these types."""
        if types not in self._fits:
            length = math.sqrt(sum(1.0 if one == other else LIKENESS for one in types for other in types))
            cosine = sum(self.similarities[one] for one in types) / length
            named = max(0, self._count(types)[-1] - 1)
            self._fits[types] = cosine - LENGTH_COST * (len(types) - 1) + WORD_WEIGHT * named
        return self._fits[types]

    def ahead(self, types: tuple[str, ...]) -> float:
        """The best fit of a path that has one more type, of those that were added."""
        # Of the types that no word names and that are not on the path, the most similar one fits best.
        likely = nlargest(len(types) + 1, self.similarities, key=self.similarities.__getitem__)
        return max(self.of((*types, one)) for one in {*likely, *types, *self._named})

    def _count(self, types: tuple[str, ...]) -> list[int]:
        """The number of types that words name in order, for the first 0, 1, … words of the query."""
        if types not in self._counts:
            counts = self._count(types[:-1])
            if named := self._named.get(types[-1]):
                places = zip(pairwise(counts), named, strict=True)
                counts = list(accumulate((max(after, before + own) for (before, after), own in places), max, initial=0))
            self._counts[types] = counts
        return self._counts[types]


def words_from(text: str, names: Iterable[str]) -> list[str]:
    """The words of a query outwards from the first of the names that it mentions: those before it, then those after.

    Args:
        text: the query.
        names: names in the query; without one, "my" counts as one, or else the end of the text.
    """
    found = [match for name in names if (match := re.search(re.escape(name), text, re.IGNORECASE))]
    first = min(found, key=lambda match: (match.start(), -match.end()), default=_MY.search(text))
    before, after = (text[: first.start()], text[first.end() :]) if first else (text, "")
    sides = [words(before)[::-1], words(after)]
    if not found or _POSSESSIVE.match(after):
        sides.reverse()
    content = set(map(str.casefold, content_words(text)))
    return [word for side in sides for word in map(str.casefold, side) if word in content]


def _ends_in(compound: str, word: str) -> bool:
    """Whether the first word, or its end, seems to be a form of the second: "screenwriter" of "written"."""
    end = compound[max(0, compound.find(word[:STEM])) :]
    size = max(STEM, math.ceil(max(len(end), len(word)) / 2))
    return end[:size] == word[:size]
