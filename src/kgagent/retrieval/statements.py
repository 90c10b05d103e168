"""Statements of results: how many of the query's words the best note or description of each has."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kgagent.models.graph import DescribedItem
from kgagent.models.statement_matcher import QueryWords, query_words
from kgagent.retrieval import scoring
from kgagent.retrieval.candidates import Candidate
from kgagent.retrieval.scoring import Features


def with_words(candidates: Sequence[Candidate], words: Collection[str], weights: Features) -> list[Candidate]:
    """Score candidates by their statements too, best first.

    Args:
        candidates: what a search found, with their results.
        words: words of the query that name neither a node nor a type.
        weights: weight of each feature.
    """
    texts = [statements(one.result) if one.result and not one.path else () for one in candidates]
    matcher = QueryWords.of(query_words(words), (text for of_one in texts for text in of_one))
    scored = []
    for one, of_one in zip(candidates, texts, strict=True):
        features = (one.features or Features())._replace(words=max(map(matcher.share, of_one), default=0.0))
        scored.append(replace(one, features=features, score=scoring.score(features, weights)))
    return sorted(scored, key=lambda one: -one.score)


def statements(item: DescribedItem) -> list[str]:
    """The description of a result, and the contents of its notes."""
    return [item.description, *(note.content for note in item.notes)]
