"""Rates of writing relationships: one at a time, in batches, loaded from a file, and migrated from
an old graph.

    python benchmarks/write_rates.py --json

Measured with the local model (total cost) and with hashed vectors of the same length (cost without
a model).
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from _common import (
    Server,
    finish,
    open_graph,
    p50,
    p95,
    parser,
    server,
    show,
    single_embedding_seconds,
    timed,
)

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.local import LocalEmbedder
from kgagent.embedding.local_models import BGE_SMALL
from kgagent.knowledge_graph import services_of

USER = "benchmark-writes"
NODES = 400
BATCH = 200

MAKE_OLD = """
MATCH (:Entity {user_id: $user_id})-[r:connected_to]->()
SET r.relationship_embedding = null, r.embedding_hash = null, r.embedding_model = null,
  r.relation_embedding = [0.5, 0.5]
RETURN count(*) AS made
"""


def relationships() -> Iterator[dict[str, object]]:
    """Relationships between entities, each with its own pair."""
    for step in range(1, NODES // 2):
        for first in range(NODES):
            second = (first + step) % NODES
            yield {
                "from": f"company {first}",
                "to": f"company {second}",
                "relationship_type": ("supplier", "partner", "rival", "investor")[
                    (first + step) % 4
                ],
                "description": f"Company {first} works with company {second} on project {step} since {1990 + step}.",
                "attitude": (first + step) % 5 + 1,
                "proximity": step % 5 + 1,
                "notes": [f"Their contract number {first * step} runs for {step % 7 + 1} years."],
            }


async def load(graph: KnowledgeGraph, lines: Sequence[dict[str, object]]) -> float:
    """Load lines from a file; return the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "benchmark.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        report = await graph.load(
            path,
            user_id=USER,
        )
    if report.problems:
        raise SystemExit("; ".join(map(str, report.problems[:5])))
    return report.seconds


@asynccontextmanager
async def fresh_graph(
    where: Server, embedder: Embedder
) -> AsyncIterator[tuple[KnowledgeGraph, dict[str, str]]]:
    """A graph with only the entities, and their keys by name."""
    async with open_graph(where, embedder, Settings(), users=[USER]) as graph:
        names = [f"company {number}" for number in range(NODES)]
        await load(
            graph, [{"kind": "node", "label": "Entity", "id": name, "name": name} for name in names]
        )
        rule = graph.ontology.label("Entity")
        yield (
            graph,
            {
                name: rule.entity_key(name=name, description="", user_id=USER, created_at="")
                for name in names
            },
        )


async def measure(
    where: Server, embedder: Embedder, arguments: argparse.Namespace
) -> dict[str, float]:
    """All the figures of one embedder."""
    figures = {"embedding_seconds": await single_embedding_seconds(embedder)}
    rows = relationships()
    async with fresh_graph(where, embedder) as (graph, keys):
        tools = graph.tools(user_id=USER)

        def arguments_of(row: dict[str, object]) -> dict[str, Any]:
            ends = {f"{end}_entity_key": keys[str(row[end])] for end in ("from", "to")}
            return ends | {name: value for name, value in row.items() if name not in ("from", "to")}

        async def call(name: str, **values: object) -> float:
            answer, seconds = await timed(tools[name](**values))
            if not answer["success"]:
                raise SystemExit(f"{name}: {answer['error']}")
            return seconds

        await call("create_relationship", **arguments_of(next(rows)))
        singles = [
            await call("create_relationship", **arguments_of(next(rows)))
            for _ in range(arguments.singles)
        ]
        figures["create_p50_seconds"], figures["create_p95_seconds"] = p50(singles), p95(singles)
        batches = [
            await call(
                "remember",
                relationships=[arguments_of(next(rows)) for _ in range(BATCH)],
            )
            for _ in range(arguments.batches)
        ]
        figures["batch_relationships_per_second"] = BATCH * len(batches) / sum(batches)

        lines = [{"kind": "relationship", **next(rows)} for _ in range(arguments.load)]
        lines = [line | {end: keys[str(line[end])] for end in ("from", "to")} for line in lines]
        figures["load_relationships_per_second"] = len(lines) / await load(graph, lines)
        figures["load_again_relationships_per_second"] = len(lines) / await load(graph, lines)

        await services_of(graph).store.write(MAKE_OLD, {"user_id": USER})
        report, seconds = await timed(graph.migrate(user_id=USER))
        figures["migrated_relationships_per_second"] = report.relationships.embedded / seconds
        figures["migrated_relationships"] = report.relationships.embedded
        figures["create_over_embedding"] = (
            figures["create_p50_seconds"] / figures["embedding_seconds"]
        )
        figures["batch_over_single_rate"] = (
            figures["batch_relationships_per_second"] * figures["create_p50_seconds"]
        )
    await embedder.aclose()
    if where.is_own:
        await forget(where)
    return figures


async def forget(where: Server) -> None:
    """Empty a temporary server between two embedders."""
    async with open_graph(
        Server(where.uri, where.username, where.password, is_own=False),
        HashingEmbedder(BGE_SMALL.dimensions),
        Settings(),
        users=[USER],
    ):
        return


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Measure with each embedder."""
    embedders = {
        "hashing": HashingEmbedder(BGE_SMALL.dimensions),
        "local": LocalEmbedder(cache=Settings().cache),
    }
    results = {
        name: await measure(where, embedder, arguments) for name, embedder in embedders.items()
    }
    show(
        "Writes",
        [
            {"what": what, **{name: results[name][what] for name in results}}
            for what in results["local"]
        ],
    )
    return {
        f"{name}_{what}": value
        for name, figures in results.items()
        for what, value in figures.items()
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--singles", type=int, default=50, help="relationships created one at a time"
    )
    arguments.add_argument(
        "--batches", type=int, default=5, help=f"batches of {BATCH} created by the tool"
    )
    arguments.add_argument(
        "--load", type=int, default=2_000, help="relationships loaded from a file"
    )
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
