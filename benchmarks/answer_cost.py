"""What an answer costs: tokens of each tool and format, and how much of the evidence their beginning contains.

    python benchmarks/answer_cost.py --twowiki path/to/2wiki --metaqa path/to/metaqa --markdown docs/answer-cost.md

Each question is asked with every tool as a model calls it; what the model would read is counted. Other toolkits answer
the same questions on the same triples and embeddings, each on its own server; one that is not installed is skipped
(`pip install -e ".[bench]"`). `--keep` and `--embeddings-cache` make the next run faster.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _answer_page import as_markdown
from _answer_text import AnswerText, share_contained
from _common import Server, finish, kept_server, open_graph, parser, server, show
from _multi_hop_data import metaqa_sample
from _questions import Question, QuestionSet, Triple, as_lines, meta_qa, pair, two_wiki
from _remembered import RememberedEmbedder
from _toolkits import Peer, installed_peers
from mcp import Client

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import make_server
from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import make_embedder
from kgagent.tools.toolsets import ALL

USER = "benchmark-answer-cost"
WITHIN = (250, 500, 1_000, 2_000)
DEFAULT_BUDGET = 2_000
MOST_GOLD = 12
QUESTIONS = 500
TOOLSETS = ("core", ALL)
FORMATS = ("text", "json")

Row = dict[str, object]
Read = Callable[[Question], Awaitable[str]]


@dataclass(frozen=True)
class Way:
    """A way to answer a question.

    Attributes:
        name: the tool, or the search of another toolkit.
        format: of the answer.
        read: returns what a model reads.
        budget: tokens that an answer may have; None if it has no bound.
    """

    name: str
    format: str
    read: Read
    budget: int | None = None


@dataclass(frozen=True)
class Aim:
    """A share of the evidence of 2Wiki that the beginning of an answer must contain."""

    name: str
    within: int
    share: float


AIMS = (Aim("hybrid_search", 500, 0.95), Aim("explore", 1_000, 0.96))


def ways_of_kgagent(graph: KnowledgeGraph, formats: Sequence[str]) -> list[Way]:
    """The tools that answer a question, as a model calls them."""
    tools = graph.tools(user_id=USER)
    arguments: dict[str, Callable[[Question], dict[str, Any]]] = {
        "hybrid_search": lambda question: {"query": question.text},
        "explore": lambda question: {"queries": [{"query": question.text}]},
    }

    def way(tool: str, form: str, budget: int | None) -> Way:
        more: dict[str, object] = {} if form == "text" else {"format": form}
        if budget is not None:
            more["token_budget"] = budget

        async def read(question: Question) -> str:
            answer = await tools[tool].call_text({**arguments[tool](question), **more})
            if answer.is_error:
                raise SystemExit(f"{tool}: {answer.text}")
            return answer.text

        name = tool if budget is None else f"{tool}, token_budget={budget}"
        return Way(name, form, read, budget or DEFAULT_BUDGET)

    budgets = {"hybrid_search": (None, 500), "explore": (None, 1_000)}
    return [way(tool, form, budget) for tool in arguments for form in formats for budget in budgets[tool]]


def ways_of_peer(peer: Peer, embedder: Embedder) -> list[Way]:
    """What another toolkit gives to a model."""

    def way(name: str, form: str) -> Way:
        async def read(question: Question) -> str:
            [vector] = await embedder.embed_queries([question.text])
            return await peer.texts[name, form](question.text, list(vector))

        return Way(name, form, read)

    return [way(name, form) for name, form in peer.texts]


async def measure(way: Way, questions: Sequence[Question]) -> Row:
    """Ask every question in one way."""
    tokens: list[int] = []
    shares: dict[int, list[float]] = defaultdict(list)
    in_all: list[float] = []
    for question in questions:
        answer = AnswerText(await way.read(question))
        tokens.append(answer.tokens)
        in_all.append(share_contained(answer.text, question.evidence))
        for within in WITHIN:
            shares[within].append(share_contained(answer.first(within), question.evidence))
    return {
        "search": way.name,
        "format": way.format,
        "tokens p50": int(np.quantile(tokens, 0.50)),
        "tokens p95": int(np.quantile(tokens, 0.95)),
        "tokens max": max(tokens),
        "over budget": "-" if way.budget is None else sum(count > way.budget for count in tokens),
        **{f"evidence@{within}": float(np.mean(shares[within])) for within in WITHIN},
        "evidence": float(np.mean(in_all)),
    }


async def run_kgagent(
    where: Server, asked: QuestionSet, embedder: Embedder, formats: Sequence[str]
) -> tuple[list[Row], dict[str, int]]:
    """Load the triples unless they are, run the questions, and list the tools."""
    async with open_graph(where, embedder, Settings(), users=[USER]) as graph:
        if not where.is_loaded:
            await _load(graph, asked.triples)
            _mark_loaded(where)
        rows = [await measure(way, asked.questions) for way in ways_of_kgagent(graph, formats)]
        return rows, {toolset: await definition_characters(graph, toolset) for toolset in TOOLSETS}


async def _load(graph: KnowledgeGraph, triples: Sequence[Triple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "triples.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in as_lines(triples)), "utf-8")
        report = await graph.load(path, user_id=USER)
    if report.problems:
        raise SystemExit("Not all could be loaded: " + "; ".join(map(str, report.problems[:5])))


async def definition_characters(graph: KnowledgeGraph, toolset: str) -> int:
    """Characters of the tool definitions that an MCP client receives."""
    async with Client(make_server(graph, lambda _: USER, toolsets=[toolset])) as client:
        tools = (await client.list_tools()).tools
    return sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools)


async def run_peer(where: Server, peer: Peer, asked: QuestionSet, embedder: Embedder) -> list[Row]:
    """Load the triples into a peer unless they are, and run the questions."""
    if not where.is_loaded:
        await peer.load(asked.triples, embedder)
        _mark_loaded(where)
    rows = [await measure(way, asked.questions) for way in ways_of_peer(peer, embedder)]
    await peer.close()
    return rows


async def run(chosen: argparse.Namespace, sets: Sequence[QuestionSet]) -> dict[str, object]:
    """Every toolkit on every set."""
    embedder = RememberedEmbedder(make_embedder(Settings()))
    if chosen.embeddings_cache:
        embedder.read(chosen.embeddings_cache)
    peers = [] if chosen.no_peers else list(installed_peers())
    figures: dict[str, object] = {"embedder": str(embedder)}
    try:
        for asked in sets:
            with _server_of(chosen, "kgagent", asked) as where:
                rows, figures["definitions, characters"] = await run_kgagent(where, asked, embedder, chosen.formats)
            for peer in peers:
                with _server_of(chosen, str(getattr(peer, "__name__", "")), asked) as where:
                    rows += await run_peer(where, peer(where), asked, embedder)
            show(f"{asked.name}: {len(asked.questions)} questions, {len(asked.triples):,} triples", rows)
            figures[asked.name] = {"questions": len(asked.questions), "triples": len(asked.triples), "ways": rows}
    finally:
        if chosen.embeddings_cache:
            embedder.write(chosen.embeddings_cache)
    return figures


@contextmanager
def _server_of(chosen: argparse.Namespace, toolkit: str, asked: QuestionSet) -> Iterator[Server]:
    """A server for one toolkit and one graph; the next run with the same graph finds it loaded."""
    if chosen.keep is None:
        with server(chosen.uri) as where:
            yield where
        return
    content = hashlib.sha256(repr(asked.triples).encode()).hexdigest()[:12]
    with kept_server(chosen.keep / f"{toolkit}-{content}") as where:
        yield where


def _mark_loaded(where: Server) -> None:
    if where.loaded is not None:
        where.loaded.touch()


def aims_met(figures: Mapping[str, Any]) -> list[Row]:
    """The aims on 2Wiki, with what was measured."""
    rows = {(row["search"], row["format"]): row for row in figures["2wiki"]["ways"]}
    return [
        {
            "aim": f"{aim.name}: evidence@{aim.within}",
            "at least": aim.share,
            "measured": (measured := rows[aim.name, "text"][f"evidence@{aim.within}"]),
            "met": measured >= aim.share,
        }
        for aim in AIMS
    ]


def sets_of(chosen: argparse.Namespace) -> list[QuestionSet]:
    """The questions; each keeps the evidence that is in the graph, which has no relationship of a node with itself."""
    sets = [two_wiki(chosen.twowiki)] if chosen.twowiki else []
    if chosen.metaqa:
        count = min(chosen.questions, chosen.metaqa_questions)
        sizes = {"triples": chosen.triples, "questions": count, "seed": chosen.seed}
        sets += [
            meta_qa(chosen.metaqa, **sizes),
            metaqa_sample(chosen.metaqa, 2, most_gold=MOST_GOLD, **sizes),
        ]
    if not sets:
        raise SystemExit("Name the data: --twowiki FOLDER, --metaqa FOLDER, or both")
    return [replace(one, questions=tuple(_answerable(one.questions))[: chosen.questions]) for one in sets]


def _answerable(questions: Sequence[Question]) -> Iterator[Question]:
    for question in questions:
        evidence = tuple(triple for triple in question.evidence if len(pair(triple)) > 1)
        if evidence:
            yield replace(question, evidence=evidence)


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--twowiki", type=Path, help="folder of 2WikiMultihopQA")
    arguments.add_argument("--metaqa", type=Path, help="folder of MetaQA")
    arguments.add_argument("--questions", type=int, default=QUESTIONS, help="maximum number of questions of each set")
    arguments.add_argument("--metaqa-questions", type=int, default=50, help="of each number of hops of MetaQA")
    arguments.add_argument("--triples", type=int, default=5_000, help="of MetaQA")
    arguments.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS, help="of kgagent's answers")
    arguments.add_argument("--no-peers", action="store_true", help="measure kgagent alone")
    arguments.add_argument("--keep", type=Path, help="folder that keeps the loaded graphs for the next run")
    arguments.add_argument("--embeddings-cache", type=Path, help=".npz file that keeps the embeddings for the next run")
    arguments.add_argument(
        "--markdown",
        type=Path,
        help="page of the documentation to write; it keeps the tables of sets that this run does not ask",
    )
    chosen = arguments.parse_args()
    # The driver warns about properties that do not exist yet.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    figures = asyncio.run(run(chosen, sets_of(chosen)))
    if "2wiki" in figures:
        aims = aims_met(figures)
        show("Aims on 2Wiki", aims)
        figures["aims"] = aims
    if chosen.markdown:
        some = "" if chosen.questions == QUESTIONS else f" --questions {chosen.questions}"
        command = (
            f"python benchmarks/answer_cost.py --twowiki path/to/2wiki --metaqa path/to/metaqa{some} "
            "--markdown docs/answer-cost.md"
        )
        earlier = chosen.markdown.read_text("utf-8") if chosen.markdown.exists() else ""
        chosen.markdown.write_text(as_markdown(figures, command, earlier), "utf-8")
    finish(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
