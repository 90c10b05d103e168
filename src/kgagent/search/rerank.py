"""Reranking: optional steps that reorder the results of a search by age, by a cross-encoder, and by
diversity.
"""

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from inspect import isawaitable
from operator import mul
from types import MappingProxyType
from typing import Protocol, TypeVar

from kgagent.answers.document_text import node_lines, relationship_lines
from kgagent.embedding.base import Embedding
from kgagent.errors import InputError, RerankingError
from kgagent.graph.records import RelationshipRecord
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.note import as_utc
from kgagent.search.attempt import attempt
from kgagent.search.candidates import Candidate, entity_key_of
from kgagent.search.scope import SearchScope
from kgagent.search.strategies import RRF_K

RETENTION_HALF_LIFE_DAYS: Mapping[str, float | None] = MappingProxyType(
    {"permanent": None, "decision": 365.0, "standard": 90.0, "ephemeral": 7.0, "session": 1.0}
)
"""Half-life in days of each retention class; None means no decay."""

REFERENCE_ACCESSES = 10
"""Number of accesses at which a record does not lose any score for being used little."""

SECONDS_OF_A_DAY = 86_400.0

ItemT = TypeVar("ItemT")


class CrossEncoder(Protocol):
    """Scores how well texts answer a query: a model that reads both together."""

    def score(
        self, query: str, texts: Sequence[str]
    ) -> Sequence[float] | Awaitable[Sequence[float]]:
        """Score texts; either `def`, which runs in a thread, or `async def`.

        Args:
            query: the query.
            texts: any number of texts.

        Returns:
            One number for each text, in their order; higher is better, on any scale.
        """
        ...


async def rerank(
    candidates: list[Candidate],
    *,
    scope: SearchScope,
    options: HybridSearchRequest,
    cross_encoder: CrossEncoder | None,
    vector: Sequence[float] | None,
    limit: int,
    pool: int,
    timeout: float,
) -> tuple[list[Candidate], list[str]]:
    """Rerank results; a step that fails leaves the order as it was and becomes a warning.

    Args:
        candidates: records that were read in full, best first.
        scope: whose graph.
        options: which steps, and their parameters.
        cross_encoder: reranks by the texts; None skips that.
        vector: vector of the query, shape (dimensions,); None if it could not be embedded.
        limit: number of results.
        pool: number of items that the cross-encoder and diversity see.
        timeout: seconds for each step.
    """
    warnings: list[str] = []
    now = options.now or datetime.now(UTC)
    if options.half_life_days is not None:
        # Scores of strategies that concatenate rankings have no common scale.
        if options.strategy not in {"calibrated", "rrf", "weighted"}:
            candidates = [
                replace(one, score=1.0 / (RRF_K + rank))
                for rank, one in enumerate(candidates, start=1)
            ]
        half_life = options.half_life_days
        candidates = decayed(
            candidates,
            now=now,
            half_life_days=(
                RETENTION_HALF_LIFE_DAYS[half_life] if isinstance(half_life, str) else half_life
            ),
            use_access_counts=options.use_access_counts,
            drop_below=options.drop_below,
        )
    candidates = candidates[:pool]
    if cross_encoder is not None and options.query is not None and candidates:
        texts = [_text(_result(one), now) for one in candidates]
        scoring = model_scores(cross_encoder, options.query, texts)
        scores, failure = await attempt(scoring, timeout, default=None)
        if scores is not None:
            scored = map(lambda one, score: replace(one, score=score), candidates, scores)
            candidates = sorted(scored, key=lambda one: -one.score)
        warnings += [f"Skipped the cross-encoder: {failure.reason}"] if failure else []
    if options.mmr_lambda is None:
        return candidates, warnings
    if vector is None:
        return candidates, [*warnings, "Skipped diversity (MMR): the query has no embedding"]
    # An earlier step that set scores says what is relevant.
    is_scored = cross_encoder is not None or options.half_life_days is not None
    choosing = _diverse(
        candidates, scope, None if is_scored else vector, lambda_=options.mmr_lambda, k=limit
    )
    candidates, failure = await attempt(choosing, timeout, default=candidates)
    warnings += [f"Skipped diversity (MMR): {failure.reason}"] if failure else []
    return candidates, warnings


