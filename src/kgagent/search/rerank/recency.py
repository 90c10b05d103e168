"""Recency: scores decay with the age of a result, more slowly if it is in use."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType

from kgagent.errors import InputError
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.note import as_utc
from kgagent.search.rerank.reranked import ItemT, Reranked, best_first

RETENTION_HALF_LIFE_DAYS: Mapping[str, float | None] = MappingProxyType(
    {"permanent": None, "decision": 365.0, "standard": 90.0, "ephemeral": 7.0, "session": 1.0}
)
"""Half-life in days of each retention class; None means no decay."""

REFERENCE_ACCESSES = 10
DROP_BELOW = 0.001
SECONDS_OF_A_DAY = 86_400.0


def half_life_of(half_life: float | str | None) -> float | None:
    """The half-life in days of a retention class; a number is its own half-life."""
    return RETENTION_HALF_LIFE_DAYS[half_life] if isinstance(half_life, str) else half_life


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


def decayed_score(
    score: float,
    age_factor: float,
    accesses: Sequence[int] = (),
    *,
    reference: int = REFERENCE_ACCESSES,
) -> float:
    """A score after decay: score · decay · (0.5 + 0.5 · heat); without access counts, score ·
    decay.

    Args:
        score: score of the search.
        age_factor: result of `decay`.
        accesses: access counts, of which the greatest is used; empty if accesses are not counted.
        reference: see `heat`.
    """
    if not accesses:
        return score * age_factor
    return score * age_factor * (0.5 + 0.5 * heat(max(accesses), reference))


def decay_by_age(
    items: Sequence[ItemT],
    *,
    score: Callable[[ItemT], float],
    timestamp: Callable[[ItemT], datetime | None],
    now: datetime,
    half_life_days: float | Callable[[ItemT], float | None] | None = RETENTION_HALF_LIFE_DAYS[
        "standard"
    ],
    accesses: Callable[[ItemT], Sequence[int]] | None = None,
    reference_accesses: int = REFERENCE_ACCESSES,
    drop_below: float = DROP_BELOW,
    top_k: int | None = None,
) -> list[Reranked[ItemT]]:
    """Sort items by their scores after decay.

    All items decay before the list is cut, so that a recent item can pass an old one that the
    search ranked higher.

    Args:
        items: results of a search, more than `top_k`.
        score: score of an item; above 0, so that decay lowers it.
        timestamp: time of the last write, see `written_at`; UTC without a time zone; None does not
            decay.
        now: time from which ages are counted.
        half_life_days: half-life of all items, or a function of the item; see
            `RETENTION_HALF_LIFE_DAYS`.
        accesses: access counts of an item; without them, only age counts.
        reference_accesses: see `heat`.
        drop_below: an item whose decay is less is dropped, whatever its score.
        top_k: maximum number of items; None keeps all.

    Returns:
        Items with their new scores, best first; equal scores keep the given order.

    Raises:
        InputError: top_k is below 0.
    """
    if top_k is not None and top_k < 0:
        raise InputError(f"top_k must be 0 or more, got {top_k}")
    kept = []
    for item in items:
        half_life = half_life_days(item) if callable(half_life_days) else half_life_days
        factor = decay(_age_in_days(timestamp(item), now), half_life)
        if factor >= drop_below:
            counts = accesses(item) if accesses else ()
            kept.append(
                Reranked(
                    item, decayed_score(score(item), factor, counts, reference=reference_accesses)
                )
            )
    return best_first(kept, top_k)


def written_at(record: GraphNode | GraphRelationship) -> datetime | None:
    """Time of the last write, or of creation; None if neither is stored as a valid time."""
    for field in ("updated_at", "created_at"):
        moment = record.properties.get(field)
        if isinstance(moment, str):
            # Neo4j appends the name of a named time zone in brackets.
            with suppress(ValueError):
                return as_utc(datetime.fromisoformat(moment.partition("[")[0]))
    return None


def _age_in_days(written: datetime | None, now: datetime) -> float:
    if written is None:
        return 0.0
    return (as_utc(now) - as_utc(written)).total_seconds() / SECONDS_OF_A_DAY
