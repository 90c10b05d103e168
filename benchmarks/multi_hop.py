"""Questions over one, two and three hops among many distractors: recall and latency of expansion.

    python benchmarks/multi_hop.py --twowiki DIR --metaqa DIR --defaults-only --markdown docs/multi-hop.md

The triples of both data sets become the relationships of one user, and those of 2WikiMultihopQA alone that of another.
Embedding and loading all of them takes some minutes; `--embeddings-cache` and `--keep` keep both for the next run. The
methods are compared with a prototype over all vectors that expands the five nearest relationships, scored
0.7 * path + 0.3 * own. `--defaults-only` omits the searches with another number of hops.
"""

import argparse
import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from _common import Server, finish, kept_server, open_graph, p50, p95, parser, server, show, timed
from _made_graph import CREATE_RELATIONSHIPS, Vectors, as_embedding, batches
from _multi_hop_data import Asked, judged, read_metaqa, read_twowiki
from _multi_hop_page import as_markdown
from _questions import Pair, Triple, add_question_sets, as_lines

from kgagent import ExploreRequest, HybridSearchOptions, KnowledgeGraph, Settings, VectorQuery
from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import make_embedder
from kgagent.formatting import counted
from kgagent.graph.record_saver import embedding_hash
from kgagent.graph.store import Store
from kgagent.knowledge_graph import services_of
from kgagent.models import GraphRelationship

ALL, TWOWIKI = "benchmark-multi-hop", "benchmark-multi-hop-2wiki"
THRESHOLD = -1.0
LIMIT = 20
AT = (5, 10, 20)
NODES = 10
MAX_HOPS = 3
EXACT, HYBRID, EXPLORE = "exact nearest", "hybrid_search", "explore"
EMBEDDED_AT_ONCE = 2_000
RESAMPLES = 2_000

STARTS = 5
PATH, OWN = 0.7, 0.3
CREATE_NODES = """
UNWIND $rows AS row
CREATE (n:Entity)
SET n = row.properties
WITH n, row
CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
RETURN count(*) AS made
"""


@dataclass(frozen=True)
class Corpus:
    """The graph of one user with its vectors, in one order."""

    user_id: str
    nodes: list[dict[str, Any]]
    relationships: list[dict[str, Any]]
    vectors: Vectors
    node_vectors: Vectors

    def pair_at(self, position: int) -> Pair:
        """The two names of a relationship."""
        line = self.relationships[position]
        return frozenset((line["from"], line["to"]))


class Prototype:
    """Ten lines over all vectors in memory: the baseline of the expansion."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._unit = corpus.vectors / np.linalg.norm(corpus.vectors, axis=1, keepdims=True)
        self._at: dict[str, list[int]] = defaultdict(list)
        for position, line in enumerate(corpus.relationships):
            for name in {line["from"], line["to"]}:
                self._at[name].append(position)

    def find(self, vector: Sequence[float], hops: int) -> list[Pair]:
        """The best relationships after some hops."""
        query = np.asarray(vector, np.float32)
        own = self._unit @ (query / np.linalg.norm(query))
        nearest = np.argsort(-own, kind="stable")[:LIMIT].tolist()
        score = {position: float(own[position]) for position in nearest}
        frontier = nearest[:STARTS]
        for _ in range(hops):
            reached: dict[int, float] = {}
            for lead in frontier:
                for name in self._corpus.pair_at(lead):
                    for position in self._at[name]:
                        blend = PATH * score[lead] + OWN * float(own[position])
                        if position != lead and blend > reached.get(position, -1.0):
                            reached[position] = blend
            score.update({p: s for p, s in reached.items() if s > score.get(p, -1.0)})
            frontier = sorted(reached, key=lambda p: -reached[p])[:STARTS]
        return [self._corpus.pair_at(p) for p in sorted(score, key=lambda p: -score[p])[:LIMIT]]


class Figures:
    """The results of each method, by question."""

    def __init__(self) -> None:
        self.recalls: dict[str, list[list[float]]] = defaultdict(list)
        self.answered: dict[str, list[bool]] = defaultdict(list)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.explored: dict[str, list[tuple[float, float, int]]] = defaultdict(list)

    def add(self, way: str, question: Asked, found: Sequence[Pair], seconds: float) -> None:
        """Add a result, best first."""
        self.seconds[way].append(seconds)
        self.recalls[way].append([len(question.gold & set(found[:k])) / min(k, len(question.gold)) for k in AT])
        names = {name for both in found[:NODES] for name in both}
        self.answered[way].append(bool(names & question.answers))

    def rows(self) -> Iterator[dict[str, object]]:
        """A row for each method."""
        for way, recalls in self.recalls.items():
            means = np.mean(recalls, axis=0)
            yield {
                "method": way,
                **{f"recall@{k}": float(mean) for k, mean in zip(AT, means, strict=True)},
                "an answer@10": float(np.mean(self.answered[way])),
                "p50 ms": 1e3 * p50(self.seconds[way]),
                "p95 ms": 1e3 * p95(self.seconds[way]),
            }

    def explore_rows(self) -> Iterator[dict[str, object]]:
        """A row for each number of hops of explore."""
        for way, explored in self.explored.items():
            nodes, relationships, shown = np.mean(explored, axis=0)
            yield {
                "method": way,
                f"nodes@{NODES}": float(nodes),
                "relationships, all": float(relationships),
                "relationships shown": float(shown),
                "p50 ms": 1e3 * p50(self.seconds[way]),
            }

    def gain(self, way: str, over: str, generator: np.random.Generator) -> dict[str, object]:
        """The recall gain of one method over another, with a 95 % bootstrap interval."""
        differences = np.subtract(self.recalls[way], self.recalls[over])
        drawn = generator.integers(0, len(differences), (RESAMPLES, len(differences)))
        low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975], axis=0)
        return {
            "method": f"{way} - {over}",
            **{
                f"recall@{k}": f"{mean:+.3f} [{least:+.3f}, {most:+.3f}]"
                for k, mean, least, most in zip(AT, differences.mean(axis=0), low, high, strict=True)
            },
        }


async def embed(embedder: Embedder, texts: Sequence[str], cache: Path | None) -> Vectors:
    """Embed texts, or read their vectors from the cache if it contains exactly these."""
    fingerprint = hashlib.sha256("\n".join([str(embedder), *texts]).encode()).hexdigest()
    kept = cached(cache, fingerprint)
    if kept is not None:
        return kept
    parts = [
        np.array(await embedder.embed(texts[first : first + EMBEDDED_AT_ONCE]), np.float32)
        for first in range(0, len(texts), EMBEDDED_AT_ONCE)
    ]
    vectors = np.concatenate(parts)
    if cache is not None:
        np.savez(cache, vectors=vectors, fingerprint=np.array(fingerprint))
    return vectors


def cached(cache: Path | None, fingerprint: str) -> Vectors | None:
    """The vectors of the cache, if it contains exactly those of these texts."""
    if cache is None or not cache.exists():
        return None
    kept = np.load(cache)
    return np.asarray(kept["vectors"], np.float32) if str(kept["fingerprint"]) == fingerprint else None


def parted(lines: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines of nodes, and of relationships."""
    nodes = [line for line in lines if line["kind"] == "node"]
    return nodes, [line for line in lines if line["kind"] == "relationship"]