def decay(age_days: float, half_life_days: float | None) -> float:
    """Weight of an item by its age: 0.5 ** (age / half-life), 0 to 1.

    Args:
        age_days: days; a negative age, of an item dated in the future, gives 1.
        half_life_days: age at which an item counts half; None, 0 or less gives 1.
    """
    if half_life_days is None or half_life_days <= 0 or age_days < 0:
        return 1.0
    return float(0.5 ** (age_days / half_life_days))


def heat(accesses: int, reference: int = REFERENCE_ACCESSES) -> float:
    """Weight of an item by how often it is accessed: ln(accesses + 1) / ln(reference + 1), 0 to 1.

    Args:
        accesses: number of accesses; a negative number counts as 0.
        reference: number of accesses that gives 1; 0 or less gives 0 for every item.
    """
    if reference <= 0:
        return 0.0
    return min(1.0, math.log(max(accesses, 0) + 1) / math.log(reference + 1))


def decayed(
    candidates: Sequence[Candidate],
    *,
    now: datetime,
    half_life_days: float | None,
    use_access_counts: bool = False,
    drop_below: float = 0.0,
) -> list[Candidate]:
    """Sort records by their scores after decay: score · decay, times 0.5 + 0.5 · heat if accesses
    count.

    All decay before the list is cut, so that a recent one can pass an old one that the search
    ranked higher. Equal scores keep the given order.

    Args:
        candidates: records that were read in full.
        now: time from which ages are counted.
        half_life_days: see `decay`.
        use_access_counts: whether the stored `access_count` counts, where a record has one.
        drop_below: a record whose decay is less is dropped, whatever its score.
    """
    kept = []
    for one in candidates:
        result = _result(one)
        written = written_at(result)
        age = 0.0 if written is None else (as_utc(now) - written).total_seconds() / SECONDS_OF_A_DAY
        factor = decay(age, half_life_days)
        if factor >= drop_below:
            count = result.properties.get("access_count") if use_access_counts else None
            if isinstance(count, int | float):
                kept.append(replace(one, score=one.score * factor * (0.5 + 0.5 * heat(int(count)))))
            else:
                kept.append(replace(one, score=one.score * factor))
    return sorted(kept, key=lambda one: -one.score)


def written_at(record: GraphNode | GraphRelationship) -> datetime | None:
    """Time of the last write, or of creation; None if neither is stored as a valid time."""
    for field in ("updated_at", "created_at"):
        moment = record.properties.get(field)
        if isinstance(moment, str):
            # Neo4j appends the name of a named time zone in brackets.
            with suppress(ValueError):
                return as_utc(datetime.fromisoformat(moment.partition("[")[0]))
    return None


async def model_scores(
    cross_encoder: CrossEncoder, query: str, texts: Sequence[str]
) -> list[float]:
    """The scores that a cross-encoder gives texts, all of them in one call.

    Raises:
        RerankingError: the number of scores is wrong, or a score is not a finite number.
    """
    answer = await asyncio.to_thread(cross_encoder.score, query, texts)
    scores = [float(score) for score in (await answer if isawaitable(answer) else answer)]
    if len(scores) != len(texts):
        raise RerankingError(
            f"The cross-encoder was given {len(texts)} texts and returned {len(scores)} scores"
        )
    for position, score in enumerate(scores, start=1):
        if not math.isfinite(score):
            raise RerankingError(
                f"The cross-encoder returned no finite number for text {position} of {len(texts)}"
            )
    return scores


