"""A synthetic graph: most nodes have few relationships, some have hundreds, and hubs have one with
every node.
"""

from collections.abc import Iterator

import numpy as np
from _foreign_graph import index
from numpy.typing import NDArray

from kgagent.graph.store import Store

PART, FEEDS = "Part", "FEEDS"
KINDS = 20
HUBS = 2
SKEW = 3.0
PAIRS_AT_ONCE = 20_000

Numbers = NDArray[np.int64]

CREATE_NODES = """
UNWIND range($first, $last) AS number
CREATE (:Part {
  user_id: $user_id, entity_key: toString(number), name: 'Part ' + number, number: number, kind: number % $kinds
})
"""
JOIN = """
UNWIND range(0, size($starts) - 1) AS place
MATCH (a:Part {number: $starts[place]})
MATCH (b:Part {number: $ends[place]})
CREATE (a)-[:FEEDS {weight: $weights[place]}]->(b)
"""
NUMBERED = "CREATE INDEX made_part_number IF NOT EXISTS FOR (n:Part) ON (n.number)"


def ends(nodes: int, relationships: int, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Sample the ends of relationships.

    Each hub is connected to every other node, half of them incoming; the rest is sampled so that
    low numbers are ends far more often than high ones.
    """
    pairs = []
    for hub in range(HUBS):
        others = np.setdiff1d(np.arange(nodes), [hub])
        leads = others % 2 == hub % 2
        pairs.append((np.where(leads, hub, others), np.where(leads, others, hub)))
    drawn = relationships - sum(len(starts) for starts, _ in pairs)
    crowded = (nodes * generator.random(drawn) ** SKEW).astype(np.int64)
    pairs.append((generator.integers(0, nodes, drawn), crowded))
    starts, arrivals = zip(*pairs, strict=True)
    return np.concatenate(starts), np.concatenate(arrivals)


async def build(
    store: Store, user_id: str, nodes: int, relationships: int, generator: np.random.Generator
) -> int:
    """Write the graph; return the degree of the largest hub."""
    await index(store, [PART])
    await store.run_schema(NUMBERED)
    for first in range(0, nodes, PAIRS_AT_ONCE):
        last = min(first + PAIRS_AT_ONCE, nodes) - 1
        await store.write(
            CREATE_NODES, {"first": first, "last": last, "user_id": user_id, "kinds": KINDS}
        )
    starts, arrivals = ends(nodes, relationships, generator)
    order = generator.permutation(len(starts))
    weights = generator.random(len(starts)).round(3)
    for some in _slices(order):
        values = {
            "starts": starts[some].tolist(),
            "ends": arrivals[some].tolist(),
            "weights": weights[some].tolist(),
        }
        await store.write(JOIN, values)
    return int(np.bincount(np.concatenate([starts, arrivals])).max())


def _slices(order: Numbers) -> Iterator[Numbers]:
    for first in range(0, len(order), PAIRS_AT_ONCE):
        yield order[first : first + PAIRS_AT_ONCE]
