"""Recall of searches, compared with other toolkits on the same embeddings.

    python benchmarks/search_quality.py --twowiki path/to/2wiki --metaqa path/to/metaqa --json

Each toolkit has its own temporary Neo4j with the same triples in its schema, and runs the same questions with its own
search. A toolkit that is not installed is skipped (`pip install -e ".[bench]"`).
"""

import asyncio
import json
import logging
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _common import Server, finish, open_graph, parser, server, show
from _questions import Pair, Question, QuestionSet, as_lines, meta_qa, two_wiki
from _remembered import RememberedEmbedder
from _toolkits import Peer, Search, installed_peers

from kgagent import HybridSearchOptions, KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.factory import make_embedder

USER = "benchmark-quality"
K = 10
CANDIDATES = 60
THRESHOLD = -1.0
LEFT_OUT = "-"


@dataclass(frozen=True)
class Answer:
    """The results of a search, best first; None if it does not return that kind of item."""

    pairs: Sequence[Pair] | None
    names: Sequence[str] | None


Ask = Callable[[Question, Embedding], Awaitable[Answer]]


def recall(right: Sequence[object], found: Sequence[object] | None) -> float:
    """Share of the relevant items among the first K, relative to at most K."""
    return float("nan") if found is None else len(set(right) & set(found[:K])) / min(len(right), K)


async def measure(ask: Ask, asked: QuestionSet, embedder: Embedder) -> dict[str, float]:
    """Run every question with one method."""
    relationships, nodes = [], []
    vectors = await embedder.embed_queries([question.text for question in asked.questions])
    for question, vector in zip(asked.questions, vectors, strict=True):
        answer = await ask(question, vector)
        relationships.append(recall(question.pairs, answer.pairs))
        nodes.append(recall(sorted(question.names), answer.names))
    return {"relationships": float(np.mean(relationships)), "nodes": float(np.mean(nodes))}


def ways_of_kgagent(graph: KnowledgeGraph) -> dict[str, Ask]:
    """The searches of kgagent."""
    retrieval = graph.retrieval

    async def nodes_alone(_question: Question, vector: Embedding) -> Answer:
        hits = await retrieval.node_vector_search(
            vector=vector, threshold=THRESHOLD, user_id=USER, labels=["Entity"], limit=K
        )
        return Answer(None, [hit.node.name.lower() for hit in hits])

    async def relationships_alone(_question: Question, vector: Embedding) -> Answer:
        found = await retrieval.find_nodes_via_relationship_search(
            vector=vector, threshold=THRESHOLD, user_id=USER, limit=K
        )
        pairs = [frozenset((one.from_name.lower(), one.to_name.lower())) for one in found.relationships]
        return Answer(pairs, [node.name.lower() for node in found.nodes])

    def hybrid(hops: int | None) -> Ask:
        options = HybridSearchOptions(threshold=THRESHOLD, labels=("Entity",), limit=CANDIDATES, expand_hops=hops)

        async def ask(question: Question, vector: Embedding) -> Answer:
            found = await retrieval.hybrid_search(
                options.model_copy(update={"query": question.text}), user_id=USER, vector=vector
            )
            pairs = [frozenset((r.from_name.lower(), r.to_name.lower())) for r in found.relationships or ()]
            return Answer(pairs, [node.name.lower() for node in found.objects])

        return ask

    return {
        "kgagent, nodes alone": nodes_alone,
        "kgagent, relationships alone": relationships_alone,
        "kgagent, hybrid": hybrid(None),
        "kgagent, hybrid, expand_hops=0": hybrid(0),
        "kgagent, hybrid, expand_hops=2": hybrid(2),
    }


async def run_kgagent(where: Server, asked: QuestionSet, embedder: Embedder) -> dict[str, dict[str, float]]:
    """Load the triples and run the questions."""
    async with open_graph(where, embedder, Settings(), users=[USER]) as graph:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "triples.jsonl"
            lines = (json.dumps(line, ensure_ascii=False) for line in as_lines(asked.triples))
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
            report = await graph.load(
                path,
                user_id=USER,
            )
        if report.problems:
            raise SystemExit("Not all could be loaded: " + "; ".join(map(str, report.problems[:5])))
        return {name: await measure(ask, asked, embedder) for name, ask in ways_of_kgagent(graph).items()}


async def run_peer(peer: Peer, asked: QuestionSet, embedder: Embedder) -> dict[str, dict[str, float]]:
    """Load the triples into a peer and run the questions."""
    await peer.load(asked.triples, embedder)
    measured = {name: await measure(asking(search), asked, embedder) for name, search in peer.searches.items()}
    await peer.close()
    return measured


def asking(search: Search) -> Ask:
    """A peer's search in the form of kgagent's searches."""

    async def ask(question: Question, vector: Embedding) -> Answer:
        pairs, names = await search(question.text, list(vector), K)
        return Answer(pairs, names)

    return ask


async def run(sets: Sequence[QuestionSet]) -> dict[str, dict[str, dict[str, float]]]:
    """Every toolkit on every set."""
    embedder = RememberedEmbedder(make_embedder(Settings()))
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for asked in sets:
        with server(None) as where:
            figures[asked.name] = await run_kgagent(where, asked, embedder)
        for peer in installed_peers():
            with server(None) as where:
                figures[asked.name] |= await run_peer(peer(where), asked, embedder)
    return figures


def table(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[dict[str, str]]:
    """A row for each method."""
    names = dict.fromkeys(name for ways in figures.values() for name in ways)
    return [
        {"search": name}
        | {f"{which}: {kind}": _shown(ways[name][kind]) for which, ways in figures.items() for kind in ways[name]}
        for name in names
    ]


def _shown(value: float) -> str:
    return LEFT_OUT if np.isnan(value) else f"{value:.3f}"


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--twowiki", type=Path, help="folder of 2WikiMultihopQA")
    arguments.add_argument("--metaqa", type=Path, help="folder of MetaQA")
    arguments.add_argument("--questions", type=int, default=100, help="of MetaQA")
    arguments.add_argument("--triples", type=int, default=5_000, help="of MetaQA")
    chosen = arguments.parse_args()
    sets = [two_wiki(chosen.twowiki)] if chosen.twowiki else []
    if chosen.metaqa:
        sets.append(meta_qa(chosen.metaqa, triples=chosen.triples, questions=chosen.questions, seed=chosen.seed))
    if not sets:
        raise SystemExit("Name the data: --twowiki FOLDER, --metaqa FOLDER, or both")
    # The driver warns about properties that do not exist yet.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    figures = asyncio.run(run(sets))
    show(f"Recall@{K}", table(figures))
    flat = {
        f"{which}: {name}: {kind}": None if np.isnan(value) else value
        for which, ways in figures.items()
        for name, kinds in ways.items()
        for kind, value in kinds.items()
    }
    finish(flat, as_json=chosen.json)


if __name__ == "__main__":
    main()
