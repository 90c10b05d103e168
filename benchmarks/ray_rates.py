"""Rates of loading and migrating relationships in one process, and by 1 and 2 worker processes of
Ray.

    python benchmarks/ray_rates.py --json

All are measured in the same run, on the same server and in rotating order. Ray is started once; the
seconds of a run with workers include the start of the workers, which `start_seconds` has alone.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import ray
from _common import Server, finish, p50, parser, server, show, timed
from write_rates import MAKE_OLD, USER, forget, fresh_graph, relationships

from kgagent import KnowledgeGraph, RayEngine, Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.local import LocalEmbedder
from kgagent.embedding.local_models import BGE_SMALL
from kgagent.knowledge_graph import services_of

WORKERS = (0, 1, 2)
"""Numbers of workers; 0 is a load or a migration without Ray."""

DELETE = (
    "MATCH (:Entity {user_id: $user_id})-[r:connected_to]->() DELETE r RETURN count(*) AS deleted"
)

Line = dict[str, object]


def engine(workers: int, make: Callable[[], Embedder]) -> RayEngine | None:
    """The engine with so many workers."""
    return RayEngine(workers=workers, embedder=make) if workers else None


async def load(graph: KnowledgeGraph, lines: Sequence[Line], chosen: RayEngine | None) -> float:
    """Load lines that are not in the graph; return the seconds."""
    await services_of(graph).store.write(DELETE, {"user_id": USER})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "benchmark.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        report, seconds = await timed(graph.load(path, user_id=USER, engine=chosen))
    if report.problems or report.relationships.created != len(lines):
        raise SystemExit(f"{report.relationships}: {'; '.join(map(str, report.problems[:5]))}")
    return seconds


async def migrate(graph: KnowledgeGraph, expected: int, chosen: RayEngine | None) -> float:
    """Migrate relationships without embeddings; return the seconds."""
    await services_of(graph).store.write(MAKE_OLD, {"user_id": USER})
    report, seconds = await timed(graph.migrate(user_id=USER, engine=chosen))
    if report.relationships.embedded != expected:
        raise SystemExit(str(report))
    return seconds


async def measure(
    where: Server, make: Callable[[], Embedder], arguments: argparse.Namespace
) -> dict[str, float]:
    """All figures of one embedder."""
    embedder = make()
    loads: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    migrations: dict[int, list[float]] = {workers: [] for workers in WORKERS}
    async with fresh_graph(where, embedder) as (graph, keys):
        rows = islice(relationships(), arguments.relationships)
        lines: list[Line] = [
            {"kind": "relationship", **row, **{end: keys[str(row[end])] for end in ("from", "to")}}
            for row in rows
        ]
        await load(graph, lines, None)
        start = {
            workers: await load(graph, lines[:1], engine(workers, make)) for workers in WORKERS
        }
        for turn in range(arguments.turns):
            for workers in (*WORKERS[turn % len(WORKERS) :], *WORKERS[: turn % len(WORKERS)]):
                chosen = engine(workers, make)
                loads[workers].append(await load(graph, lines, chosen))
                migrations[workers].append(await migrate(graph, len(lines), chosen))
    await embedder.aclose()
    if where.is_own:
        await forget(where)
    figures: dict[str, float] = {}
    for workers in WORKERS:
        figures[f"start_seconds_{workers}"] = start[workers]
        for name, seconds in (("load", p50(loads[workers])), ("migrate", p50(migrations[workers]))):
            figures[f"{name}_{workers}"] = len(lines) / seconds
            figures[f"{name}_{workers}_over_direct"] = (
                figures[f"{name}_{workers}"] / figures[f"{name}_0"]
            )
    return figures


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Measure with each embedder."""
    embedders: dict[str, Callable[[], Embedder]] = {
        "hashing": partial(HashingEmbedder, BGE_SMALL.dimensions),
        "local": partial(LocalEmbedder, cache=Settings().cache),
    }
    results = {
        name: await measure(where, embedders[name], arguments)
        for name in arguments.embedders.split(",")
    }
    names = list(results)
    show(
        "Ray (relationships per second)",
        [
            {"what": what, **{name: results[name][what] for name in names}}
            for what in results[names[0]]
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
        "--relationships", type=int, default=10_000, help="relationships of each load and migration"
    )
    arguments.add_argument("--turns", type=int, default=3, help="how often each is measured")
    arguments.add_argument("--embedders", default="hashing,local", help="hashing, local, or both")
    chosen = arguments.parse_args()
    ray.init("local", num_cpus=max(WORKERS), include_dashboard=False, log_to_driver=False)
    try:
        with server(chosen.uri) as where:
            finish(asyncio.run(run(chosen, where)), as_json=chosen.json)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
