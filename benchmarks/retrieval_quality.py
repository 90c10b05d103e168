"""Recall of relationship search, and of node search with and without relationships.

    python benchmarks/retrieval_quality.py --data /path/to/2wiki --json

The folder contains 2wiki_500_with_evidences.json: questions of the 2WikiMultihopQA development set, each with the
triples that answer it. All distinct triples become relationships between entities, loaded with `graph.load`.
"""

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _common import Server, finish, open_graph, p50, p95, parser, server, show, timed
from _questions import TWOWIKI, Question, as_lines, two_wiki

from kgagent import ExploreRequest, KnowledgeGraph, Settings, VectorQuery
from kgagent.embedding.factory import make_embedder
from kgagent.files import LoadReport

USER = "benchmark-2wiki"
THRESHOLD = -1.0
NODES = 10
RELATIONSHIPS = 10


async def load(graph: KnowledgeGraph, lines: Sequence[dict[str, object]]) -> LoadReport:
    """Load lines with `graph.load`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "2wiki.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
        return await graph.load(
            path,
            user_id=USER,
        )


def recall(right: Sequence[object], found: Sequence[object]) -> float:
    """Share of the relevant items that were found."""
    return sum(item in found for item in right) / len(right)


class Recalls:
    """Recalls and times by name."""

    def __init__(self) -> None:
        self.of: dict[str, list[float]] = defaultdict(list)
        self.seconds: dict[str, list[float]] = defaultdict(list)

    async def ask(self, graph: KnowledgeGraph, question: Question) -> None:
        """Run a question with every method."""
        retrieval = graph.retrieval
        [vector] = await retrieval.embed_queries([question.text])
        matches, seconds = await timed(
            retrieval.relationship_vector_search(vector=vector, threshold=THRESHOLD, user_id=USER, limit=RELATIONSHIPS)
        )
        self.seconds["relationship search"].append(seconds)
        pairs = [frozenset((match.from_name.lower(), match.to_name.lower())) for match in matches]
        self.of["relationships_at_5"].append(recall(question.pairs, pairs[:5]))
        self.of["relationships_at_10"].append(recall(question.pairs, pairs[:10]))

        hits, seconds = await timed(
            retrieval.node_vector_search(
                vector=vector, threshold=THRESHOLD, user_id=USER, labels=["Entity"], limit=NODES
            )
        )
        self.seconds["node search"].append(seconds)
        right = sorted(question.names)
        self.of["nodes_alone_at_10"].append(recall(right, [hit.node.name.lower() for hit in hits]))

        found, seconds = await timed(
            retrieval.find_nodes_via_relationship_search(
                vector=vector, threshold=THRESHOLD, user_id=USER, limit=RELATIONSHIPS
            )
        )
        self.seconds["nodes through relationships"].append(seconds)
        self.of["nodes_through_relationships_at_10"].append(
            recall(right, [node.name.lower() for node in found.nodes][:NODES])
        )

        request = ExploreRequest(
            queries=(VectorQuery(query=question.text, threshold=THRESHOLD),), max_results_per_type=NODES
        )
        explored, seconds = await timed(retrieval.explore(request, user_id=USER))
        self.seconds["explore"].append(seconds)
        self.of["nodes_explore_at_10"].append(recall(right, [one.node.name.lower() for one in explored.nodes][:NODES]))
        around = [one.node.name.lower() for one in explored.nodes] + [one.name.lower() for one in explored.neighbors]
        self.of["nodes_explore_with_neighbors"].append(recall(right, around))
        shown = [frozenset((one.from_name.lower(), one.to_name.lower())) for one in explored.relationships]
        self.of["relationships_explore"].append(recall(question.pairs, shown))


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, run the questions, and compute the figures."""
    known = two_wiki(arguments.data)
    triples, asked = known.triples, known.questions[: arguments.questions]
    lines = as_lines(triples)
    settings = Settings()
    embedder = make_embedder(settings)
    recalls = Recalls()
    async with open_graph(where, embedder, settings, users=[USER]) as graph:
        report = await load(graph, lines)
        if report.problems:
            raise SystemExit("Not all could be loaded: " + "; ".join(map(str, report.problems[:5])))
        for question in asked:
            await recalls.ask(graph, question)
        [hit, *_] = await graph.retrieval.relationship_vector_search(asked[0].text, THRESHOLD, user_id=USER)
    await embedder.aclose()
    means = {name: float(np.mean(values)) for name, values in recalls.of.items()}
    show(f"Recall, {len(asked)} questions", [{"what": name, "recall": value} for name, value in means.items()])
    show(
        "Time without the embedding of the question, but for explore",
        [
            {"what": name, "p50 ms": 1e3 * p50(each), "p95 ms": 1e3 * p95(each)}
            for name, each in recalls.seconds.items()
        ],
    )
    return {
        "questions": len(asked),
        "triples": len(triples),
        "relationships": report.relationships.total,
        "triples_that_share_a_pair": len(triples) - report.relationships.total,
        "nodes": report.nodes.total,
        "embedder": str(embedder),
        **means,
        "explore_p50_seconds": p50(recalls.seconds["explore"]),
        "explore_p95_seconds": p95(recalls.seconds["explore"]),
        "load_seconds": report.seconds,
        "first_hit": hit.description,
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help=f"folder that holds {TWOWIKI}")
    arguments.add_argument("--questions", type=int, default=500, help="maximum number of questions")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
