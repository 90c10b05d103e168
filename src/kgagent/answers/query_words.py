"""How many of the words that were asked for the statements of an answer, its notes and descriptions, have."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kgagent.plain_names import folded_words, words_in_some_form

MIN_WORD = 3
"""Letters of a word of a query that counts in a statement."""


def query_words(queries: Iterable[str], stop_words: Collection[str] = ()) -> frozenset[str]:
    """The words of queries that count in a statement.

    Args:
        queries: what was asked.
        stop_words: words that do not count, in lower case.
    """
    words = {word for query in queries for word in folded_words(query) if len(word) >= MIN_WORD}
    return frozenset(words.difference(stop_words))


@dataclass(frozen=True)
class QueryWords:
    """The words of queries, with what each counts in a text.

    Attributes:
        weights: of each word that a text has in some form: ln(texts / texts with the word), more than 0.
        most: the greatest weight of a text.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    most: float = 0.0

    @classmethod
    def of(cls, asked: Collection[str], texts: Iterable[str]) -> "QueryWords":
        """Weigh words by their rarity among texts.

        Args:
            asked: words of queries, see `query_words`.
            texts: the texts of an answer.
        """
        matched = [words_in_some_form(asked, folded_words(text)) for text in texts] if asked else []
        counts = Counter(word for words in matched for word in words)
        weights = {word: math.log((1 + len(matched)) / count) for word, count in counts.items()}
        return cls(weights, max((sum(weights[word] for word in words) for words in matched), default=0.0))

    def share(self, text: str) -> float:
        """The weight of the words that a text has, relative to the text that has most of it; 0 to 1."""
        if not self.most:
            return 0.0
        return sum(self.weights[word] for word in words_in_some_form(self.weights, folded_words(text))) / self.most
