"""What a graph costs by size: memory, disk, loading, indexing, and the time and recall of the
largest user's searches.

    python benchmarks/scale.py --points points.jsonl --markdown docs/scale.md

Each size has a local server of its own, into which the data are imported offline. `--points` keeps
the points of earlier runs, so that sizes can be measured one by one; a size that was measured again
replaces its point. `--keep` keeps the loaded and indexed data of a size, so that the next run only
asks.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path

import psutil
from _asking import WARM_UP, Measured, compare, nearest
from _common import Server, finish, kept_server, open_graph, p50, p95, show
from _made_graph import Content, scoped_owners
from _offline_import import VERSION, children_seconds, import_csv, write_csv
from _scale_model import Point
from _scale_page import as_markdown
from _vectors import Corpus, made
from recall_latency import searcher

from kgagent import Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.connection import connect
from kgagent.graph.schema_parts import RELATIONSHIP_VECTOR_INDEX, SchemaPart, schema_parts
from kgagent.graph.store import Store
from kgagent.graph.vector_index_options import VectorIndexOptions
from kgagent.local.java import find_java
from kgagent.local.releases import find_release
from kgagent.ontology import default_ontology

DIMENSIONS = 384
SIZES = "1000,10000,100000,1000000"
KGAGENT = "kgagent"
STAGES = "stages.json"
VECTOR_MODULE = "jdk.incubator.vector"
BUILD_TIMEOUT = 86_400


def load(home: Path, content: Content) -> dict[str, float]:
    """Import the data into a new server, which is not running afterwards; return what it took."""
    with kept_server(home):
        pass
    started, cpu = time.perf_counter(), time.process_time() + children_seconds()
    with tempfile.TemporaryDirectory(prefix="kgagent-csv-", dir=home) as folder:
        write_csv(content, HashingEmbedder(content.vectors.shape[1]).model, Path(folder))
        import_csv(Path(folder), home, cache=Settings().cache)
    return {
        "load_seconds": time.perf_counter() - started,
        "load_cpu": time.process_time() + children_seconds() - cpu,
    }


async def index(where: Server, pid: int, dimensions: int) -> dict[str, float]:
    """Create constraints and indexes of each kind in turn; return what they took."""
    store = await connect(where.uri, username=where.username, password=where.password)
    try:
        config = VectorIndexOptions.of(Settings()).config(dimensions, store.features)
        parts = schema_parts(default_ontology(), config, store.features)
        vector = [part for part in parts if part.name == RELATIONSHIP_VECTOR_INDEX]
        ranges, _ = await _create(
            store, pid, [part for part in parts if part.kind in {"unique", "range"}]
        )
        texts, _ = await _create(store, pid, [part for part in parts if part.kind == "text"])
        seconds, cpu = await _create(store, pid, vector)
    finally:
        await store.close()
    return {
        "range_seconds": ranges,
        "text_seconds": texts,
        "vector_seconds": seconds,
        "vector_cpu": cpu,
    }


async def _create(store: Store, pid: int, parts: Sequence[SchemaPart]) -> tuple[float, float]:
    """Create parts of the schema; seconds of the clock and of the server's processor until they are
    online.
    """
    started, cpu = time.perf_counter(), _cpu(pid)
    for part in parts:
        await store.run_schema(part.create)
    await store.run_schema(f"CALL db.awaitIndexes({BUILD_TIMEOUT})")
    return time.perf_counter() - started, _cpu(pid) - cpu


async def ask(where: Server, pid: int, corpus: Corpus, prefix: str) -> tuple[Measured, float]:
    """Run the questions of the user who has half, with default settings.

    Returns:
        What was measured after the warm-up, and seconds of the server's processor that a search
        took, the mean.
    """
    owner = scoped_owners(prefix, len(corpus.vectors))[0]
    questions = [
        (owner, query, nearest(owner, corpus.vectors, query)) for query in corpus.questions
    ]
    async with AsyncExitStack() as stack:
        embedder = HashingEmbedder(corpus.vectors.shape[1])
        graph = await stack.enter_async_context(open_graph(where, embedder, Settings(), users=[]))
        ways = {KGAGENT: searcher(graph, Settings())}
        await compare(ways, questions[:WARM_UP])
        cpu = _cpu(pid)
        measured = (await compare(ways, questions[WARM_UP:], warm_up=0))[KGAGENT]
        return measured, (_cpu(pid) - cpu) / len(measured.seconds)


def measure(home: Path, corpus: Corpus, seed: int) -> Point:
    """Load, index and ask one size."""
    prefix, record = f"benchmark{seed}", home / STAGES
    if not record.exists():
        content = Content(scoped_owners(prefix, len(corpus.vectors)), corpus.vectors)
        stages = load(home, content)
        with kept_server(home) as where:
            stages |= asyncio.run(index(where, _server_of(home).pid, corpus.vectors.shape[1]))
        record.write_text(json.dumps(stages), "utf-8")
    with kept_server(home) as where:
        process = _server_of(home)
        asked, cpu = asyncio.run(ask(where, process.pid, corpus, prefix))
        memory = process.memory_info().rss
    disk, vectors = disk_usage(home)
    return Point.of(
        json.loads(record.read_text("utf-8"))
        | {
            "relationships": len(corpus.vectors),
            "disk_bytes": disk,
            "vector_bytes": vectors,
            "server_bytes": memory,
            "search_cpu_ms": 1e3 * cpu,
            "p50_ms": 1e3 * p50(asked.seconds),
            "p95_ms": 1e3 * p95(asked.seconds),
            "recall": asked.recall,
            "min_recall": min(asked.recalls),
            "foreign_rows": asked.foreign,
            "questions": len(asked.seconds),
        }
    )


def disk_usage(home: Path) -> tuple[int, int]:
    """Bytes of the database with its indexes, and of its vector indexes; without transaction
    logs.
    """
    database = home / "data" / "databases" / "neo4j"
    sizes = {path: path.stat().st_size for path in database.rglob("*") if path.is_file()}
    vectors = sum(
        size
        for path, size in sizes.items()
        if any(part.startswith("vector-") for part in path.parts)
    )
    return sum(sizes.values()), vectors


def _server_of(home: Path) -> psutil.Process:
    """The running server of a home folder."""
    return psutil.Process(json.loads((home / "kgagent.json").read_text("utf-8"))["pid"])


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def read_points(file: Path) -> dict[int, Point]:
    """The points of earlier runs by size."""
    if not file.exists():
        return {}
    points = [Point.of(json.loads(line)) for line in file.read_text("utf-8").splitlines() if line]
    return {point.relationships: point for point in points}


def main() -> None:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--sizes", default=SIZES, help="numbers of relationships, separated by commas; may be empty"
    )
    arguments.add_argument(
        "--dimensions", type=int, default=DIMENSIONS, help="length of the made vectors"
    )
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=7, help="seed of the random numbers")
    arguments.add_argument("--points", type=Path, help="JSON lines that keep the points")
    arguments.add_argument("--keep", type=Path, help="folder that keeps the data of each size")
    arguments.add_argument(
        "--markdown", type=Path, help="page of the documentation to write; needs three sizes"
    )
    arguments.add_argument("--note", default="", help="sentence about this run for the page")
    arguments.add_argument("--json", action="store_true", help="print each point as a line of JSON")
    chosen = arguments.parse_args()
    points = read_points(chosen.points) if chosen.points else {}
    for size in map(int, filter(None, chosen.sizes.split(","))):
        corpus = made(chosen.seed, chosen.dimensions, size, chosen.questions + WARM_UP)
        with tempfile.TemporaryDirectory(prefix="kgagent-scale-") as folder:
            points[size] = measure(
                (chosen.keep or Path(folder)) / f"{size}-{chosen.seed}", corpus, chosen.seed
            )
        if chosen.points:
            chosen.points.write_text(
                "".join(json.dumps(asdict(point)) + "\n" for point in points.values()), "utf-8"
            )
        finish(asdict(points[size]), as_json=chosen.json)
    if points:
        show("Cost by size", [asdict(point) for point in points.values()])
    if chosen.markdown:
        sizes = ",".join(map(str, sorted(points)))
        command = f"python benchmarks/scale.py --sizes {sizes} --seed {chosen.seed} --markdown {chosen.markdown.as_posix()}"
        java = find_java(find_release(VERSION).oldest_java)
        page = as_markdown(
            list(points.values()),
            command,
            dimensions=chosen.dimensions,
            cores=os.cpu_count() or 1,
            vector_instructions=VECTOR_MODULE in java.modules,
            note=chosen.note,
        )
        chosen.markdown.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
