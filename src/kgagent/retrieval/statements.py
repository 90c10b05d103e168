"""Statements of results: each description and note is scored by itself, and a result by its best one."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kgagent.graph.records import NodeRecord
from kgagent.models.graph import DescribedItem, GraphRelationship
from kgagent.models.note import MatchedNote
from kgagent.models.query_words import QueryWords
from kgagent.retrieval import scoring
from kgagent.retrieval.candidates import Candidate, StoredRecord, key_of
from kgagent.retrieval.scoring import Features

ItemT = TypeVar("ItemT", bound=DescribedItem)


def score_statements(candidates: Sequence[Candidate], words: Collection[str], weights: Features) -> list[Candidate]:
    """Score candidates by their statements, best first.

    A statement has the features of its candidate, but its own similarity and words; the best one decides the score of
    the candidate. Of what a path leads to, the words are those of the relationship that the path starts with, as the
    similarity is.

    Args:
        candidates: what a search found, with their results.
        words: words of the query.
        weights: weight of each feature.
    """
    texts = {one.key: _texts(one) for one in candidates if not one.path}
    for one in candidates:
        if one.path:
            texts.setdefault(key_of(one.path[0]), [_names(one.path[0])])
    counted = QueryWords.of(words, (text for of_one in texts.values() for text in of_one))
    shares = {key: [*map(counted.share, of_one)] for key, of_one in texts.items()}
    least = min((similarity for one in candidates for similarity in one.notes.values()), default=0.0)

    def scored(one: Candidate) -> Candidate:
        own = [max(shares[key_of(one.path[0])])] if one.path else shares[one.key]
        return _scored(one, own, least, weights)

    return sorted(map(scored, candidates), key=lambda one: -one.score)


def _scored(candidate: Candidate, shares: Sequence[float], least: float, weights: Features) -> Candidate:
    """Score a candidate; `shares` are the words of its statements, or of all of them if it is only one."""
    features = (candidate.features or Features())._replace(words=shares[0])
    similarities = [similarity for _, similarity in _statements(candidate, least)]
    if candidate.result is None or not similarities:
        return replace(candidate, features=features, score=scoring.score(features, weights))
    best = max(similarities)
    each = [
        features._replace(
            similarity=scoring.similarity_feature(features.similarity - (best - similarity)),
            words=shares[position] if len(shares) > 1 else shares[0],
        )
        for position, similarity in enumerate(similarities)
    ]
    scores = [scoring.score(one, weights) for one in each]
    score, features = max(zip(scores, each, strict=True))
    return replace(
        candidate, score=score, features=features, result=_with_scores(candidate.result, scores, candidate.notes)
    )


def _texts(candidate: Candidate) -> list[str]:
    """The statements of a candidate, each with the names and the type of its record, or these alone."""
    if candidate.record is None:
        return [""]
    names = _names(candidate.record)
    return [f"{names} {text}" for text, _ in _statements(candidate, 0.0)] or [names]


def _names(record: StoredRecord) -> str:
    return record.text("name") if isinstance(record, NodeRecord) else record.triplet


def _statements(candidate: Candidate, least: float) -> Iterator[tuple[str, float]]:
    """The description and the notes of a result, each with its similarity, `least` if that is not known.

    A description that only repeats type and names is no statement if there are notes.
    """
    item = candidate.result
    if item is None:
        return
    if item.description and not (item.notes and _repeats_triplet(item)):
        yield item.description, least if candidate.similarity is None else candidate.similarity
    for note in item.notes:
        yield note.content, candidate.notes.get(note.content, least)


def _repeats_triplet(item: DescribedItem) -> bool:
    return isinstance(item, GraphRelationship) and item.description.rstrip(".") == item.triplet


def _with_scores(item: ItemT, scores: Sequence[float], similarities: Mapping[str, float]) -> ItemT:
    """The same with the score of each statement."""
    of_notes = scores[len(scores) - len(item.notes) :]
    notes = (
        MatchedNote.of(note, similarities.get(note.content), score)
        for note, score in zip(item.notes, of_notes, strict=True)
    )
    described = scores[0] if len(scores) > len(item.notes) else None
    return item.model_copy(update={"notes": tuple(notes), "description_score": described})
