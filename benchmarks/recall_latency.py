"""The curve of recall against latency for several index configurations.

    python benchmarks/recall_latency.py --relationships 100000 --metaqa /path/to/metaqa --svg
    curve.svg --json

For each index configuration and oversampling, kgagent runs the questions in rotating order, as does
an exact search of all vectors of the user. On MetaQA it uses the questions that the defaults were
tuned on; `scoped_search.py` uses the others.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from _asking import LIMIT, WARM_UP, Ask, Ends, Measured, compare, nearest
from _common import Server, finish, open_graph, p50, p95, parser, server, show
from _made_graph import Content, Owner, Vectors, as_embedding, load_then_index, scoped_owners
from _vectors import Corpus, MetaQA, made

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of

DIMENSIONS = 384
EXACT_QUESTIONS = 10
EXACT = "exact"
WIDTH, HEIGHT, MARGIN = 640, 400, 60
FONT = 'font-family="sans-serif" font-size="11"'
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


@dataclass(frozen=True)
class Point:
    """One configuration: the index options, and the number of candidates."""

    index: str
    oversampling: int | None
    p50_ms: float
    p95_ms: float
    recall: float
    min_recall: float

    @classmethod
    def of(cls, index: str, oversampling: int | None, measured: Measured) -> "Point":
        """Compute the figures."""
        return cls(
            index,
            oversampling,
            round(1e3 * p50(measured.seconds), 3),
            round(1e3 * p95(measured.seconds), 3),
            round(measured.recall, 4),
            min(measured.recalls),
        )


def searcher(graph: KnowledgeGraph, settings: Settings) -> Ask:
    """Kgagent's search under some settings."""
    searched = KnowledgeGraph(services_of(graph).store, graph.ontology, graph.embedder, settings)

    async def ask(owner: Owner, query: Vectors) -> list[Ends]:
        matches = await searched.retrieval.relationship_vector_search(
            vector=as_embedding(query), threshold=-1.0, user_id=owner.user_id, limit=LIMIT
        )
        return [(match.from_entity_key, match.to_entity_key) for match in matches]

    return ask


def index_settings(text: str) -> Settings:
    """Settings of an index from its command-line form
    quantization/m/ef_construction/search_expansion.
    """
    quantization, m, ef_construction, expansion = text.split("/")
    return Settings().model_copy(
        update={
            "index_quantization": quantization,
            "index_m": int(m),
            "index_ef_construction": int(ef_construction),
            "index_search_expansion": float(expansion),
        }
    )


async def measure(arguments: argparse.Namespace, where: Server, corpus: Corpus) -> list[Point]:
    """Load once, then create each index in turn and run the questions."""
    everyone = scoped_owners(f"benchmark{arguments.seed}", len(corpus.vectors))
    owner, dimensions = everyone[0], corpus.vectors.shape[1]
    embedder = HashingEmbedder(dimensions)
    questions = [
        (owner, query, nearest(owner, corpus.vectors, query)) for query in corpus.questions
    ]
    points: list[Point] = []
    async with AsyncExitStack() as stack:
        for number, index in enumerate(arguments.indexes):
            settings = index_settings(index).model_copy(update={"exact_scan_limit": 0})
            graph = await stack.enter_async_context(
                open_graph(where, embedder, settings, users=[owner.user_id for owner in everyone])
            )
            if number == 0:
                await load_then_index(
                    graph, embedder, Content(everyone, corpus.vectors, corpus.texts)
                )
            else:
                await services_of(graph).schema.rebuild_vector_indexes()
            names = {n: f"{index} oversampling {n}" for n in arguments.oversampling}
            ways = {
                name: searcher(graph, settings.model_copy(update={"oversampling": n}))
                for n, name in names.items()
            }
            measured = await compare(ways, questions)
            points += [Point.of(index, n, measured[name]) for n, name in names.items()]
        every = searcher(
            graph, settings.model_copy(update={"exact_scan_limit": len(corpus.vectors)})
        )
        warm_up = 2
        exact = await compare(
            {EXACT: every}, questions[: EXACT_QUESTIONS + warm_up], warm_up=warm_up
        )
        points.append(Point.of(EXACT, None, exact[EXACT]))
    return points


