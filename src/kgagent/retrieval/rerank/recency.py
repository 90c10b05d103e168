"""Results that lose weight as they grow old, unless they are in use."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType

from kgagent.errors import InputError
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.note import as_utc
from kgagent.retrieval.rerank.reranked import ItemT, Reranked, best_first

RETENTION_HALF_LIFE_DAYS: Mapping[str, float | None] = MappingProxyType(
    {"permanent": None, "decision": 365.0, "standard": 90.0, "ephemeral": 7.0, "session": 1.0}
)
"""Days after which what is to be kept for so long counts half; None never loses weight."""

REFERENCE_ACCESSES = 10
DROP_BELOW = 0.001
SECONDS_OF_A_DAY = 86_400.0


def decay(age_days: float, half_life_days: float | None) -> float:
    """How much something counts that is so old: 0.5 ** (age / half life), 0 to 1.

    Args:
        age_days: days; below 0, for what is dated ahead, nothing is lost.
        half_life_days: days after which it counts half; None, or not above 0, loses nothing.
    """
    if half_life_days is None or half_life_days <= 0 or age_days < 0:
        return 1.0
    return float(0.5 ** (age_days / half_life_days))


def heat(accesses: int, reference: int = REFERENCE_ACCESSES) -> float:
    """How much something is in use: ln(accesses + 1) / ln(reference + 1), 0 to 1.

    Args:
        accesses: how often it was looked at; below 0 is read as 0.
        reference: how many make it as warm as can be; not above 0 keeps everything cold.
    """
    if reference <= 0:
        return 0.0
    return min(1.0, math.log(max(accesses, 0) + 1) / math.log(reference + 1))


def decayed_score(
    score: float, age_factor: float, accesses: Sequence[int] = (), *, reference: int = REFERENCE_ACCESSES
) -> float:
    """A score after decay: score · decay · (0.5 + 0.5 · heat); without a record of accesses, score · decay.

    Args:
        score: as the search gave it.
        age_factor: what `decay` gave.
        accesses: counts of accesses, of which the greatest holds; none where nobody counts.
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
    half_life_days: float | Callable[[ItemT], float | None] | None = RETENTION_HALF_LIFE_DAYS["standard"],
    accesses: Callable[[ItemT], Sequence[int]] | None = None,
    reference_accesses: int = REFERENCE_ACCESSES,
    drop_below: float = DROP_BELOW,
    top_k: int | None = None,
) -> list[Reranked[ItemT]]:
    """Put items into the order of their scores after decay.

    All items decay before any is cut off, so that a recent one may rise over an old one that a search ranked higher.

    Args:
        items: what a search found; more than `top_k`, so that there is something to rise.
        score: of an item; above 0 for decay to push it down.
        timestamp: when an item was written, see `written_at`; UTC where it has no zone, and None does not decay.
        now: the time, from which ages are counted.
        half_life_days: of all items, or of each; see `RETENTION_HALF_LIFE_DAYS`.
        accesses: counts of accesses of an item; without it, or where they are empty, age alone counts.
        reference_accesses: see `heat`.
        drop_below: an item whose decay by age is less is left out, whatever its score.
        top_k: items at the most, after the sorting; None keeps all.

    Returns:
        Items with their new scores, best first; of one score in the order given.

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
            kept.append(Reranked(item, decayed_score(score(item), factor, counts, reference=reference_accesses)))
    return best_first(kept, top_k)


def written_at(record: GraphNode | GraphRelationship) -> datetime | None:
    """When a node or a relationship was last written, else created; None where it does not say so legibly."""
    for field in ("updated_at", "created_at"):
        moment = record.properties.get(field)
        if isinstance(moment, str):
            # The database ends a time in a zone that has a name with that name, in brackets.
            with suppress(ValueError):
                return as_utc(datetime.fromisoformat(moment.partition("[")[0]))
    return None


def _age_in_days(written: datetime | None, now: datetime) -> float:
    if written is None:
        return 0.0
    return (as_utc(now) - as_utc(written)).total_seconds() / SECONDS_OF_A_DAY
