"""How well the relationship types of a path fit a query.

    fit = similarity - 0.02 · (types - 1) + 0.2 · (types that a word of the query names - 1, if positive)
          - 0.06 · common types that no word names, if any word names a type

`similarity` is the mean cosine of the types' mean embeddings with the query without its names. Each type needs a word
of its own, in the order of the path: in English, what is nearest to a name is nearest in the graph. Words after a name
follow those before it, unless the name is possessive ("Ann's mother"). For the last term, a word may be anywhere, and
name several types. Rare types are exempt from it: "guide" answers "who are my mentors?" without being named. Of several
types of a relationship, separated by commas, the best counts. The weights were chosen on 2WikiMultihopQA and MetaQA.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import accumulate, islice, pairwise, product
from operator import mul

from kgagent.graph.lucene import content_words, words
from kgagent.models.plain import humanize_relation_type
from kgagent.retrieval.type_means import TypeMean
from kgagent.retrieval.vector_targets import EmbeddedQuery

LENGTH_COST, WORD_WEIGHT, UNNAMED_COST = 0.02, 0.2, 0.06

MAX_TYPES, MAX_CHAINS, MAX_AHEAD, MAX_WORDS = 8, 32, 8, 50
"""Types of one relationship, choices of one type of each relationship of a path, named types to continue it by, and
words of a query."""

Chain = tuple[str, ...]
"""One type of each relationship of a path."""

STEM, COMMON = 4, 3
"""Minimum number of letters that two forms of a word share at their start, which are also at least half of the longer
form; and of relationships of a common type."""

_MY, _POSSESSIVE = re.compile(r"(?i)\bmy\b"), re.compile(r"['\u2019](?:s\b|(?!\w))")


class TypeFit:
    """The fit of paths for one query; types are added, with their similarities, as the search finds them."""

    def __init__(self, query: EmbeddedQuery, query_words: Sequence[str]) -> None:
        self._vector = query.vector if query.without_names is None else query.without_names
        self._length = math.hypot(*self._vector) or 1.0
        self._words = query_words
        self.similarities: dict[str, float] = {}
        self._named: dict[str, list[bool]] = {}
        self._rare: set[str] = set()
        self._likely, self._aheads = list[str](), dict[Chain, float]()
        self._counts: dict[Chain, list[int]] = {(): [0] * (len(query_words) + 1)}
        self._fits: dict[Chain, float] = {}

    def add(self, one: str, mean: TypeMean, similarity: float) -> None:
        """Add a single type: its mean embedding or, if that is empty, the similarity of what was found."""
        self.similarities[one] = sum(map(mul, mean.vector, self._vector)) / self._length if mean.vector else similarity
        self._likely, self._aheads = [], {}
        if mean.sampled < COMMON:
            self._rare.add(one)
        own = [word.casefold() for word in words(humanize_relation_type(one))]
        meant = [next((x for x in own if _ends_in(word, x) or _ends_in(x, word)), None) for word in self._words]
        # "Release years" names one type once, although both words are in it.
        is_named = [now is not None and after in (now, None) for now, after in pairwise([*meant, None])]
        if any(is_named):
            if not self._named:
                self._fits.clear()
            self._named[one] = is_named

    def of(self, chain: Chain) -> float:
        """The fit of a path with these types."""
        if chain not in self._fits:
            similarity = sum(map(self.similarities.__getitem__, chain)) / len(chain)
            unnamed = sum(one not in self._named and one not in self._rare for one in chain) if self._named else 0
            cost = LENGTH_COST * (len(chain) - 1) + UNNAMED_COST * unnamed
            self._fits[chain] = similarity - cost + WORD_WEIGHT * max(0, self.named(chain) - 1)
        return self._fits[chain]

    def is_direct(self, chains: Iterable[Chain]) -> bool:
        """Whether no word names a type and, of some paths, one of a single type fits best."""
        return not self._named and len(max(chains, key=self.of, default=())) == 1

    def ahead(self, chain: Chain) -> float:
        """The best fit of a path that has one more type, of those that were added."""
        if not self._likely:
            # Of the types that no word names, the most similar one stands for all.
            unnamed = self.similarities.keys() - self._named.keys()
            for count, types in ((1, unnamed), (MAX_AHEAD, self._named)):
                self._likely += nlargest(count, types, key=self.similarities.__getitem__)
        if chain not in self._aheads:
            self._aheads[chain] = max(self.of((*chain, one)) for one in self._likely)
        return self._aheads[chain]

    def named(self, chain: Chain) -> int:
        """The number of types that words of the query name in order."""
        return self._count(chain)[-1] if self._named else 0

    def _count(self, types: Chain) -> list[int]:
        """The number of types that words name in order, for the first 0, 1, … words of the query."""
        if types not in self._counts:
            counts = self._count(types[:-1])
            if named := self._named.get(types[-1]):
                places = zip(pairwise(counts), named, strict=True)
                counts = list(accumulate((max(after, before + own) for (before, after), own in places), max, initial=0))
            self._counts[types] = counts
        return self._counts[types]


@lru_cache(maxsize=1_024)
def single_types(relationship_type: str) -> tuple[str, ...]:
    """The types of a relationship that has several, separated by commas."""
    found = (one for part in relationship_type.split(",") if (one := part.strip()))
    return tuple(islice(found, MAX_TYPES)) or (relationship_type,)


def chains_of(types: Iterable[str]) -> tuple[Chain, ...]:
    """The choices of one type of each relationship, for the types of the relationships of a path."""
    return tuple(islice(product(*map(single_types, types)), MAX_CHAINS))


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
    return [word for side in sides for word in map(str.casefold, side) if word in content][:MAX_WORDS]


def _ends_in(compound: str, word: str) -> bool:
    """Whether the first word, or its end, seems to be a form of the second: "screenwriter" of "written"."""
    start = compound.find(word[:STEM])
    if start < 0:
        return False
    end = compound[start:]
    size = max(STEM, math.ceil(max(len(end), len(word)) / 2))
    return end[:size] == word[:size]
