"""Fusion compared with its parts, and how often a search says that nothing relevant was found.

    python benchmarks/fusion.py --twowiki DIR --metaqa DIR --embeddings-cache FILE.npz --json

One user owns the triples of 2WikiMultihopQA, another those that answer some questions of MetaQA among random others,
and a third the sample graph. The constants were tuned on random halves of these
sets, which were not the halves that are shown.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _common import Server, finish, open_graph, parser, server, show
from _multi_hop_data import Asked, metaqa_questions, read_metaqa, read_twowiki
from _off_topic import ANSWERABLE, OFF_TOPIC
from _questions import Pair, Triple, add_question_sets, pair
from multi_hop import corpora, load

from kgagent import ExploreRequest, HybridSearchOptions, KnowledgeGraph, Settings, VectorQuery
from kgagent.cli.demo.sample import questions as sample_questions
from kgagent.cli.demo.sample import sample_file
from kgagent.embedding.factory import make_embedder
from kgagent.knowledge_graph import services_of
from kgagent.models.hybrid import FusionStrategy

TWOWIKI, METAQA, SAMPLE = "benchmark-fusion-2wiki", "benchmark-fusion-metaqa", "benchmark-fusion-sample"
AT = (1, 3, 5, 10, 20)
LIMIT = 60
UNANSWERABLE = 200
MAX_GOLD = 40
STRATEGIES: tuple[FusionStrategy, ...] = ("rrf", "calibrated")
NODES_OF_RELATIONSHIPS = "nodes of relationships"
Found = dict[str, tuple[Sequence[Pair], Sequence[str]]]


@dataclass(frozen=True)
class Movies:
    """A part of MetaQA: its triples, questions by hops, and questions about entities that it does not have."""

    triples: list[Triple]
    asked: dict[str, list[Asked]]
    unanswerable: list[str]


def movies(folder: Path, *, triples: int, questions: int, seed: int) -> Movies:
    """Draw a part of MetaQA."""
    generator = np.random.default_rng(seed)
    every, by_hops = read_metaqa(folder)
    chosen = {f"metaqa, {hops} hops": _drawn(asked, questions, generator) for hops, asked in by_hops.items()}
    gold = {both for asked in chosen.values() for one in asked for both in one.gold}
    known = {name for both in gold for name in both}
    single = [one for one in metaqa_questions(folder) if one.hops == 1 and one.seed.lower() not in known]
    unanswerable = [single[i] for i in generator.permutation(len(single))[:UNANSWERABLE]]
    absent = {one.seed.lower() for one in unanswerable}
    kept = [triple for triple in every if pair(triple) in gold]
    others = [triple for triple in every if pair(triple) not in gold and pair(triple).isdisjoint(absent)]
    kept += [others[i] for i in generator.permutation(len(others))[: max(0, triples - len(kept))]]
    return Movies(kept, chosen, [one.text for one in unanswerable])


def _drawn(asked: Sequence[Asked], count: int, generator: np.random.Generator) -> list[Asked]:
    order = generator.permutation(len(asked))
    return [asked[i] for i in order if len(asked[i].gold) <= MAX_GOLD][:count]


async def ask(graph: KnowledgeGraph, user_id: str, text: str) -> tuple[Found, bool | None]:
    """Pairs of names of the relationships, and names of the nodes, that each method finds; and if any is relevant."""
    retrieval = graph.retrieval
    [vector] = await retrieval.embed_queries([text])
    alone = await retrieval.relationship_vector_search(
        text, -1.0, user_id=user_id, vector=vector, limit=LIMIT, expand_hops=None
    )
    nodes = await retrieval.node_vector_search(vector=vector, threshold=-1.0, user_id=user_id, limit=max(AT))
    ends = dict.fromkeys(name.lower() for one in alone for name in (one.from_name, one.to_name))
    found: Found = {
        "relationships alone": ([_names(one.from_name, one.to_name) for one in alone], ()),
        NODES_OF_RELATIONSHIPS: ((), list(ends)),
        "nodes alone": ((), [one.node.name.lower() for one in nodes]),
    }
    is_relevant = None
    for strategy in STRATEGIES:
        options = HybridSearchOptions(query=text, threshold=-1.0, limit=LIMIT, strategy=strategy)
        result = await retrieval.hybrid_search(options, user_id=user_id, vector=vector)
        pairs = [_names(one.from_name, one.to_name) for one in result.relationships or ()]
        found[strategy] = (pairs, [one.name.lower() for one in result.objects])
        is_relevant = result.is_relevant
    return found, is_relevant


def _names(first: str, second: str) -> Pair:
    return frozenset((first.lower(), second.lower()))


def recalls(gold: frozenset[object], found: Sequence[object]) -> list[float]:
    """Share of gold among the first k, relative to at most k."""
    return [len(gold & set(found[:k])) / min(k, len(gold)) for k in AT]


async def measure(graph: KnowledgeGraph, user_id: str, asked: Sequence[Asked]) -> tuple[list[dict[str, object]], float]:
    """Recall of each method on some questions, and the share of them for which nothing relevant was found."""
    figures: dict[str, list[list[float]]] = {}
    flagged = []
    for question in asked:
        found, is_relevant = await ask(graph, user_id, question.text)
        flagged.append(is_relevant is False)
        entities = frozenset(name for both in question.gold for name in both)
        for way, (pairs, names) in found.items():
            row = [*recalls(frozenset(question.gold), pairs), *recalls(entities, names)]
            figures.setdefault(way, []).append(row)
    means = {way: np.mean(rows, axis=0) for way, rows in figures.items()}
    columns = [f"{kind}@{k}" for kind in ("r", "n") for k in AT]
    rows: list[dict[str, object]] = [
        {"method": way, **dict(zip(columns, map(float, mean), strict=True))} for way, mean in means.items()
    ]
    best = np.max([means[way] for way in means if way not in STRATEGIES], axis=0)
    gap = means["calibrated"] - best
    rows.append({"method": "calibrated - best part", **dict(zip(columns, map(float, gap), strict=True))})
    return rows, float(np.mean(flagged))


async def share_flagged(graph: KnowledgeGraph, user_id: str, texts: Sequence[str]) -> dict[str, float]:
    """Share of questions for which a search says that nothing relevant was found."""
    retrieval = graph.retrieval
    hybrid = [(await retrieval.hybrid_search(HybridSearchOptions(query=t), user_id=user_id)).is_relevant for t in texts]
    explored = [
        (await retrieval.explore(ExploreRequest(queries=(VectorQuery(query=t),)), user_id=user_id)).is_relevant
        for t in texts
    ]
    return {"hybrid_search": hybrid.count(False) / len(texts), "explore": explored.count(False) / len(texts)}


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, run the questions, and compute the figures."""
    wiki, wiki_asked = read_twowiki(arguments.twowiki)
    film = movies(arguments.metaqa, triples=arguments.triples, questions=arguments.questions, seed=arguments.seed)
    sets: Mapping[str, tuple[str, list[Asked]]] = {
        "2wiki": (TWOWIKI, wiki_asked),
        **{name: (METAQA, asked) for name, asked in film.asked.items()},
    }
    settings = Settings()
    embedder = make_embedder(settings)
    made = await corpora(embedder, {TWOWIKI: wiki, METAQA: film.triples}, arguments.embeddings_cache)
    report: dict[str, object] = {"embedder": str(embedder)}
    async with open_graph(where, embedder, settings, users=[TWOWIKI, METAQA, SAMPLE]) as graph:
        for corpus in made:
            await load(services_of(graph).store, embedder, corpus)
        with sample_file() as path:
            await graph.load(path, user_id=SAMPLE)
        for name, (user_id, asked) in sets.items():
            for half, part in (("first half", asked[::2]), ("second half", asked[1::2])):
                rows, flagged = await measure(graph, user_id, part[: arguments.limit])
                show(f"{name}, {half}, {len(rows)} methods; nothing relevant: {flagged:.3f}", rows)
                report[f"{name}, {half}"] = {"rows": rows, "flagged": flagged}
        answerable = [*(one.question for one in sample_questions()), *ANSWERABLE]
        for title, user_id, texts in (
            ("sample graph, answerable", SAMPLE, answerable),
            ("sample graph, off topic", SAMPLE, OFF_TOPIC),
            ("metaqa, entity not in the graph", METAQA, film.unanswerable[: arguments.limit]),
        ):
            shares = await share_flagged(graph, user_id, texts)
            show(f"Nothing relevant found: {title}, {len(texts)} questions", [shares])
            report[title] = shares
    await embedder.aclose()
    return report


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    add_question_sets(arguments)
    arguments.add_argument("--embeddings-cache", type=Path, help=".npz file that keeps the vectors for the next run")
    arguments.add_argument("--triples", type=int, default=10_000, help="of MetaQA")
    arguments.add_argument("--questions", type=int, default=150, help="of MetaQA, for each number of hops")
    arguments.add_argument("--limit", type=int, default=250, help="maximum number of questions of each half")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
