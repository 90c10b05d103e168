"""Mean embeddings of relationship types, each from a sample of the user's relationships of that type.

They say what a type means, without the names that the embedding of a single relationship contains.
"""

import asyncio
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from kgagent.errors import StoreError
from kgagent.graph.lucene import must_be, quoted, words
from kgagent.graph.schema_parts import RELATIONSHIP_TEXT_INDEX
from kgagent.retrieval.rerank.cosine import unit
from kgagent.retrieval.scope import SearchScope


class TypeMean(NamedTuple):
    """The mean embedding of a type, of length 1 or empty if there is none, and how many it was made from."""

    vector: Sequence[float] = ()
    sampled: int = 0


class TypeMeans(dict[tuple[str, str], TypeMean]):
    """The mean embedding for a user and a relationship type."""


SAMPLE = 10
"""Embeddings of each type that are read."""

LIFETIME = 600.0
"""Seconds for which a mean is cached."""

MAX_MEANS = 2_000
"""Number of means of all users that are cached."""

MAX_READ = 25
"""Types that are read at once; a search that has found so many reads no more."""


async def read_type_means(scope: SearchScope, types: Iterable[str], known: TypeMeans, *, timeout: float) -> None:
    """Add the means of types to those that are known, for ten minutes; none if the index or the database fails."""
    wanted = [one for one in types if words(one)][:MAX_READ]
    owner = must_be("user_id", [scope.user_id])
    parameters = {
        "index": RELATIONSHIP_TEXT_INDEX,
        "types": [{"type": one, "query": f"{owner} +relationship_type:{quoted(one)}"} for one in wanted],
        "sample": SAMPLE,
    }
    try:
        rows = await scope.read(scope.statement("sample_types"), parameters, timeout=timeout)
    except StoreError:
        return
    means = await asyncio.to_thread(lambda: [_mean(row["embeddings"]) for row in rows])
    if len(known) + len(means) > MAX_MEANS:
        known.clear()
    for row, mean in zip(rows, means, strict=True):
        key = (scope.user_id, row["type"])
        known[key] = TypeMean(mean, len(row["embeddings"]))
        asyncio.get_running_loop().call_later(LIFETIME, known.pop, key, None)


def _mean(embeddings: Sequence[Sequence[float]]) -> Sequence[float]:
    return unit([fmean(column) for column in zip(*map(unit, embeddings), strict=True)])
