"""Latency of hybrid search and of explore compared with their parts, on the same questions in
rotating order.

A part is one of the searches that they run, alone, with the same limits and expansion and with
complete results; node search (vector and full-text together) counts as one part of hybrid search.

    python benchmarks/hybrid_latency.py --relationships 20000 --json

The texts are random words with a natural frequency distribution and the embeddings are hashed
words, so that no model is needed and only the search is measured.
"""

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from _common import Server, finish, open_graph, p50, p95, parser, server, show, timed

from kgagent import HybridSearchRequest, KnowledgeGraph, Settings
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.search.full_text import search_nodes_full_text, search_relationships_full_text
from kgagent.search.query import EmbeddedQuery
from kgagent.search.scope import RelationshipFilter

USER = "benchmark-hybrid"
DIMENSIONS = 384
VOCABULARY = 20_000
WORDS_OF_A_TEXT = 12
WORDS_OF_A_QUESTION = 6
RELATIONSHIPS_PER_NODE = 3
WARM_UP = 20

HYBRID, ONE_HOP, PLAIN, OBJECTS = (
    "hybrid",
    "hybrid, expand_hops=1",
    "hybrid, expand_hops=0",
    "nodes only",
)
NODES, NEAR, EXPLORE = "node vectors", "relationship vectors", "explore"

Ask = Callable[[str, Embedding], Awaitable[object]]


class Words:
    """Generates texts of words whose frequency decreases with their rank."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        weights = 1.0 / np.arange(1, VOCABULARY + 1)
        self._weights = weights / weights.sum()

    def draw(self, count: int) -> str:
        """A text with this number of words."""
        return " ".join(
            f"w{word}" for word in self._generator.choice(VOCABULARY, count, p=self._weights)
        )


def lines(relationships: int, words: Words) -> Iterator[str]:
    """Lines for `kgagent load`."""
    nodes = max(relationships // RELATIONSHIPS_PER_NODE, 10)
    for node in range(nodes):
        about = {"name": f"Thing {node}", "description": words.draw(WORDS_OF_A_TEXT)}
        yield json.dumps({"kind": "node", "label": "Entity", "id": f"n{node}", **about})
    for position in range(relationships):
        start, lap = position % nodes, position // nodes
        ends = {"from": f"n{start}", "to": f"n{(start + lap + 1) % nodes}"}
        about = {
            "relationship_type": f"kind {position % 20}",
            "description": words.draw(WORDS_OF_A_TEXT),
        }
        yield json.dumps({"kind": "relationship", **ends, **about})


def ways(graph: KnowledgeGraph) -> dict[str, Ask]:
    """Hybrid search, node search alone, and the parts of hybrid search."""
    retrieval = graph.retrieval
    scope = services_of(graph).retrieval.scope.of(USER)
    every, plain = HybridSearchRequest(), HybridSearchRequest(expand_hops=0)
    one_hop = HybridSearchRequest(expand_hops=1)
    objects = HybridSearchRequest(search_relationships=False)
    labels = list(graph.ontology.labels)

    def near(text: str, vector: Embedding) -> Awaitable[object]:
        return retrieval.relationship_vector_search(
            text, every.threshold, user_id=USER, vector=vector, limit=every.relationship_limit
        )

    return {
        HYBRID: lambda text, vector: retrieval.hybrid_search(
            every.model_copy(update={"query": text}), user_id=USER, vector=vector
        ),
        ONE_HOP: lambda text, vector: retrieval.hybrid_search(
            one_hop.model_copy(update={"query": text}), user_id=USER, vector=vector
        ),
        PLAIN: lambda text, vector: retrieval.hybrid_search(
            plain.model_copy(update={"query": text}), user_id=USER, vector=vector
        ),
        OBJECTS: lambda text, vector: retrieval.hybrid_search(
            objects.model_copy(update={"query": text}), user_id=USER, vector=vector
        ),
        EXPLORE: lambda text, _: graph.explore(text, user_id=USER),
        NODES: lambda _, vector: retrieval.node_vector_search(
            vector=vector, user_id=USER, limit=every.object_limit
        ),
        "node full text": lambda text, _: search_nodes_full_text(
            scope, [EmbeddedQuery((), 0.0, text)], labels=labels, limit=every.text_limit
        ),
        NEAR: near,
        "relationship full text": lambda text, _: search_relationships_full_text(
            scope,
            [EmbeddedQuery((), 0.0, text)],
            kept=RelationshipFilter(),
            limit=every.relationship_limit,
        ),
    }


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, run the questions, and compute the figures."""
    words = Words(np.random.default_rng(arguments.seed))
    embedder = HashingEmbedder(DIMENSIONS)
    seconds: dict[str, list[float]] = defaultdict(list)
    async with open_graph(where, embedder, Settings(), users=[USER]) as graph:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.jsonl"
            path.write_text("\n".join(lines(arguments.relationships, words)), "utf-8")
            report = await graph.load(
                path,
                user_id=USER,
            )
        if report.problems:
            raise SystemExit(
                "Lines could not be loaded: " + "; ".join(map(str, report.problems[:5]))
            )
        questions = [words.draw(WORDS_OF_A_QUESTION) for _ in range(arguments.questions + WARM_UP)]
        asked = ways(graph)
        names = list(asked)
        for number, (text, vector) in enumerate(
            zip(questions, await embedder.embed(questions), strict=True)
        ):
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                _, taken = await timed(asked[name](text, vector))
                if number >= WARM_UP:
                    seconds[name].append(taken)
    show(
        f"{arguments.relationships:,} relationships, {report.nodes.total:,} nodes, "
        f"{arguments.questions} questions",
        [
            {"search": name, "p50 ms": 1e3 * p50(seconds[name]), "p95 ms": 1e3 * p95(seconds[name])}
            for name in names
        ],
    )
    return {"relationships": arguments.relationships, **figures(seconds)}


