"""Statistics of a user's embeddings: the what unrelated statements score (the noise), and embeddings of other models.

Records score something with a text that has nothing to do with them: the noise, estimated from a sample. Records whose
embeddings another model made are omitted by semantic search, which every search says.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from kgagent.formatting import beginning, counted
from kgagent.graph.store import Row
from kgagent.search.rerank.cosine import dot, unit
from kgagent.search.scope import SearchScope

SAMPLE = 100
"""Embeddings that are read for a sample."""

COMPARED = 8
"""Embeddings of the sample that are compared with the others."""

MIN_SAMPLE = 20
"""Minimum number of embeddings from which noise is estimated."""

EXAMINED = 500
"""Records of each kind that are examined for the model of their embedding."""

LIFETIME = 600.0
LIFETIME_OF_WARNING = 30.0
"""Seconds for which a sample is cached; a warning, which a migration ends, for less."""

MAX_MODEL_NAME = 80


@dataclass(frozen=True)
class Noise:
    """What the user's statements score with a text that has nothing to do with them.

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


@dataclass(frozen=True)
class Sample:
    """What a sample of a user's embeddings tells.

    Attributes:
        noise: of the statements; None with too few.
        warnings: which records semantic search omits because another model made their embeddings.
        lifetime: seconds for which it may be cached.
    """

    noise: Noise | None = None
    warnings: tuple[str, ...] = ()
    lifetime: float = LIFETIME


async def read_sample(scope: SearchScope) -> Sample:
    """Sample a user's embeddings.

    Raises:
        StoreError: the database failed.
    """
    [row] = await scope.read(scope.statement("sample_embeddings"), {"sample": SAMPLE, "examined": EXAMINED})
    # Some 100 ms for long embeddings, during which other users' calls go on.
    noise = await asyncio.to_thread(Noise.of, row["statements"])
    if not row["omitted_nodes"] and not row["omitted_relationships"]:
        return Sample(noise)
    return Sample(noise, (_omitted(row, scope.model),), LIFETIME_OF_WARNING)


def _omitted(row: Row, model: str) -> str:
    omitted = f"{counted(row['omitted_nodes'], 'node')} and {counted(row['omitted_relationships'], 'relationship')}"
    other = repr(beginning(row["other_model"] or "another model", MAX_MODEL_NAME))
    return (
        f"Semantic search omits {'at least ' if row['is_partial'] else ''}{omitted}: their embeddings were made by "
        f"{other}, but {model!r} is connected. Run `kgagent migrate` to embed them again, or connect that model"
    )
