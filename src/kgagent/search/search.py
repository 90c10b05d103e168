"""One search: read the queries, retrieve, expand, read in full, score, and sort once.

    retrieve (retrieve.py) ─> score what was retrieved ─> expand (expand.py), a statement a hop
        ─> read the best records in full (results.py)
        ─> score their statements (features.py, score.py) ─> sort

A candidate is a statement: a note, a description, or the bare record without either. A record's
score is that of its best statement: its own, or that of the best path through it. Several queries
share each statement of the database.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.property_names import RECORD_OWNER
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import GraphExpansion
from kgagent.models.graph import FoundStatement, GraphNode, GraphRelationship
from kgagent.models.history import FormerDescription, former_descriptions
from kgagent.models.hybrid import Retriever, RetrieverName
from kgagent.models.note import Note
from kgagent.models.passage import Passage
from kgagent.models.when import OPEN_END, OPEN_START, last_day
from kgagent.search.attempt import Failure, attempt
from kgagent.search.candidates import Candidate, retrievers_of
from kgagent.search.expand import DEFAULT_HOPS, Expansion, Path, expand
from kgagent.search.features import FeatureReader, PathFacts, nodes_of
from kgagent.search.mentions import Mention, leads_of, mentioned
from kgagent.search.query import EmbeddedQuery
from kgagent.search.results import ReadRecord, Surroundings, model_of, read_records
from kgagent.search.retrieve import OF_STATEMENTS, Retrieved, SearchSpec, retrieve
from kgagent.search.scope import SHORTEST_TIMEOUT, RelationshipFilter
from kgagent.search.score import Features, contributions, score
from kgagent.search.vectors import RANKING_FIELDS, VectorSearch

_log = logging.getLogger(__name__)

EXPANSION_SHARE = 0.8
"""Share of the time of a search that retrieval and expansion may take."""

READ = 40
"""Best records of a query that every search reads in full."""

PASSAGES_OF_RESULT = 5
"""Passages that are among the notes of a source in a result: the best ones."""


@dataclass(frozen=True)
class Ranked:
    """What a query found, ranked by what is known before the records are read in full.

    Attributes:
        retrieved: what the retrievers returned.
        reader: computes the features of candidates.
        candidates: the records with their provisional scores, best first.
        through: the best path through each relationship, by the key of its candidate.
        past: whether only past relationships join it to a named node, likewise.
        mentions: the best way from a passage to each record that one names, likewise.
    """

    retrieved: Retrieved
    reader: FeatureReader
    candidates: Sequence[Candidate]
    through: Mapping[str, Path] = field(default_factory=dict)
    past: Mapping[str, float] = field(default_factory=dict)
    mentions: Mapping[str, Mention] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a search found for each query.

    Attributes:
        spec: what was searched.
        ends_at: when the rest of the search must end, on the clock of `time.monotonic`.
        results: one for each query.
        failures: the retrievers that failed.
        warnings: what is missing, and why.
    """

    spec: SearchSpec
    ends_at: float
    results: Sequence[Ranked] = ()
    failures: Mapping[Retriever, Failure] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @property
    def time_left(self) -> float:
        """Seconds that the next step of the search may take."""
        return max(round(self.ends_at - time.monotonic(), 2), SHORTEST_TIMEOUT)

    @property
    def vectors(self) -> list[Sequence[float]]:
        """The vectors of the queries; empty ones could not be embedded."""
        return [one.retrieved.query.embedded.vector for one in self.results]


async def search(
    spec: SearchSpec,
    queries: Sequence[EmbeddedQuery],
    vectors: VectorSearch,
    embedder: Embedder,
) -> Found:
    """Retrieve and expand; `score_records` scores what was then read in full.

    Args:
        spec: what to search, and how.
        queries: texts; those without a vector are embedded, in one request.
        vectors: vector search.
        embedder: embeds the texts.

    Raises:
        SearchError: every retriever failed; or the error itself if each failed with an unexpected
            error.
    """
    deadline = time.monotonic() + EXPANSION_SHARE * spec.timeout
    retrieval = await retrieve(spec, queries, vectors, embedder)
    # Computing runs in threads, so that other users' calls go on.
    ranked = await asyncio.to_thread(lambda: [_ranked(spec, one) for one in retrieval.results])
    expansions = [Expansion.begun(one.reader, spec.weights, _starts(one)) for one in ranked]
    async with task_group() as group:
        expanding = group.create_task(_expand(spec, vectors, expansions, deadline))
        mentions, not_followed = await _mentioned(spec, vectors, ranked)
    warnings = [*retrieval.warnings, *expanding.result(), *not_followed]
    return Found(
        spec,
        time.monotonic() + spec.timeout,
        list(map(_with_paths, ranked, expansions, mentions)),
        retrieval.failures,
        warnings,
    )


