"""Asking the same questions in several ways, in turn, and comparing each answer with the right one."""

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
"""The least that any search of a user's relationships must do; a benchmark adds what it returns of them."""

Ends = tuple[str, str]
Ask = Callable[[Owner, Vectors], Awaitable[list[Ends]]]


@dataclass
class Measured:
    """What one way of searching did."""

    seconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    missing: int = 0
    foreign: int = 0

    def add(self, seconds: float, found: Sequence[Ends], right: set[Ends], owner: Owner) -> None:
        """Count one answer."""
        self.seconds.append(seconds)
        self.recalls.append(len(right & set(found)) / len(right))
        self.missing += max(0, len(right) - len(found))
        self.foreign += sum(not key.startswith(f"{owner.user_id}:") for pair in found for key in pair)

    @property
    def recall(self) -> float:
        """Mean share of the right answers that were found."""
        return float(np.mean(self.recalls))

    def row(self, name: str) -> dict[str, object]:
        """As a row of a table."""
        return {
            "way": name,
            "asked": len(self.seconds),
            "p50 ms": 1e3 * p50(self.seconds),
            "p95 ms": 1e3 * p95(self.seconds),
            f"recall@{LIMIT}": self.recall,
            "foreign": self.foreign,
            "missing": self.missing,
        }


def fetched(settings: Settings) -> int:
    """Index hits that kgagent asks for on an index of these settings."""
    return max(LIMIT, math.ceil(LIMIT * settings.oversampling / settings.index_search_expansion))


def nearest(owner: Owner, vectors: Vectors, query: Vectors, among: Sequence[int] | None = None) -> set[Ends]:
    """The pairs whose vectors are nearest, by comparing all of the user's, or those at some of their positions."""
    own = vectors[owner.first : owner.first + owner.count]
    positions = np.arange(owner.count) if among is None else np.array(among)
    similarities = (own if among is None else own[positions]) @ query
    return {owner.ends(int(positions[i])) for i in np.argsort(-similarities)[:LIMIT]}


async def compare(
    ways: Mapping[str, Ask],
    questions: Sequence[tuple[Owner, Vectors, set[Ends]]],
    *,
    warm_up: int = WARM_UP,
    at_most: Mapping[str, int] | None = None,
) -> dict[str, Measured]:
    """Ask each question in every way, the ways taking turns at going first.

    Args:
        ways: by name.
        questions: whose, the query, and the right answer.
        warm_up: questions at the beginning that do not count.
        at_most: questions of a way, those that do not count included; all where it is not named.
    """
    measured = {name: Measured() for name in ways}
    for number, (owner, query, right) in enumerate(questions):
        names = [name for name in ways if number < (at_most or {}).get(name, len(questions))]
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            found, seconds = await timed(ways[name](owner, query))
            if number >= warm_up:
                measured[name].add(seconds, found, right, owner)
    return measured


def bare(driver: AsyncDriver, graph: KnowledgeGraph, text: str, **parameters: Any) -> Ask:  # noqa: ANN401
    """A statement sent through the driver, without anything of kgagent around it."""

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
    """A driver of the benchmark's own."""
    return AsyncGraphDatabase.driver(
        where.uri,
        auth=None if where.password is None else (where.username, where.password),
        notifications_min_severity="OFF",
    )
