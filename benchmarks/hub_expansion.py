"""Breadth-first expansion from hubs of increasing size: time of a search, and memory of its statement on the server.

    python benchmarks/hub_expansion.py [--neighbors 1000 10000 100000] [--json]

Each neighbor of the hub is also connected to three others. Memory is the server's estimate.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence

import neo4j
from _common import Server, finish, open_graph, p50, parser, server, show, timed

from kgagent import KnowledgeGraph, SearchOptions, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.statements import statement
from kgagent.knowledge_graph import services_of

DIMENSIONS = 384
DEPTHS = (1, 2, 3, 5)
BATCH = 10_000
RUNS = 10
CREATE_NODES = (
    "UNWIND range($first, $last) AS number CREATE (:Entity {user_id: $user, name: 'Entity ' + number, "
    "entity_key: $user + ' ' + right('000000' + number, 6)})"
)
JOIN = (
    "UNWIND $pairs AS pair MATCH (a:Entity {entity_key: pair[0], user_id: $user}) "
    "MATCH (b:Entity {entity_key: pair[1], user_id: $user}) "
    "CREATE (a)-[:connected_to {user_id: $user, relationship_type: 'near'}]->(b)"
)


def key(user: str, number: int) -> str:
    """Key of a node; the hub is number 0."""
    return f"{user} {number:06}"


def pairs(user: str, neighbors: int, rng: random.Random) -> Iterator[list[str]]:
    """Ends of all relationships."""
    for number in range(1, neighbors + 1):
        yield [key(user, 0), key(user, number)]
        for _ in range(3):
            yield [key(user, number), key(user, rng.randint(1, neighbors))]


async def build(graph: KnowledgeGraph, user: str, neighbors: int, rng: random.Random) -> None:
    """Create a hub, its neighbors and their relationships; one neighbor in a hundred has an embedding."""
    for first in range(0, neighbors + 1, BATCH):
        last = min(first + BATCH - 1, neighbors)
        await services_of(graph).store.write(CREATE_NODES, {"user": user, "first": first, "last": last})
    drawn = list(pairs(user, neighbors, rng))
    for first in range(0, len(drawn), BATCH):
        await services_of(graph).store.write(JOIN, {"user": user, "pairs": drawn[first : first + BATCH]})
    rows = [
        {"key": key(user, number), "vector": [rng.gauss(0, 1) for _ in range(DIMENSIONS)]}
        for number in range(0, neighbors + 1, 100)
    ]
    await services_of(graph).store.write(
        "UNWIND $rows AS row MATCH (n:Entity {entity_key: row.key, user_id: $user}) SET n.embedding = row.vector",
        {"rows": rows, "user": user},
    )


def megabytes(graph: KnowledgeGraph, where: Server, parameters: dict[str, object]) -> float:
    """Memory of one expansion on the server."""
    services = services_of(graph)
    expand = statement("expand_breadth_first", **services.relationships.names)
    text = f"{services.store.features.language}PROFILE {expand}"
    auth = (where.username, where.password) if where.password is not None else None
    with neo4j.GraphDatabase.driver(where.uri, auth=auth) as driver:
        profile = driver.execute_query(text, parameters).summary.profile
    return float(profile["args"]["GlobalMemory"]) / 1e6 if profile else 0.0


async def measured(
    graph: KnowledgeGraph, where: Server, user: str, sizes: Sequence[int], rng: random.Random
) -> list[dict[str, object]]:
    """Search at each hub and depth."""
    rows: list[dict[str, object]] = []
    for neighbors in sizes:
        owner = f"{user}-{neighbors}"
        await build(graph, owner, neighbors, rng)
        vector = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
        for depth in DEPTHS:
            options = SearchOptions(seed_node_ids=(key(owner, 0),), graph_depth=depth, vector=vector)
            row: dict[str, object] = {"neighbors": neighbors, "depth": depth}
            for name in ("graph", "hybrid"):
                searcher = graph.searcher(name, user_id=owner)
                await searcher.search(None, options)
                seconds = [(await timed(searcher.search(None, options)))[1] for _ in range(RUNS)]
                row[f"{name}_p50_ms"] = p50(seconds) * 1e3
            row["expansion_mb"] = megabytes(
                graph,
                where,
                {
                    "user_id": owner,
                    "keys": [key(owner, 0)],
                    "starts": 1,
                    "label_order": dict(graph.ontology.label_order),
                    "depth": depth,
                    "others": True,
                    "nodes": 1_000,
                    "node_neighbors": 100,
                    "start_relationships": 2_000_000,
                    "node_relationships": 2_000,
                },
            )
            rows.append(row)
    return rows


async def main() -> None:
    """Run it."""
    arguments = parser(__doc__)
    arguments.add_argument("--neighbors", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    given = arguments.parse_args()
    rng = random.Random(given.seed)
    with server(given.uri) as where:
        users = [f"hub-{size}" for size in given.neighbors]
        opening = open_graph(where, HashingEmbedder(DIMENSIONS), Settings(), users=users)
        async with opening as graph:
            rows = await measured(graph, where, "hub", given.neighbors, rng)
    show("Expansion at a hub", rows)
    finish({f"{r['neighbors']}@{r['depth']}": [*r.values()][2:] for r in rows}, as_json=given.json)


if __name__ == "__main__":
    asyncio.run(main())