def text_of(line: Mapping[str, Any]) -> str:
    """The embedding text of a line, as the tools compute it."""
    if line["kind"] == "node":
        return str(line["name"])
    return f"{line['description']} {line['relationship_type']}"


async def corpora(embedder: Embedder, triples: Mapping[str, Sequence[Triple]], cache: Path | None) -> list[Corpus]:
    """The graph of each user, with vectors."""
    lines = {user_id: parted(as_lines(of_user)) for user_id, of_user in triples.items()}
    texts = [text_of(line) for both in lines.values() for part in both for line in part]
    distinct = list(dict.fromkeys(texts))
    vectors = await embed(embedder, distinct, cache)
    at = {text: position for position, text in enumerate(distinct)}
    return [
        Corpus(
            user_id,
            nodes,
            relationships,
            vectors[[at[text_of(line)] for line in relationships]],
            vectors[[at[text_of(line)] for line in nodes]],
        )
        for user_id, (nodes, relationships) in lines.items()
    ]


async def load(store: Store, embedder: Embedder, corpus: Corpus) -> None:
    """Write a graph with its vectors, without the embedder."""
    stamp = {"user_id": corpus.user_id, "embedding_model": embedder.model, "version": 1}
    stamp |= {"created_at": datetime.now(UTC), "updated_at": datetime.now(UTC)}

    def node(line: Mapping[str, Any], vector: Vectors) -> dict[str, Any]:
        properties = {"entity_key": f"{corpus.user_id}:{line['id']}", "name": line["name"], **stamp}
        properties["embedding_hash"] = embedding_hash(embedder, text_of(line))
        return {"properties": properties, "vector": store.vector(as_embedding(vector))}

    def relationship(line: Mapping[str, Any], vector: Vectors) -> dict[str, Any]:
        ends = [f"{corpus.user_id}:{line[end]}" for end in ("from", "to")]
        properties = {"relationship_key": "connected_to:" + ":".join(sorted(ends)), **stamp}
        properties |= {key: line[key] for key in ("description", "relationship_type")}
        properties["embedding_hash"] = embedding_hash(embedder, text_of(line))
        vector_sent = store.vector(as_embedding(vector))
        return {"from_entity_key": ends[0], "to_entity_key": ends[1], "properties": properties, "vector": vector_sent}

    for rows in batches(map(node, corpus.nodes, corpus.node_vectors)):
        await store.write(CREATE_NODES, {"rows": rows})
    for rows in batches(map(relationship, corpus.relationships, corpus.vectors)):
        await store.write(CREATE_RELATIONSHIPS, {"rows": rows})


