"""How well statements, the notes and descriptions of an answer, match the queries that were asked."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from kgagent.plain_names import folded_words, words_in_some_form

MIN_WORD = 3
"""Letters of a word of a query that counts in a statement."""

WORDS_WEIGHT = 0.1
"""What the words of a statement add to its similarity, in plain cosine, if no statement has more of the query."""

NEAR_BEST = 0.15
"""How much less than the best statement of an answer a note may match to be shown."""

Statement = tuple[str, float | None]
"""A text, and its plain cosine with the query if a search found it."""


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


@dataclass(frozen=True)
class StatementMatcher:
    """Compares statements with the queries of an answer.

    Attributes:
        words: their words.
        least: similarity of a note that no search returned: that of the last one that it returned.
        enough: match from which a note is shown; None if nothing was asked.
    """

    words: QueryWords = field(default_factory=QueryWords)
    least: float = 0.0
    enough: float | None = None

    @classmethod
    def of(cls, words: Collection[str], statements: Iterable[Statement]) -> "StatementMatcher":
        """Compare the statements of an answer with what was asked.

        Args:
            words: words of the queries, see `query_words`.
            statements: the notes and descriptions of the answer.
        """
        given = list(statements)
        matcher = cls(QueryWords.of(words, (text for text, _ in given)))
        known = [similarity for _, similarity in given if similarity is not None]
        if not known and not matcher.words.weights:
            return matcher
        matcher = replace(matcher, least=min(known, default=0.0))
        reach = NEAR_BEST if known else WORDS_WEIGHT / 2
        return replace(matcher, enough=max(matcher.match(*statement) for statement in given) - reach)

    def match(self, text: str, similarity: float | None) -> float:
        """How well a statement matches: its similarity, and what its words add."""
        return (self.least if similarity is None else similarity) + WORDS_WEIGHT * self.words.share(text)
