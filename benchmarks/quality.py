"""The quality of the default search, one row for each set of questions, on graphs in memory.

    python benchmarks/quality.py --data FOLDER --embeddings-cache FILE.npz --markdown
    docs/quality.md

FOLDER contains 2wiki, metaqa, wc2014 and memory42; without it, only the sets from the sample graph
are measured. Figures are those of the halves of the sets that `fit_weights.py` does not use
(`--half all` takes all questions); `ABOUT` says what they are.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from _common import finish, show
from _quality_sets import Asked, QualitySet, read_sets
from _replay import (
    EmbeddingCache,
    FullText,
    MadeGraph,
    ReplayStore,
    Vectors,
    replay,
    without_marks,
)

from kgagent import HybridSearchRequest, Settings
from kgagent.answers.found import FIRST_PAGE_TOKENS, first_page
from kgagent.answers.items import RenderState
from kgagent.answers.page import text_page
from kgagent.answers.token_budget import estimated_tokens
from kgagent.embedding.factory import make_embedder
from kgagent.evaluation import place_of, shares
from kgagent.graph.lucene import any_word
from kgagent.models.hybrid import HybridSearchResult
from kgagent.search import RetrievalService
from kgagent.search.search import READ
from kgagent.tools.hybrid_search import found_content, found_items
from kgagent.tools.read_results import DEFAULT_TOKEN_BUDGET

CUTS = (250, 500, 1_000, 2_000)
AT = 10
PEOPLE_AT = 16
BASELINE_LINES = 60
BM25_WEIGHT = 0.2
ABOUT = """recall: share of the relationships of the best alternative answer among the first 10 relationships.
R-precision: the same among as many relationships as the answer has. names: share of the expected people among the ends
of the first 16 items. @250 to @2000: share of the expected people, or of a question's evidence, within the first tokens
(as budgets count them, about 1.5 of a usual model's) that a model reads, the first page and then the next one, as
`kgagent eval` measures it; and the tokens of the first page. "single statements" is the same for the 60 best notes and
descriptions by cosine + 0.2 BM25, with the names of their nodes, each by itself. flagged: share of unanswerable
questions that are flagged, and of answerable ones that are."""
"""What the figures are."""

PAGE = """# Quality of the default search

{about}

Measured with the defaults and {embedder}, on {half} of each set, at most {questions} questions of each, by
`benchmarks/quality.py`: the search itself runs on a store in memory that answers its statements with exact vectors.
`benchmarks/fit_weights.py` fits weights on the other half of each set. The present weights are round numbers that were
chosen with a prototype on those halves; the odds of relevance were fitted on them.

{table}
"""

Figures = dict[str, float]


def recall(asked: Asked, result: HybridSearchResult, *, at: int | None = AT) -> float:
    """Recall of the best alternative; without `at`, R-precision."""
    pairs = [
        frozenset((one.from_name.lower(), one.to_name.lower()))
        for one in result.relationships or ()
    ]
    recalls = []
    for gold in asked.answers:
        first = at or len(gold)
        recalls.append(len(gold & set(pairs[:first])) / min(first, len(gold)))
    return max(recalls)


def name_share(asked: Asked, result: HybridSearchResult) -> float:
    """Share of the expected names among the first items."""
    names: set[str] = set()
    for item in result.items[:PEOPLE_AT]:
        names |= {item.name} if hasattr(item, "name") else {item.from_name, item.to_name}
    return len(asked.names & names) / len(asked.names)


def evidence_shares(wanted: Iterable[str], page: str) -> list[float]:
    """Share of the wanted names or ids of turns within the first tokens, ids at the end of
    statements not counted; and the number of tokens.
    """

    def tokens(text: str) -> float:
        return estimated_tokens(without_marks(text))

    return [*shares([place_of(page, [one], tokens) for one in wanted], CUTS), tokens(page)]


def pages_of(result: HybridSearchResult) -> tuple[str, str]:
    """The first page as the tool renders it, and the next one."""
    now = datetime.now(UTC)
    items = found_items(result, now)
    first, rest = (
        found_content(result, items, at_most=first_page(items)),
        found_content(result, items),
    )

    def state() -> RenderState:
        return RenderState(
            now,
            labels=result.labels,
            node_hint="get_relationship of it alone",
            relationship_hint="get_relationship",
        )

    page = text_page(first, state, FIRST_PAGE_TOKENS, cursor=lambda end: f"{end}-a1b2c3")
    end = page.payload.get("next_cursor", "").partition("-")[0]
    if not end:
        return page.text, ""
    return page.text, text_page(rest, state, DEFAULT_TOKEN_BUDGET, offset=int(end)).text


class Measured:
    """Runs the questions of a set."""

    def __init__(self, service: RetrievalService, store: ReplayStore) -> None:
        self.service, self.store = service, store

    async def search(self, question: str, vector: Vectors) -> HybridSearchResult:
        """The default search."""
        request = HybridSearchRequest(query=question, limit=READ, with_ends=False)
        return await self.service.hybrid_search(request, user_id="quality", vector=vector.tolist())

    async def run(self, asked: QualitySet, questions: Sequence[Asked], vectors: Vectors) -> Figures:
        """Figures of a set."""
        rows: list[list[float]] = []
        flagged: dict[bool, list[bool]] = {True: [], False: []}
        statements, began = len(self.store.statements), time.process_time()
        for question, vector in zip(questions, vectors, strict=True):
            result = await self.search(question.text, vector)
            if asked.measure in {"recall", "R-precision"}:
                rows.append(
                    [recall(question, result, at=AT if asked.measure == "recall" else None)]
                )
            elif asked.measure == "names":
                within = evidence_shares(question.names, "\n".join(pages_of(result)))
                rows.append([name_share(question, result), *within])
            elif asked.measure == "evidence":
                page, following = pages_of(result)
                *within, _ = evidence_shares(question.turns, f"{page}\n{following}")
                rows.append([*within, evidence_shares(question.turns, page)[-1]])
            else:
                flagged[question.is_answerable].append(result.is_relevant is False)
        figures: Figures = {}
        if rows:
            means = np.mean(rows, axis=0).tolist()
            columns = [] if asked.measure == "evidence" else [asked.measure]
            if asked.measure in {"evidence", "names"}:
                columns += [f"@{cut}" for cut in CUTS]
            figures |= dict(zip(columns, means, strict=False))
        if asked.measure == "evidence":
            figures["page p50, tokens"] = float(np.median([row[-1] for row in rows]))
        if asked.measure == "flagged":
            figures |= {
                "unanswerable": float(np.mean(flagged[False])),
                "answerable": float(np.mean(flagged[True])),
            }
        count = len(questions)
        figures["statements"] = (len(self.store.statements) - statements) / count
        figures["CPU ms"] = 1e3 * (time.process_time() - began) / count
        return figures


async def baseline(
    graph: MadeGraph, questions: Sequence[Asked], vectors: Vectors, cache: EmbeddingCache
) -> Figures:
    """Evidence in the best statements, each by itself: cosine + 0.2 BM25 relative to its best."""
    statements = graph.statements()
    texts = [without_marks(text) for text in statements]
    embedded, words = (
        await cache.embed(texts),
        FullText([{"text": text} for text in texts], ["text"]),
    )
    rows = []
    for question, vector in zip(questions, vectors, strict=True):
        scores = embedded @ vector
        hits = words.search(any_word(question.text, {"text": 1.0}) or "", len(texts))
        for position, score in hits:
            scores[position] += BM25_WEIGHT * score / hits[0][1]
        nearest = np.argsort(-scores, kind="stable")[:BASELINE_LINES]
        rows.append(evidence_shares(question.turns, "\n".join(statements[i] for i in nearest)))
    columns = [*(f"@{cut}" for cut in CUTS), "page p50, tokens"]
    values = [*np.mean(rows, axis=0).tolist()[:-1], float(np.median([row[-1] for row in rows]))]
    return {**dict(zip(columns, values, strict=True)), "statements": 0.0, "CPU ms": 0.0}


async def run(arguments: argparse.Namespace) -> dict[str, Figures]:
    """Measure all sets."""
    embedder = make_embedder(Settings())
    cache = EmbeddingCache(embedder, arguments.embeddings_cache)
    sets = read_sets(arguments.data)
    figures: dict[str, Figures] = {}
    for name, graph in sets.graphs.items():
        if not any(one.graph == name and arguments.only in one.name for one in sets.sets):
            continue
        service, store = await replay(graph, embedder, cache)
        for asked in (one for one in sets.sets if one.graph == name and arguments.only in one.name):
            questions = asked.half(arguments.half)[: arguments.questions]
            vectors = await cache.embed([one.text for one in questions], are_queries=True)
            figures[asked.name] = await Measured(service, store).run(asked, questions, vectors)
            if asked.measure == "evidence":
                figures[f"{asked.name}, single statements"] = await baseline(
                    graph, questions, vectors, cache
                )
    return figures


def table(figures: Mapping[str, Figures]) -> list[dict[str, object]]:
    """A row for each set."""
    rows: list[dict[str, object]] = []
    for name, of_set in figures.items():
        values = {
            key: value for key, value in of_set.items() if key not in {"statements", "CPU ms"}
        }
        quality = " / ".join(
            f"{value:.3f}" if value <= 1.0 else f"{value:.0f}" for value in values.values()
        )
        costs = {key: round(of_set[key], 1) for key in ("statements", "CPU ms")}
        rows.append({"set": name, "figures": ", ".join(values), "quality": quality, **costs})
    return rows


def markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """The rows as a table in Markdown."""
    columns = list(rows[0])
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(str(row[column]) for column in columns) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with 2wiki, metaqa, wc2014 and memory42")
    parser.add_argument(
        "--embeddings-cache", type=Path, help="file that keeps the embeddings for the next run"
    )
    parser.add_argument(
        "--half",
        choices=("held", "fit", "all"),
        default="held",
        help="of the questions of each set",
    )
    parser.add_argument("--questions", type=int, default=100, help="at most so many of each set")
    parser.add_argument("--only", default="", help="only sets with this text in their names")
    parser.add_argument("--markdown", type=Path, help="file to write the table to")
    parser.add_argument("--json", action="store_true", help="print the figures as one line of JSON")
    arguments = parser.parse_args()
    figures = asyncio.run(run(arguments))
    rows = table(figures)
    show("Quality of the default search", rows)
    if arguments.markdown:
        page = PAGE.format(
            about=ABOUT,
            embedder=make_embedder(Settings()),
            half={
                "held": "the half that `fit_weights.py` does not use",
                "fit": "the half that weights are fitted on",
            }.get(arguments.half, "all questions"),
            questions=arguments.questions,
            table=markdown(rows),
        )
        # What other benchmarks measure has sections of its own.
        others = arguments.markdown.read_text("utf-8").partition("\n## ")[1:]
        arguments.markdown.write_text(page + "".join(others), "utf-8")
    if arguments.json:
        finish({"figures": json.dumps(figures)}, as_json=True)


if __name__ == "__main__":
    main()
