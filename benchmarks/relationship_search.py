"""Latency and recall of relationship search, compared with a scan of all vectors and a bare index statement.

    python benchmarks/relationship_search.py --relationships 10000 --dimensions 1536 --json

All methods run the same questions in rotating order, on the same server in the same run. The vectors are synthetic, so
that any number and length can be measured without a model.
"""

import argparse
import asyncio

import numpy as np
from _asking import FLOOR_SEARCH, LIMIT, WARM_UP, Ends, Measured, bare, compare, driver_of, fetched, nearest
from _common import Server, finish, open_graph, p50, p95, parser, server, show, single_embedding_seconds, timed
from _made_graph import Content, Owner, Vectors, as_embedding, load, owners
from _vectors import made

from kgagent import Settings
from kgagent.embedding.factory import make_embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import services_of

THRESHOLD = -1.0
OF_EACH_SMALL_USER = 50
SMALL_USERS_ASKED = 20

SCAN = """
CYPHER 25
MATCH (a:Entity)-[r:connected_to]->(b:Entity)
WHERE r.user_id = $user_id
WITH DISTINCT r, a, b, vector.similarity.cosine(r.relationship_embedding, $vector) AS score
WHERE score > $least
RETURN a.entity_key AS from_key, b.entity_key AS to_key, r.relationship_type AS relationship_type,
  r.description AS description, score
ORDER BY score DESC
LIMIT $limit
"""
FLOOR = f"""{FLOOR_SEARCH}
RETURN startNode(r).entity_key AS from_key, endNode(r).entity_key AS to_key,
  r.relationship_type AS relationship_type, r.description AS description, score
"""


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load the graph, run the questions, and compute the figures."""
    everyone = owners(f"benchmark-{arguments.seed}", arguments.relationships, arguments.users, OF_EACH_SMALL_USER)
    total = sum(owner.count for owner in everyone)
    corpus = made(arguments.seed, arguments.dimensions, total, arguments.queries + WARM_UP)
    vectors, queries = corpus.vectors, corpus.questions
    embedder = HashingEmbedder(arguments.dimensions)
    settings = Settings()
    async with (
        open_graph(where, embedder, settings, users=[owner.user_id for owner in everyone]) as graph,
        driver_of(where) as driver,
    ):
        if not services_of(graph).store.features.filtered_vector_indexes:
            raise SystemExit(
                f"This benchmark needs Neo4j 2026.01 or later, got {services_of(graph).store.features.version}"
            )
        _, load_seconds = await timed(load(graph, embedder, Content(everyone, vectors)))
        plans = set()

        async def kgagent(owner: Owner, query: Vectors) -> list[Ends]:
            matches = await graph.retrieval.relationship_vector_search(
                vector=as_embedding(query), threshold=THRESHOLD, user_id=owner.user_id, limit=LIMIT
            )
            plans.add(matches.plan)
            return [(match.from_entity_key, match.to_entity_key) for match in matches]

        ways = {
            "kgagent": kgagent,
            "scan of all vectors": bare(driver, graph, SCAN, least=(1.0 + THRESHOLD) / 2.0),
            "floor, same fetch": bare(driver, graph, FLOOR, fetch=fetched(settings)),
            "floor, no oversampling": bare(driver, graph, FLOOR, fetch=LIMIT),
        }
        many = await compare(ways, [(everyone[0], query, nearest(everyone[0], vectors, query)) for query in queries])
        plan = "+".join(sorted(plans))
        few = Measured()
        for owner, query in zip(everyone[1 : 1 + SMALL_USERS_ASKED], queries, strict=False):
            found, seconds = await timed(kgagent(owner, query))
            few.add(seconds, found, nearest(owner, vectors, query), owner)
    show(
        f"{arguments.relationships:,} relationships of one user x {arguments.dimensions:,} dimensions, "
        f"{total - arguments.relationships:,} of others",
        [
            {
                "method": name,
                "p50 ms": 1e3 * p50(each.seconds),
                "p95 ms": 1e3 * p95(each.seconds),
                f"recall@{LIMIT}": float(np.mean(each.recalls)),
            }
            for name, each in [*many.items(), (f"kgagent, a user with {OF_EACH_SMALL_USER}", few)]
            if each.seconds
        ],
    )
    ours, scan, same, plain = (many[name] for name in ways)
    return {
        "relationships": arguments.relationships,
        "dimensions": arguments.dimensions,
        "relationships_of_others": total - arguments.relationships,
        "queries": arguments.queries,
        "plan": plan,
        "p50_seconds": p50(ours.seconds),
        "p95_seconds": p95(ours.seconds),
        "recall_at_20": float(np.mean(ours.recalls)),
        "min_recall_at_20": min(ours.recalls),
        "foreign_rows": ours.foreign + few.foreign,
        "missing_rows": ours.missing + few.missing,
        "scan_p50_seconds": p50(scan.seconds),
        "floor_p50_seconds": p50(plain.seconds),
        "floor_same_fetch_p50_seconds": p50(same.seconds),
        "floor_recall_at_20": float(np.mean(plain.recalls)),
        "speedup_over_scan_p50": p50(scan.seconds) / p50(ours.seconds),
        "ratio_to_floor_p50": p50(ours.seconds) / p50(plain.seconds),
        "ratio_to_floor_same_fetch_p50": p50(ours.seconds) / p50(same.seconds),
        "small_user_p50_seconds": p50(few.seconds) if few.seconds else None,
        "load_relationships_per_second": total / load_seconds,
        "oversampling": settings.oversampling,
        "server": services_of(graph).store.features.version,
        **await embedding_figures(settings),
    }


async def embedding_figures(settings: Settings) -> dict[str, object]:
    """The embedder of the settings, and its time for one text."""
    try:
        embedder = make_embedder(settings)
    except ConfigurationError as error:
        return {"embedder": f"none: {error}", "single_embedding_seconds": None}
    try:
        return {"embedder": str(embedder), "single_embedding_seconds": await single_embedding_seconds(embedder)}
    finally:
        await embedder.aclose()


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--relationships", type=int, default=10_000, help="of the one user who has many")
    arguments.add_argument("--dimensions", type=int, default=1536, help="length of the vectors")
    arguments.add_argument("--users", type=int, default=40, help="users with few relationships")
    arguments.add_argument("--queries", type=int, default=100, help="questions, each asked in every way")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
