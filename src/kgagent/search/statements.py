"""Statements of results: each description and note is scored by itself, and a result by its best one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kgagent.answers.query_words import QueryWords
from kgagent.graph.records import NodeRecord
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.note import MatchedNote, Note
from kgagent.search import scoring
from kgagent.search.candidates import Candidate, StoredRecord, key_of
from kgagent.search.scoring import Features

Result = GraphNode | GraphRelationship


@dataclass(frozen=True)
class _Statement:
    """A statement of a candidate.

    Attributes:
        text: its text.
        similarity: its plain cosine with the query.
        note: the note; None is the description.
    """

    text: str
    similarity: float
    note: Note | None = None


def score_statements(
    candidates: Sequence[Candidate], words: Collection[str], weights: Features, *, least: float, now: datetime
) -> list[Candidate]:
    """Score candidates by their statements, best first.

    A statement has the features of its candidate, but its own similarity and words; the best one decides the score of
    the candidate. Of what a path leads to, the words are those of the relationship that the path starts with, as the
    similarity is.

    Args:
        candidates: what a search found, with their results.
        words: words of the query.
        weights: weight of each feature.
        least: similarity of a note that the search of notes did not return, plain cosine.
        now: notes that have expired by then have no score.
    """
    statements = [_statements(one, least, now) for one in candidates]
    texts = {
        one.key: [f"{_names(one.record)} {own.text}" for own in of_one] or [_names(one.record)]
        for one, of_one in zip(candidates, statements, strict=True)
        if not one.path
    }
    for one in candidates:
        if one.path:
            texts.setdefault(key_of(one.path[0]), [_names(one.path[0])])
    counted = QueryWords.of(words, (text for of_one in texts.values() for text in of_one))
    shares = {key: [counted.share(text) for text in of_one] for key, of_one in texts.items()}
    scored = []
    for one, of_one in zip(candidates, statements, strict=True):
        own = [max(shares[key_of(one.path[0])])] * max(1, len(of_one)) if one.path else shares[one.key]
        scored.append(_scored(one, of_one, own, weights))
    return sorted(scored, key=lambda one: -one.score)


def best_of_queries(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """What several queries found, by key: each candidate and each of its statements with its best score."""
    best: dict[str, Candidate] = {}
    for one in sorted(candidates, key=lambda one: -one.score):
        known = best.setdefault(one.key, one)
        if known is not one and known.result is not None and one.result is not None:
            best[one.key] = replace(known, result=_with_better_scores(known.result, one.result))
    return best


def _scored(
    candidate: Candidate, statements: Sequence[_Statement], shares: Sequence[float], weights: Features
) -> Candidate:
    """Score a candidate; `shares` are the words of its statements, or of its names if it has none."""
    features = (candidate.features or Features())._replace(words=shares[0])
    if candidate.result is None or not statements:
        return replace(candidate, features=features, score=scoring.score(features, weights))
    best = max(one.similarity for one in statements)
    each = [
        features._replace(
            similarity=scoring.similarity_feature(features.similarity - (best - one.similarity)), words=words
        )
        for one, words in zip(statements, shares, strict=True)
    ]
    scores = [scoring.score(one, weights) for one in each]
    score, features = max(zip(scores, each, strict=True))
    of_notes = {id(one.note): own for one, own in zip(statements, scores, strict=True) if one.note is not None}
    notes = (
        MatchedNote.of(note, candidate.notes.get(note.content), of_notes[id(note)]) if id(note) in of_notes else note
        for note in candidate.result.notes
    )
    described = scores[0] if statements[0].note is None else None
    result = candidate.result.model_copy(update={"notes": tuple(notes), "description_score": described})
    return replace(candidate, score=score, features=features, result=result)


def _statements(candidate: Candidate, least: float, now: datetime) -> list[_Statement]:
    """The description and the current notes of a result.

    A description that only repeats type and names is no statement if there are notes.
    """
    item = candidate.result
    if item is None:
        return []
    notes = [
        _Statement(note.content, candidate.notes.get(note.content, least), note)
        for note in item.notes
        if note.content and note.is_current(now)
    ]
    if not item.description or (notes and _repeats_triplet(item)):
        return notes
    return [_Statement(item.description, least if candidate.similarity is None else candidate.similarity), *notes]


def _names(record: StoredRecord | None) -> str:
    """The names and the type of a record."""
    if record is None:
        return ""
    return record.text("name") if isinstance(record, NodeRecord) else record.triplet


def _repeats_triplet(item: Result) -> bool:
    return isinstance(item, GraphRelationship) and item.description.rstrip(".") == item.triplet


def _with_better_scores(one: Result, other: Result) -> Result:
    """A result with the better of the scores that each statement has in two copies of it."""
    notes = tuple(
        max(first, second, key=lambda note: note.score)
        if isinstance(first, MatchedNote) and isinstance(second, MatchedNote)
        else first
        for first, second in zip(one.notes, other.notes, strict=True)
    )
    described = max(
        (item.description_score for item in (one, other) if item.description_score is not None), default=None
    )
    return one.model_copy(update={"notes": notes, "description_score": described})