def maximal_marginal_relevance(
    items: Sequence[ItemT],
    *,
    relevance: Callable[[ItemT], float],
    vector: Callable[[ItemT], Sequence[float] | None],
    k: int,
    lambda_: float = 0.5,
) -> list[ItemT]:
    """Choose items one by one, each by λ · relevance - (1 - λ) · its greatest cosine with a chosen
    one.

    The first is the most relevant. Ties go to the more relevant item, then to the first.
    Formula: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
    Takes time of order items · k · dimensions.

    Args:
        items: what to choose from; an item that occurs twice may be chosen twice.
        relevance: relevance of an item on the scale of a cosine, so not a fusion score.
        vector: vector of an item, shape (dimensions,); one that is None or has another length is
            similar to none.
        k: maximum number of items.
        lambda_: 0 to 1; 1 sorts by relevance, 0 by difference alone after the first item.

    Raises:
        InputError: k is below 0, lambda_ not 0 to 1, or a relevance no finite number.
    """
    if k < 0:
        raise InputError(f"k must be 0 or more, got {k}")
    if not 0.0 <= lambda_ <= 1.0:
        raise InputError(f"lambda_ must be 0 to 1, got {lambda_}")
    relevances = [relevance(item) for item in items]
    for value in relevances:
        if not math.isfinite(value):
            raise InputError(f"relevance must be a finite number, got {value}")
    units = [_unit(vector(item) or ()) for item in items]
    # Nothing is chosen yet.
    nearest = [-math.inf] * len(items)
    left = sorted(range(len(items)), key=lambda position: -relevances[position])
    chosen = left[: min(k, 1)]
    while len(chosen) < min(k, len(items)):
        last = chosen[-1]
        left.remove(last)
        for position in left:
            nearest[position] = max(nearest[position], _dot(units[position], units[last]))
        # `left` is in order of relevance, and `max` takes the first of several.
        chosen.append(
            max(
                left,
                key=lambda position: (
                    lambda_ * relevances[position] - (1.0 - lambda_) * nearest[position]
                ),
            )
        )
    return [items[position] for position in chosen]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Plain cosine of two vectors, -1 to 1.

    Args:
        one: shape (dimensions,).
        other: shape (dimensions,).

    Returns:
        0.0 if a vector is zero or not finite, or if the dimensions differ.
    """
    return max(-1.0, min(1.0, _dot(_unit(one), _unit(other))))


async def stored_embeddings(
    scope: SearchScope, candidates: Sequence[Candidate]
) -> dict[str, Embedding]:
    """Read the stored embeddings of records, which are never returned, in one statement.

    Returns:
        Embeddings by the key of their candidate; float32, shape (dimensions,). Records without an
        embedding that can be compared with those of the current embedder are missing.

    Raises:
        StoreError: the database failed.
    """
    ids = {
        one.record.element_id
        if isinstance(one.record, RelationshipRecord)
        else entity_key_of(one.key): one.key
        for one in candidates
    }
    nodes = {entity_key_of(one.key) for one in candidates if isinstance(one.result, GraphNode)}
    parameters = {"keys": sorted(nodes), "element_ids": sorted(ids.keys() - nodes)}
    rows = await scope.read(scope.statement("read_embeddings"), parameters)
    return {ids[row["id"]]: array("f", row["embedding"]) for row in rows}


async def _diverse(
    candidates: Sequence[Candidate],
    scope: SearchScope,
    query: Sequence[float] | None,
    *,
    lambda_: float,
    k: int,
) -> list[Candidate]:
    """Choose records that are relevant and differ from one another.

    Relevance is the cosine with the query or, without one, the score scaled to 0 to 1.

    Raises:
        StoreError: the database failed.
    """
    vectors = await stored_embeddings(scope, candidates)
    if query is None:
        scores = [one.score for one in candidates]
        worst = min(scores, default=0.0)
        span = (max(scores, default=0.0) - worst) or 1.0
        relevance = {one.key: (one.score - worst) / span for one in candidates}
    else:
        relevance = {one.key: cosine(query, vectors.get(one.key, ())) for one in candidates}
    return await asyncio.to_thread(
        maximal_marginal_relevance,
        candidates,
        relevance=lambda one: relevance[one.key],
        vector=lambda one: vectors.get(one.key),
        k=k,
        lambda_=lambda_,
    )


def _text(result: GraphNode | GraphRelationship, now: datetime) -> str:
    if isinstance(result, GraphNode):
        lines = node_lines(result, now)
    else:
        lines = relationship_lines(result, now)
    return " ".join(line.strip() for line in lines)


def _result(candidate: Candidate) -> GraphNode | GraphRelationship:
    if candidate.result is None:
        raise ValueError(f"{candidate.key} was not read in full")
    return candidate.result


def _unit(vector: Sequence[float]) -> list[float]:
    """The vector scaled to length 1; a vector that is zero or not finite becomes zero."""
    length = math.hypot(*vector)
    if length == 0.0 or not math.isfinite(length):
        return [0.0] * len(vector)
    return [value / length for value in vector]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Σ one[i] · other[i]; 0.0 if the dimensions differ."""
    return float(sum(map(mul, one, other))) if len(one) == len(other) else 0.0
