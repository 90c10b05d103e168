"""Five toolkits side by side on one server: writing, updating and searching, quality and speed from
the same run.

    python benchmarks/side_by_side.py --twowiki path/to/2wiki --metaqa path/to/metaqa --markdown
    docs/benchmarks.md

kgagent, graphiti-core, neo4j-graphrag, langchain-neo4j and LlamaIndex's property graph, each by its
own public functions, with the same embeddings and without an LLM. It takes about half an hour (`pip
install -e ".[bench]"`).
"""

import argparse
import asyncio
import json
import os
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
from _questions import add_question_sets
from _remembered import RememberedEmbedder
from side.data import MOST_GOLD, USERS, Change, Data, changes_of, read
from side.measure import Measurement
from side.process import Worker
from side.server import APOC, NEO4J, server_with_apoc
from side.toolkit import WANTED
from side.worker import ADAPTERS

from kgagent import Settings
from kgagent.embedding.factory import make_embedder


async def write_vectors(data: Data, changes: list[Change], file: Path, cache: Path | None) -> str:
    """Embed all texts, or read their embeddings from the cache; return the model."""
    embedder = RememberedEmbedder(make_embedder(Settings()))
    if cache is not None:
        embedder.read(cache)
    stored, asked = data.texts(changes)
    vectors = await embedder.embed(stored)
    queries = await embedder.embed_queries(asked)
    if cache is not None:
        embedder.write(cache)
    known = dict(zip(stored, vectors, strict=True)) | dict(zip(asked, queries, strict=True))
    arrays = np.array([np.frombuffer(vector, np.float32) for vector in known.values()])
    np.savez(file, texts=np.array(list(known)), vectors=arrays)
    return str(embedder)


def measure(chosen: argparse.Namespace) -> dict[str, object]:
    """Run everything; the results as JSON types."""
    data = read(
        chosen.twowiki,
        chosen.metaqa,
        questions=chosen.questions,
        triples=chosen.triples,
        seed=chosen.seed,
    )
    changes = changes_of(data.wiki.facts, chosen.rounds * chosen.updates)
    before = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with tempfile.TemporaryDirectory(prefix="kgagent-benchmark-") as folder, ExitStack() as stack:
        vectors = Path(folder) / "vectors.npz"
        model = asyncio.run(write_vectors(data, changes, vectors, chosen.embeddings_cache))
        where = stack.enter_context(server_with_apoc(Path(folder) / "neo4j"))
        workers = [
            stack.enter_context(Worker(name, vectors)) for name in chosen.toolkits.split(",")
        ]
        measurement = Measurement(workers, where, data)
        measurement.run(chosen.rounds, chosen.inserts, chosen.updates)
    sets = (data.wiki, *data.movies, data.users)
    return {
        "embedder": model,
        "neo4j": NEO4J,
        "rounds": chosen.rounds,
        "users": len(USERS),
        "cores": os.cpu_count(),
        "load_before": before,
        "load_after": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "sets": {
            one.name: {"facts": len(one.facts), "questions": len(one.questions)} for one in sets
        },
        "toolkits": {name: asdict(result) for name, result in measurement.results.items()},
    }


def main() -> None:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    add_question_sets(arguments)
    arguments.add_argument("--seed", type=int, default=7, help="seed of the random numbers")
    arguments.add_argument(
        "--questions", type=int, default=180, help="of 2WikiMultihopQA; of the others a third"
    )
    arguments.add_argument("--triples", type=int, default=4_000, help="of MetaQA")
    arguments.add_argument("--rounds", type=int, default=3, help="each loads everything anew")
    arguments.add_argument(
        "--inserts", type=int, default=100, help="relationships inserted one by one in a round"
    )
    arguments.add_argument(
        "--updates", type=int, default=20, help="relationships updated in a round"
    )
    arguments.add_argument(
        "--toolkits", default=",".join(ADAPTERS), help="their names, separated by commas"
    )
    arguments.add_argument(
        "--embeddings-cache", type=Path, help=".npz file that keeps the embeddings"
    )
    arguments.add_argument(
        "--figures",
        type=Path,
        help="file that all figures are written to, or read from if it exists",
    )
    arguments.add_argument(
        "--markdown", type=Path, help="page to write; its charts are written to images beside it"
    )
    chosen = arguments.parse_args()
    if chosen.figures and chosen.figures.exists():
        figures = json.loads(chosen.figures.read_text("utf-8"))
    else:
        figures = measure(chosen)
    if chosen.figures:
        chosen.figures.write_text(json.dumps(figures), "utf-8")
    if chosen.markdown:
        from side.page import as_markdown, write

        page = as_markdown(figures, apoc=APOC, wanted=WANTED, most_gold=MOST_GOLD)
        write(figures, chosen.markdown, page)


if __name__ == "__main__":
    main()
