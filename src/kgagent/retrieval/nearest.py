"""What a vector search is asked and what it finds, whichever way it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.graph.records import Record
from kgagent.graph.store import Store
from kgagent.models.search import SearchPlan
from kgagent.retrieval.vector_targets import VectorTarget


@dataclass(frozen=True)
class NearestQuery:
    """A vector to look for.

    Attributes:
        vector: float32, shape (dimensions,).
        threshold: least plain cosine, -1 to 1.
        text: what the vector stands for, in words; empty where that is not known.
    """

    vector: Sequence[float]
    threshold: float
    text: str = ""


@dataclass(frozen=True)
class Hit:
    """A record that is near enough; `similarity` is plain cosine."""

    record: Record
    similarity: float


@dataclass(frozen=True)
class Nearest:
    """Hits of each query, best first, and how they were found."""

    hits: tuple[tuple[Hit, ...], ...]
    plan: SearchPlan


@dataclass(frozen=True)
class NearestRequest:
    """What is asked of one target.

    Attributes:
        target: where to look.
        user_id: whose.
        queries: vectors to look for.
        limit: hits of each query at the most.
    """

    target: VectorTarget
    user_id: str
    queries: Sequence[NearestQuery]
    limit: int


def hits_of(request: NearestRequest, row: Mapping[str, Any]) -> tuple[Hit, ...]:
    """Read the hits of one query."""
    return tuple(Hit(request.target.read(match), match["similarity"]) for match in row["matches"])


def query_parameters(store: Store, queries: Sequence[NearestQuery]) -> list[dict[str, Any]]:
    """Queries as the statements take them."""
    return [
        {"position": position, "vector": store.vector(query.vector), "threshold": query.threshold}
        for position, query in enumerate(queries)
    ]
