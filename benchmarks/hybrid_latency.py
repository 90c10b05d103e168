"""What hybrid search costs beside its parts, each asked the same questions in turn.

    python benchmarks/hybrid_latency.py --relationships 20000 --json

The graph is made of words drawn by their rank, as in a language, and its embeddings are hashed words, so that no model
is needed and the times are those of the search alone.
"""

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import numpy as np
from _common import Server, finish, open_graph, p50, p95, parser, server, show, timed

from kgagent import HybridOptions, KnowledgeGraph, Settings
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.loading import load_file
from kgagent.retrieval.full_text import FullTextSearch

USER = "benchmark-hybrid"
DIMENSIONS = 384
VOCABULARY = 20_000
WORDS_OF_A_TEXT = 12
WORDS_OF_A_QUESTION = 6
RELATIONSHIPS_PER_NODE = 3
WARM_UP = 20

Ask = Callable[[str, Embedding], Awaitable[object]]


class Words:
    """Draws texts of words whose frequency falls with their rank."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        weights = 1.0 / np.arange(1, VOCABULARY + 1)
        self._weights = weights / weights.sum()

    def draw(self, count: int) -> str:
        """A text of so many words."""
        return " ".join(f"w{word}" for word in self._generator.choice(VOCABULARY, count, p=self._weights))


def lines(relationships: int, words: Words) -> Iterator[str]:
    """Lines for `kgagent load`."""
    nodes = max(relationships // RELATIONSHIPS_PER_NODE, 10)
    for node in range(nodes):
        about = {"name": f"Thing {node}", "description": words.draw(WORDS_OF_A_TEXT)}
        yield json.dumps({"kind": "node", "label": "Entity", "id": f"n{node}", **about})
    for position in range(relationships):
        start, lap = position % nodes, position // nodes
        ends = {"from": f"n{start}", "to": f"n{(start + lap + 1) % nodes}"}
        about = {"relationship_type": f"kind {position % 20}", "description": words.draw(WORDS_OF_A_TEXT)}
        yield json.dumps({"kind": "relationship", **ends, **about})


def ways(graph: KnowledgeGraph) -> dict[str, Ask]:
    """Hybrid search and what it is made of, each with the limits that it has there."""
    retrieval = graph.retrieval
    words = FullTextSearch(graph.store, graph.ontology, timeout=graph.settings.query_timeout)
    every, plain = HybridOptions(), HybridOptions(expand_hops=0)
    objects = HybridOptions(include_relationships=False)
    labels = list(graph.ontology.labels)
    return {
        "hybrid": lambda text, vector: retrieval.hybrid_search(text, USER, every, vector=vector),
        "hybrid, expand_hops=0": lambda text, vector: retrieval.hybrid_search(text, USER, plain, vector=vector),
        "objects alone": lambda text, vector: retrieval.hybrid_search(text, USER, objects, vector=vector),
        "nodes by meaning": lambda _, vector: retrieval.node_vector_search(vector=vector, user_id=USER, limit=20),
        "nodes by words": lambda text, _: words.nodes(text, user_id=USER, labels=labels, limit=20),
        "relationships by meaning": lambda _, vector: retrieval.relationship_vector_search(
            vector=vector, user_id=USER, limit=50
        ),
        "relationships by words": lambda text, _: words.relationships(
            text, user_id=USER, relationship_types=None, limit=50
        ),
    }


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, ask, and work out the figures."""
    words = Words(np.random.default_rng(arguments.seed))
    embedder = HashingEmbedder(DIMENSIONS)
    seconds: dict[str, list[float]] = defaultdict(list)
    async with open_graph(where, embedder, Settings(), users=[USER]) as graph:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.jsonl"
            path.write_text("\n".join(lines(arguments.relationships, words)), "utf-8")
            report = await load_file(
                path, nodes=graph.nodes, relationships=graph.relationships, writing=graph.writing, user_id=USER
            )
        if report.problems:
            raise SystemExit("Not all could be loaded: " + "; ".join(map(str, report.problems[:5])))
        questions = [words.draw(WORDS_OF_A_QUESTION) for _ in range(arguments.questions + WARM_UP)]
        asked = ways(graph)
        names = list(asked)
        for number, (text, vector) in enumerate(zip(questions, await embedder.embed(questions), strict=True)):
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                _, taken = await timed(asked[name](text, vector))
                if number >= WARM_UP:
                    seconds[name].append(taken)
    show(
        f"{arguments.relationships:,} relationships, {report.nodes.total:,} nodes, {arguments.questions} questions",
        [{"search": name, "p50 ms": 1e3 * p50(seconds[name]), "p95 ms": 1e3 * p95(seconds[name])} for name in names],
    )
    parts = [name for name in names if not name.startswith("hybrid")]
    slowest = max(p95(seconds[name]) for name in parts)
    return {
        "relationships": arguments.relationships,
        "hybrid_p50_ms": 1e3 * p50(seconds["hybrid"]),
        "hybrid_p95_ms": 1e3 * p95(seconds["hybrid"]),
        "objects_p95_ms": 1e3 * p95(seconds["objects alone"]),
        "added_p95_ms": 1e3 * (p95(seconds["hybrid"]) - p95(seconds["objects alone"])),
        "ratio_to_slowest_part_p95": p95(seconds["hybrid"]) / slowest,
        "ratio_to_slowest_part_p50": p50(seconds["hybrid"]) / max(p50(seconds[name]) for name in parts),
        "ratio_without_expansion_p95": p95(seconds["hybrid, expand_hops=0"]) / slowest,
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--relationships", type=int, default=20_000, help="of the one user")
    arguments.add_argument("--questions", type=int, default=150, help="each asked in every way")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
