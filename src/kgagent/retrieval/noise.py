"""What a user's records score with a text that has nothing to do with them, from a sample of their embeddings."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from kgagent.retrieval.rerank.cosine import dot, unit
from kgagent.retrieval.scope import SearchScope

SAMPLE = 100
"""Embeddings of each kind that are read for a sample."""

COMPARED = 8
"""Embeddings of the sample that are compared with the others."""

MIN_SAMPLE = 20
"""Minimum number of embeddings from which noise is estimated."""


@dataclass(frozen=True)
class Noise:
    """What the user's records of one kind score with a text that has nothing to do with them.

    Attributes:
        center: mean of a sample of their embeddings, each of length 1; shape (dimensions,).
        deviation: standard deviation of the cosines of one with the others.
    """

    center: Sequence[float]
    deviation: float

    @classmethod
    def of(cls, embeddings: Sequence[Sequence[float]]) -> "Noise | None":
        """Estimate it; None if there are too few embeddings, or all are equal."""
        sample = [unit(embedding) for embedding in embeddings]
        if len(sample) < MIN_SAMPLE:
            return None
        spreads = [pstdev([dot(one, other) for other in sample if other is not one]) for one in sample[:COMPARED]]
        deviation = fmean(spreads)
        return cls([fmean(column) for column in zip(*sample, strict=True)], deviation) if deviation > 0.0 else None


async def sampled_noise(scope: SearchScope) -> tuple[Noise | None, Noise | None]:
    """The noise of a user's nodes and of the relationships; None for a kind with too few.

    Raises:
        StoreError: the database failed.
    """
    [row] = await scope.read(scope.statement("sample_embeddings"), {"sample": SAMPLE})
    # Some 100 ms for long embeddings, during which other users' calls go on.
    return await asyncio.to_thread(lambda: (Noise.of(row["nodes"]), Noise.of(row["relationships"])))