async def read_scored(
    found: Found, candidates: Sequence[Candidate], surroundings: Surroundings | None = None
) -> tuple[list[Candidate], dict[str, ReadRecord], GraphExpansion, Failure | None]:
    """Read records in full and score their statements.

    If reading fails, nodes are as they were retrieved.

    Args:
        found: what the queries found.
        candidates: the records.
        surroundings: what else to read.

    Returns:
        The records that a query found, scored, best first, unless whole records are ranked; all
        records by the key of their candidate; the surroundings; and why reading failed, if it did.
    """
    is_scored = not found.spec.retrievers.isdisjoint(OF_STATEMENTS)
    reading = read_records(
        found.spec,
        candidates,
        found.vectors if is_scored else (),
        timeout=found.time_left,
        surroundings=surroundings,
    )
    read, failure = await attempt(reading, found.time_left, default=None)
    if read is not None:
        records, around = read
    else:
        wanted = {one.key for one in candidates}
        records = {
            one.key: ReadRecord(
                one.record,
                statements=[(text, (), one.passages.get(text)) for text in one.statements],
            )
            for result in found.results
            for one in result.candidates
            if one.key in wanted and isinstance(one.record, NodeRecord)
        }
        around = GraphExpansion()
    scored = await asyncio.to_thread(score_records, found, records) if is_scored else []
    return scored, records, around, failure


def score_records(found: Found, records: Mapping[str, ReadRecord]) -> list[Candidate]:
    """Score the statements of records that were read in full, and the records by their best
    statement; best first.

    Of several queries, each statement has its best score.

    Args:
        found: what the queries found.
        records: the records by the key of their candidate.
    """
    kept = found.spec.kept
    ranks = [{one.key: one for one in ranked.candidates} for ranked in found.results]
    scored = []
    for key, read in records.items():
        try:
            model = model_of(read.record, found.spec.scope, kept)
        except Exception:
            # One record with unexpected content must not hold back the others.
            _log.exception("A record could not be returned")
            continue
        statements = _statements(
            _with_retrieved(read, [own.get(key) for own in ranks]), model, kept
        )
        of_queries = [
            _scored(ranked, replace(own[key], record=read.record), statements, position, found.spec)
            for position, (ranked, own) in enumerate(zip(found.results, ranks, strict=True))
            if key in own
        ]
        if not of_queries:
            continue
        best = max(of_queries, key=lambda one: one[0].score)[0]
        each = [
            max(same, key=lambda one: one.score)
            for same in zip(*(one for _, one in of_queries), strict=True)
        ]
        each.sort(key=lambda one: -one.score)
        found_notes = [one.note for one in each if isinstance(one.note, Passage)]
        result = model.model_copy(
            update={
                "statements": tuple(each),
                "similarity": best.similarity,
                "notes": (*model.notes, *found_notes[:PASSAGES_OF_RESULT]),
            }
        )
        scored.append(replace(best, result=result))
    return sorted(scored, key=order)