async def ask(
    graph: KnowledgeGraph, prototype: Prototype, user_id: str, questions: Sequence[Asked], *, defaults_only: bool
) -> Figures:
    """Run every question with every method, or without those that set a number of hops."""
    figures = Figures()
    vectors = await graph.retrieval.embed_queries([question.text for question in questions])
    for question, vector in zip(questions, vectors, strict=True):
        for hops in range(2 if defaults_only else 3):
            way = f"prototype, {counted(hops, 'hop')}" if hops else EXACT
            figures.add(way, question, prototype.find(vector, hops), 0.0)
        result, seconds = await timed(
            graph.retrieval.hybrid_search(HybridSearchOptions(query=question.text), user_id=user_id)
        )
        figures.add(HYBRID, question, [*map(_pair, result.relationships or ())], seconds)
        if not defaults_only:
            await _expand(graph, user_id, question, vector, figures)
    for question in questions:
        for explored_hops in (None,) if defaults_only else (None, 0, 1, 2):
            await _explore(graph, user_id, question, explored_hops, figures)
    return figures


async def _expand(
    graph: KnowledgeGraph, user_id: str, question: Asked, vector: Sequence[float], figures: Figures
) -> None:
    for text in (question.text, None):
        for hops in range(MAX_HOPS + 1 if text else 2):
            matches, seconds = await timed(
                graph.retrieval.relationship_vector_search(
                    text, THRESHOLD, user_id=user_id, limit=LIMIT, vector=vector, expand_hops=hops
                )
            )
            way = f"expand_hops={hops}" + ("" if text else ", vector only")
            figures.add(way, question, [*map(_pair, matches)], seconds)


async def _explore(graph: KnowledgeGraph, user_id: str, question: Asked, hops: int | None, figures: Figures) -> None:
    request = ExploreRequest(queries=(VectorQuery(query=question.text),), expand_hops=hops)
    explored, seconds = await timed(graph.retrieval.explore(request, user_id=user_id))
    way = EXPLORE if hops is None else f"{EXPLORE}, expand_hops={hops}"
    names = {one.node.name.lower() for one in explored.nodes[:NODES]}
    found = [*map(_pair, explored.relationships)]
    right = question.names
    figures.add(way, question, found, seconds)
    figures.explored[way].append(
        (
            len(names & right) / min(NODES, len(right)),
            len(question.gold.intersection(found)) / len(question.gold),
            len(found),
        )
    )


def _pair(one: GraphRelationship) -> Pair:
    return frozenset((one.from_name.lower(), one.to_name.lower()))


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, run the questions, and compute the figures."""
    wiki_triples, wiki_questions = read_twowiki(arguments.twowiki)
    movie_triples, movie_questions = read_metaqa(arguments.metaqa)
    sets = judged({"2wiki": wiki_questions} | {f"metaqa, {h} hops": asked for h, asked in movie_questions.items()})
    settings = Settings()
    embedder = make_embedder(settings)
    triples = {ALL: list(dict.fromkeys([*wiki_triples, *movie_triples])), TWOWIKI: wiki_triples}
    made = await corpora(embedder, triples, arguments.embeddings_cache)
    generator = np.random.default_rng(arguments.seed)
    report: dict[str, object] = {"relationships": len(made[0].relationships), "embedder": str(embedder)}
    async with open_graph(where, embedder, settings, users=list(triples)) as graph:
        if not where.is_loaded:
            for corpus in made:
                await load(services_of(graph).store, embedder, corpus)
            await services_of(graph).store.run_schema("CALL db.awaitIndexes(3600)")
        if where.loaded is not None:
            where.loaded.touch()
        for corpus in made:
            prototype = Prototype(corpus)
            for name, questions in sets.items():
                if corpus.user_id == TWOWIKI and name != "2wiki":
                    continue
                title = f"{name}, {len(corpus.relationships):,} relationships"
                asked = questions[: arguments.questions]
                figures = await ask(graph, prototype, corpus.user_id, asked, defaults_only=arguments.defaults_only)
                rows = [*figures.rows()]
                show(f"{title}, {len(asked)} questions", rows)
                compared = [
                    way for way in ("expand_hops=1", "expand_hops=2", HYBRID, EXPLORE) if way in figures.recalls
                ]
                gains = [figures.gain(way, "prototype, 1 hop", generator) for way in compared]
                show("with bootstrap intervals", gains)
                explored = [*figures.explore_rows()]
                show("explore, with the embedding of the question", explored)
                report[title] = {"questions": len(asked), "ways": rows, "gains": gains, "explore": explored}
    await embedder.aclose()
    return report


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    add_question_sets(arguments)
    arguments.add_argument("--embeddings-cache", type=Path, help=".npz file that keeps the vectors for the next run")
    arguments.add_argument("--questions", type=int, default=250, help="maximum number of questions of each set")
    arguments.add_argument("--keep", type=Path, help="folder that keeps the loaded server for the next run")
    arguments.add_argument("--defaults-only", action="store_true", help="omit searches with another number of hops")
    arguments.add_argument("--markdown", type=Path, help="file that the tables are written to")
    chosen = arguments.parse_args()
    with kept_server(chosen.keep) if chosen.keep else server(chosen.uri) as where:
        figures = asyncio.run(run(chosen, where))
    if chosen.markdown:
        chosen.markdown.write_text(as_markdown(figures, chosen.questions), "utf-8")
    finish(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