def drawn(points: Sequence[Point], title: str) -> str:
    """The curve as SVG: recall upwards, milliseconds to the right, one line for each index."""
    indexed = [point for point in points if point.oversampling is not None]
    slowest = max(point.p50_ms for point in indexed) * 1.05
    least = min(point.recall for point in indexed)
    floor = max(0.0, least - 0.1 * (1.0 - least) - 1e-3)

    def x(milliseconds: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * milliseconds / slowest

    def y(recall: float) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (recall - floor) / (1.0 - floor)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="24" font-size="14">{title}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 16}">p50, milliseconds</text>',
    ]
    for step in range(6):
        milliseconds, recall = slowest * step / 5, floor + (1.0 - floor) * step / 5
        parts += [
            f'<text x="{x(milliseconds):.0f}" y="{HEIGHT - MARGIN + 18}">{milliseconds:.1f}</text>',
            f'<text x="8" y="{y(recall) + 4:.0f}">{recall:.3f}</text>',
            f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y(recall):.1f}" y2="{y(recall):.1f}" '
            f'stroke="#ddd"/>',
        ]
    for number, index in enumerate(dict.fromkeys(point.index for point in indexed)):
        color = COLORS[number % len(COLORS)]
        own = [point for point in indexed if point.index == index]
        line = " ".join(f"{x(point.p50_ms):.1f},{y(point.recall):.1f}" for point in own)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for point in own:
            at = f'cx="{x(point.p50_ms):.1f}" cy="{y(point.recall):.1f}"'
            parts.append(
                f'<circle {at} r="3" fill="{color}"><title>oversampling '
                f"{point.oversampling}</title></circle>"
            )
        parts.append(
            f'<text x="{WIDTH - 200}" y="{HEIGHT - MARGIN - 12 - 14 * number}" '
            f'fill="{color}">{index}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    """Run from the command line."""
    chosen = Settings()
    own = f"{chosen.index_quantization}/{chosen.index_m}/{chosen.index_ef_construction}/{chosen.index_search_expansion:g}"
    arguments = parser(__doc__)
    arguments.add_argument(
        "--relationships", type=int, default=10_000, help="in all; one user has half of them"
    )
    arguments.add_argument(
        "--dimensions", type=int, default=DIMENSIONS, help="length of made vectors"
    )
    arguments.add_argument(
        "--metaqa", type=Path, help="folder with kb.txt and questions.jsonl; else made vectors"
    )
    arguments.add_argument(
        "--embeddings-cache", type=Path, help=".npy file that keeps the embeddings of kb.txt"
    )
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument(
        "--indexes",
        type=lambda text: text.split(","),
        default=[own, "binary/16/100/3"],
        help="quantization/m/ef_construction/search_expansion, one or several; the chosen one and Neo4j's default",
    )
    arguments.add_argument(
        "--oversampling",
        type=lambda text: [int(n) for n in text.split(",")],
        default=[1, 5, 10, 25, 50, 100],
    )
    arguments.add_argument("--svg", type=Path, help="file to draw the curve into")
    asked = arguments.parse_args()
    questions = asked.questions + WARM_UP
    if asked.metaqa:
        text = MetaQA(asked.metaqa, asked.embeddings_cache)
        corpus = text.corpus(asked.seed, asked.relationships, questions, judging=False)
    else:
        corpus = made(asked.seed, asked.dimensions, asked.relationships, questions)
    with server(asked.uri) as where:
        points = asyncio.run(measure(asked, where, corpus))
    title = f"{len(corpus.vectors):,} relationships ({corpus.source}) x {corpus.vectors.shape[1]:,}"
    show(title, [{**vars(point), "oversampling": point.oversampling or "-"} for point in points])
    if asked.svg:
        asked.svg.write_text(drawn(points, title), encoding="utf-8")
    finish(
        {
            "relationships": len(corpus.vectors),
            "dimensions": corpus.vectors.shape[1],
            "vectors": corpus.source,
            "points": [vars(point) for point in points],
        },
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