def order(candidate: Candidate) -> tuple[float, float, bool, float, str, str]:
    """Best first; of equal ones on a path the best match, then relationships, what ended last, the
    user's own, and by key.
    """
    record = candidate.record
    is_relationship = isinstance(record, RelationshipRecord)
    return (
        -candidate.score,
        -(candidate.similarity or 0.0),
        not is_relationship,
        -last_day(record and record.properties.get("when")),
        "" if record is None else record.text(RECORD_OWNER),
        candidate.key,
    )


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement of a record: its text, as it is searched, the note or passage that it is (None:
    the description), and a similarity a query.
    """

    text: str
    note: Note | None
    similarities: Sequence[float | None]


def _with_retrieved(read: ReadRecord, candidates: Sequence[Candidate | None]) -> ReadRecord:
    """The record with the statements that the queries retrieved, also those that were not read."""
    known = {text for text, *_ in read.statements}
    texts = {
        text: one.passages.get(text)
        for one in candidates
        if one is not None
        for text in one.statements
        if text not in known
    }
    more = [
        (
            text,
            [None if one is None else one.statements.get(text) for one in candidates],
            section,
        )
        for text, section in texts.items()
    ]
    return replace(read, statements=(*read.statements, *more))


def _statements(
    read: ReadRecord, model: GraphNode | GraphRelationship, kept: RelationshipFilter
) -> list[_Statement]:
    """The statements of a record that were read: its description, current notes, former
    descriptions and passages.

    A record that is not in the index of statements has one, with its own similarity. A description
    that only repeats the triplet says nothing beside notes.
    """
    texts = {text: similarities for text, similarities, _ in read.statements}
    texts = texts or {model.description: read.similarities}
    notes = [note for note in model.notes if note.content in texts and note.is_current(kept.now)]
    known = {model.description, *(note.content for note in model.notes)}
    last = OPEN_END if kept.as_of is None else kept.as_of.latest
    former = former_descriptions(read.record.properties, read.record.history, last)
    notes += [one for one in former if one.content in texts and one.content not in known]
    said_on = read.record.text("said_on") or None
    notes += [
        Passage(content=text, section=section or None, when=said_on, trust=read.record.trust)
        for text, _, section in read.statements
        if section is not None and text not in known
    ]
    of_notes = [_Statement(note.searched_text, note, texts[note.content]) for note in notes]
    is_said = model.description in texts or not of_notes
    if not is_said or (of_notes and isinstance(model, GraphRelationship) and model.repeats_triplet):
        return of_notes
    return [
        _Statement(model.description, None, texts.get(model.description, read.similarities)),
        *of_notes,
    ]


def _scored(
    ranked: Ranked,
    candidate: Candidate,
    statements: Sequence[_Statement],
    position: int,
    spec: SearchSpec,
) -> tuple[Candidate, list[FoundStatement]]:
    """The record and its statements with their scores for one query; a path may raise the best
    statement.
    """
    record = candidate.record
    if record is None:
        raise TypeError(f"{candidate.key} was not read")
    similarities = [one.similarities[position] if one.similarities else None for one in statements]
    texts = [one.text for one in statements]
    weights, kept = spec.weights, spec.kept
    own_time = "; ".join(record.stated_times)
    former = {
        one.text
        for one in statements
        if isinstance(one.note, FormerDescription)
        or (kept.between and not kept.began_between(one.note.when if one.note else own_time))
    }
    past = ranked.past.get(candidate.key, 0.0)
    features, best = ranked.reader.of_statements(
        record,
        list(zip(texts, similarities, strict=True)),
        weights,
        former,
        past=past,
    )
    path = ranked.through.get(candidate.key)
    led_to: tuple[RelationshipRecord, ...] = ()
    of_path = path and path.features._replace(past=max(past, path.features.past))
    if path and of_path and score(of_path, weights) > score(features[best], weights):
        features[best] = of_path
        led_to = tuple(path.records[: path.keys.index(candidate.key)])
    mention = ranked.mentions.get(candidate.key)
    if mention and score(mention.features, weights) > score(features[best], weights):
        features[best] = mention.features
    of_statements = [
        FoundStatement(
            note=one.note,
            similarity=similarity,
            score=score(own, weights),
            contributions=contributions(own, weights),
        )
        for one, similarity, own in zip(statements, similarities, features, strict=True)
    ]
    found = replace(
        candidate,
        score=of_statements[best].score,
        features=features[best],
        similarity=similarities[best],
        path=led_to,
    )
    return found, of_statements


def _day(kept: RelationshipFilter) -> int:
    """The day on which the score judges what holds; of a day or a period, only that is kept."""
    return OPEN_START if kept.between or kept.as_of else kept.day


def _ranked(spec: SearchSpec, retrieved: Retrieved) -> Ranked:
    """Score what was retrieved by its retrieved statements."""
    candidates = list(filter(spec.searches, retrieved.candidates))
    texts = (
        (one.record, [text for text, _ in _texts(one)])
        for one in candidates
        if one.record is not None
    )
    reader = FeatureReader.over(retrieved.query, texts, day=_day(spec.kept))
    found_by = retrievers_of(
        {name: ranking.candidates for name, ranking in retrieved.rankings.items()}
    )
    scored = [_provisional(reader, one, spec.weights, found_by[one.key]) for one in candidates]
    return Ranked(retrieved, reader, sorted(scored, key=lambda one: -one.score))


def _provisional(
    reader: FeatureReader,
    candidate: Candidate,
    weights: Features,
    found_by: tuple[RetrieverName, ...],
) -> Candidate:
    """A record with the score of its best retrieved statement."""
    record = candidate.record
    if record is None:
        return candidate
    statements = _texts(candidate)
    features, best = reader.of_statements(record, statements, weights)
    return replace(
        candidate,
        score=score(features[best], weights),
        features=features[best],
        similarity=statements[best][1],
        found_by=found_by,
        best_text=statements[best][0],
    )


def _texts(candidate: Candidate) -> Sequence[tuple[str, float | None]]:
    """The retrieved statements of a record; or the record as one."""
    record = candidate.record
    own = "" if record is None else record.text("description")
    return candidate.texts or [(own, candidate.similarity)]


def _starts(ranked: Ranked) -> Iterable[Path]:
    """The relationships that were retrieved, each as a path."""
    for one in ranked.candidates:
        if isinstance(one.record, RelationshipRecord) and one.features is not None:
            words = ranked.reader.words_of_record(one.record) | ranked.reader.words_in(
                one.best_text
            )
            facts = PathFacts((one.record,), one.features.similarity, words, 0.0)
            yield Path(
                facts, (one.key,), frozenset(), nodes_of(one.record), one.features, one.score
            )


async def _expand(
    spec: SearchSpec,
    vectors: VectorSearch,
    expansions: list[Expansion],
    deadline: float,
) -> list[str]:
    """Expand, if the queries have vectors; warnings of what is missing."""
    hops = DEFAULT_HOPS if spec.hops is None else spec.hops
    is_embedded = all(one.reader.query.embedded.vector for one in expansions)
    if not hops or not spec.searches_relationships or not is_embedded:
        return []
    target = vectors.target(spec.kept, RANKING_FIELDS)
    step = expand(spec.scope, target, spec.kept, expansions, hops=hops, deadline=deadline)
    is_complete, failure = await attempt(step, spec.timeout, default=True)
    if failure is not None:
        return [f"Skipped expansion: {failure.reason}"]
    return (
        []
        if is_complete
        else [f"Expansion was cut short: it took longer than {EXPANSION_SHARE * spec.timeout:g} s"]
    )


async def _mentioned(
    spec: SearchSpec, vectors: VectorSearch, ranked: Sequence[Ranked]
) -> tuple[list[dict[str, Mention]], list[str]]:
    """What the best passages name, unless the search has no hops; warnings of what is missing."""
    nothing = [dict[str, Mention]() for _ in ranked]
    leads = [leads_of(one.reader, one.candidates, spec.weights) for one in ranked]
    if spec.hops == 0 or not any(leads):
        return nothing, []
    step = mentioned(spec, vectors, [one.reader for one in ranked], leads)
    found, failure = await attempt(step, spec.timeout, default=nothing)
    return found, [f"Skipped what passages name: {failure.reason}"] if failure is not None else []


def _with_paths(ranked: Ranked, expansion: Expansion, mentions: Mapping[str, Mention]) -> Ranked:
    """What was found, with what paths and passages led to and the scores that they give."""
    known = {one.key: one for one in ranked.candidates}
    for key, mention in mentions.items():
        one = known.get(key) or replace(
            mention.candidate, score=mention.score, found_by=("expansion",)
        )
        known[key] = replace(one, score=max(one.score, mention.score))
    for key, path in expansion.through.items():
        record = path.records[path.keys.index(key)]
        one = known.get(key) or Candidate(key, path.score, record, found_by=("expansion",))
        known[key] = replace(one, score=max(one.score, path.score))
    return replace(
        ranked,
        candidates=sorted(known.values(), key=lambda one: -one.score),
        through=expansion.through,
        past=expansion.past,
        mentions=mentions,
    )
