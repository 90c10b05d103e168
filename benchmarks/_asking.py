"""Runs the same questions with several search methods and compares the results with the expected
ones.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _common import Server, p50, p95, timed
from _made_graph import Owner, Vectors, as_embedding
from neo4j import AsyncDriver, AsyncGraphDatabase, RoutingControl

from kgagent import KnowledgeGraph, Settings
from kgagent.graph.schema_parts import RELATIONSHIP_VECTOR_INDEX
from kgagent.knowledge_graph import services_of

LIMIT = 20
WARM_UP = 60

FLOOR_SEARCH = f"""
CYPHER 25
MATCH ()-[r]->()
SEARCH r IN (
  VECTOR INDEX {RELATIONSHIP_VECTOR_INDEX} FOR $vector WHERE r.user_id = $user_id LIMIT $fetch
) SCORE AS score
LIMIT $limit"""
"""The minimum work of any search of a user's relationships; a benchmark appends the RETURN
clause.
"""

Ends = tuple[str, str]
Ask = Callable[[Owner, Vectors], Awaitable[list[Ends]]]


@dataclass
class Measured:
    """Measurements of one search method."""

    seconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    missing: int = 0
    foreign: int = 0

    def add(self, seconds: float, found: Sequence[Ends], right: set[Ends], owner: Owner) -> None:
        """Add one result."""
        self.seconds.append(seconds)
        self.recalls.append(len(right & set(found)) / len(right))
        self.missing += max(0, len(right) - len(found))
        self.foreign += sum(
            not key.startswith(f"{owner.user_id}:") for pair in found for key in pair
        )

    @property
    def recall(self) -> float:
        """Mean share of the expected results that were found."""
        return float(np.mean(self.recalls))

    def row(self, name: str) -> dict[str, object]:
        """A table row."""
        return {
            "method": name,
            "asked": len(self.seconds),
            "p50 ms": 1e3 * p50(self.seconds),
            "p95 ms": 1e3 * p95(self.seconds),
            f"recall@{LIMIT}": self.recall,
            "foreign": self.foreign,
            "missing": self.missing,
        }


def fetched(settings: Settings) -> int:
    """Number of index hits that kgagent requests with these settings."""
    return max(LIMIT, math.ceil(LIMIT * settings.oversampling / settings.index_search_expansion))


def nearest(
    owner: Owner, vectors: Vectors, query: Vectors, among: Sequence[int] | None = None
) -> set[Ends]:
    """The pairs with the nearest vectors, by exact comparison of all vectors of the user or some of
    them.
    """
    own = vectors[owner.first : owner.first + owner.count]
    positions = np.arange(owner.count) if among is None else np.array(among)
    similarities = (own if among is None else own[positions]) @ query
    return {owner.ends(int(positions[i])) for i in np.argsort(-similarities)[:LIMIT]}


async def compare(
    methods: Mapping[str, Ask],
    questions: Sequence[tuple[Owner, Vectors, set[Ends]]],
    *,
    warm_up: int = WARM_UP,
    at_most: Mapping[str, int] | None = None,
) -> dict[str, Measured]:
    """Run every question with every method; the order of the methods rotates.

    Args:
        methods: search methods by name.
        questions: user, query vector and expected result.
        warm_up: number of first questions that are not measured.
        at_most: maximum number of questions of a method, including warm-up; unlimited if the method
            is not listed.
    """
    measured = {name: Measured() for name in methods}
    for number, (owner, query, right) in enumerate(questions):
        names = [name for name in methods if number < (at_most or {}).get(name, len(questions))]
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            found, seconds = await timed(methods[name](owner, query))
            if number >= warm_up:
                measured[name].add(seconds, found, right, owner)
    return measured


def bare(driver: AsyncDriver, graph: KnowledgeGraph, text: str, **parameters: Any) -> Ask:  # noqa: ANN401
    """A method that sends a statement through the driver, without kgagent."""

    async def ask(owner: Owner, query: Vectors) -> list[Ends]:
        values = {
            "user_id": owner.user_id,
            "limit": LIMIT,
            "vector": services_of(graph).store.vector(as_embedding(query)),
        }
        answer = await driver.execute_query(text, values | parameters, routing_=RoutingControl.READ)
        rows = [record.data() for record in answer.records]
        return [(row["from_key"], row["to_key"]) for row in rows]

    return ask


def driver_of(where: Server) -> AsyncDriver:
    """A separate driver for the benchmark."""
    return AsyncGraphDatabase.driver(
        where.uri,
        auth=None if where.password is None else (where.username, where.password),
        notifications_min_severity="OFF",
    )