def figures(seconds: Mapping[str, Sequence[float]]) -> dict[str, object]:
    """Times of each search; hybrid search and explore relative to the slowest of their parts."""
    parts = [name for name in seconds if not name.startswith(("hybrid", EXPLORE))]
    at_50, at_95 = (
        {name: 1e3 * quantile(seconds[name]) for name in seconds} for quantile in (p50, p95)
    )
    slowest = max(parts, key=at_95.__getitem__)
    return {
        "hybrid_p50_ms": at_50[HYBRID],
        "hybrid_p95_ms": at_95[HYBRID],
        "objects_p50_ms": at_50[OBJECTS],
        "objects_p95_ms": at_95[OBJECTS],
        "added_p95_ms": at_95[HYBRID] - at_95[OBJECTS],
        "parts_p50_ms": {name: round(at_50[name], 2) for name in parts},
        "parts_p95_ms": {name: round(at_95[name], 2) for name in parts},
        "slowest_part_p95": slowest,
        "ratio_to_slowest_part_p95": at_95[HYBRID] / at_95[slowest],
        "ratio_to_slowest_part_p50": at_50[HYBRID] / max(at_50[name] for name in parts),
        "explore_p50_ms": at_50[EXPLORE],
        "explore_ratio_to_slowest_part_p50": at_50[EXPLORE] / max(at_50[NODES], at_50[NEAR]),
        "explore_ratio_to_slowest_part_p95": at_95[EXPLORE] / max(at_95[NODES], at_95[NEAR]),
        "one_hop_p50_ms": at_50[ONE_HOP],
        "without_expansion_p50_ms": at_50[PLAIN],
        "without_expansion_p95_ms": at_95[PLAIN],
        "ratio_without_expansion_p95": at_95[PLAIN] / max(at_95[name] for name in parts),
        "ratio_without_expansion_p50": at_50[PLAIN] / max(at_50[name] for name in parts),
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--relationships", type=int, default=20_000, help="number of relationships of the user"
    )
    arguments.add_argument(
        "--questions", type=int, default=150, help="questions, each run with every method"
    )
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
