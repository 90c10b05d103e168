"""Texts without a model: does a search find the passages that answer a question?

    python benchmarks/passages.py --corpus FOLDER --conversations FOLDER

The corpus (corpus.jsonl, questions.jsonl with gold_titles) has short pages, each a source with its
title; recall@k counts the pages among the first k. The conversations (chat_NN.jsonl,
questions.jsonl with evidence) are a source and a user each; recall@10 counts the messages that the
first passages have. Plain dense search ranks the same passages by cosine. A real Neo4j is used.
"""

import argparse
import asyncio
import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from _common import finish, open_graph, parser, server, show

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.factory import make_embedder
from kgagent.graph.passages import passages_of
from kgagent.models.passage import Passage

USER = "benchmark-passages"
RANKS = (2, 5, 10)
READ = 50
Scores = dict[tuple[str, str], list[list[float]]]
"""The recall at each of `RANKS` of each question, by search and kind of question."""


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def recall(found: Sequence[Any], wanted: set[Any]) -> list[float]:
    """The share of what is wanted among the first results, at each of `RANKS`."""
    distinct = list(dict.fromkeys(found))
    return [len(wanted.intersection(distinct[:rank])) / len(wanted) for rank in RANKS]


class Dense:
    """Passages by their cosine with a question."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._embedder = graph.embedder
        self._places: list[Any] = []
        self._vectors = np.empty((0, graph.embedder.dimensions))

    async def add(self, passages: Sequence[tuple[Any, str]]) -> None:
        """Add passages with what they are of."""
        vectors = np.array(await self._embedder.embed([text for _, text in passages]))
        self._vectors = np.vstack([self._vectors, vectors])
        self._places += [place for place, _ in passages]

    async def ranked(self, question: str) -> list[Any]:
        """What the nearest passages are of."""
        [vector] = await self._embedder.embed_queries([question])
        return [self._places[at] for at in np.argsort(-(self._vectors @ np.array(vector)))[:READ]]


async def of_corpus(graph: KnowledgeGraph, folder: Path, scores: Scores) -> None:
    """Load the pages and ask the questions, with and without following what passages name."""
    dense = Dense(graph)
    pages = read_lines(folder / "corpus.jsonl")
    for page in pages:
        await graph.add_source(page["title"], page["text"], user_id=USER)
    await dense.add(
        [(page["title"], one.text) for page in pages for one in passages_of(page["text"])]
    )
    for question in read_lines(folder / "questions.jsonl"):
        text, wanted = question["question"], set(question["gold_titles"])
        kind = f"pages, {len(wanted)} needed"
        for name, hops in (("kgagent", None), ("kgagent without hops", 0)):
            found = await graph.search(text, user_id=USER, limit=RANKS[-1] + 2, expand_hops=hops)
            scores[name, kind].append(recall([item.name for item in found.objects], wanted))
        scores["dense", kind].append(recall(await dense.ranked(text), wanted))


async def of_conversation(
    graph: KnowledgeGraph, file: Path, questions: Sequence[Mapping[str, Any]], scores: Scores
) -> None:
    """Load a conversation for a user of its own and ask its questions."""
    messages, text, begins = read_lines(file), "", list[int]()
    for message in messages:
        begins.append(len(text))
        text += f"{message['role']}: {message['content']}\n\n"

    def ids(start: int, length: int) -> list[int]:
        first, end = bisect_right(begins, start) - 1, bisect_left(begins, start + length)
        return [messages[at]["id"] for at in range(first, end)]

    dense, user = Dense(graph), f"{USER}-{file.stem}"
    await graph.add_source(file.stem, text, user_id=user)
    messages_of = {p.text: ids(p.start, len(p.text)) for p in passages_of(text)}
    await dense.add([(tuple(of_passage), text) for text, of_passage in messages_of.items()])
    for question in questions:
        wanted, asked = _numbers(question["evidence"]), question["question"]
        result = await graph.search(asked, user_id=user, limit=READ)
        passages = [
            (statement.score, statement.note)
            for item in result.objects
            for statement in item.statements
            if isinstance(statement.note, Passage)
        ]
        passages.sort(key=lambda one: -one[0])
        found = [i for _, one in passages for i in messages_of[one.content]]
        nearest = [i for place in await dense.ranked(asked) for i in place]
        for kind in ("messages", f"messages, {question['ability'].replace('_', ' ')}"):
            scores["kgagent", kind].append(recall(found, wanted))
            scores["dense", kind].append(recall(nearest, wanted))


def _numbers(evidence: object) -> set[int]:
    """The ids of messages in the evidence of a question, at any depth."""
    if isinstance(evidence, dict):
        return _numbers(list(evidence.values()))
    if isinstance(evidence, list):
        return {one for part in evidence for one in _numbers(part)}
    return set() if evidence is None else {int(str(evidence))}


def main() -> None:
    """Read the arguments and measure."""
    arguments = parser(__doc__)
    arguments.add_argument("--corpus", type=Path, help="folder of short pages")
    arguments.add_argument("--conversations", type=Path, help="folder of conversations")
    given = arguments.parse_args()
    files = sorted(given.conversations.glob("chat_*.jsonl")) if given.conversations else []
    asyncio.run(measure(given, files))


async def measure(given: argparse.Namespace, files: Sequence[Path]) -> None:
    """Load and ask what is given, and print the recall."""
    settings = Settings(embedder="local")
    scores: Scores = defaultdict(list)
    embedder = make_embedder(settings)
    users = [USER, *(f"{USER}-{file.stem}" for file in files)]
    with server(given.uri) as where:
        async with open_graph(where, embedder, settings, users=users) as graph:
            if given.corpus:
                await of_corpus(graph, given.corpus, scores)
            if given.conversations:
                questions = read_lines(given.conversations / "questions.jsonl")
                for file in files:
                    number = int(file.stem.removeprefix("chat_"))
                    own = [q for q in questions if q["chat"] == number and _numbers(q["evidence"])]
                    await of_conversation(graph, file, own, scores)
    rows = [
        {
            "search": name,
            "questions": kind,
            "number": len(own),
            **{
                f"recall@{rank}": round(fmean(column), 3)
                for rank, column in zip(RANKS, zip(*own, strict=True), strict=True)
            },
        }
        for (name, kind), own in sorted(scores.items(), key=lambda one: one[0][::-1])
    ]
    show("Passages", rows)
    finish({"rows": rows}, as_json=given.json)


if __name__ == "__main__":
    main()
