"""Runs one toolkit: reads requests from standard input and writes answers to standard output, one
JSON a line.

Started by `side/process.py` in the environment of the toolkit; times are taken here, around the
toolkit's calls alone.
"""

import asyncio
import importlib
import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from side.toolkit import Address, Fact, Question, Toolkit, Vectors

ADAPTERS = {
    "kgagent": ("side.with_kgagent", "Kgagent"),
    "graphiti-core": ("side.with_graphiti", "Graphiti"),
    "neo4j-graphrag": ("side.with_graphrag", "GraphRag"),
    "langchain-neo4j": ("side.with_langchain", "LangChain"),
    "LlamaIndex": ("side.with_llama_index", "LlamaIndex"),
}
"""Module and class by the name of the toolkit."""

Request = dict[str, Any]


class Runner:
    """Answers the requests for one toolkit."""

    def __init__(self, kind: type[Toolkit], vectors: Vectors) -> None:
        self._kind = kind
        self._vectors = vectors
        self._open: Toolkit | None = None

    @property
    def _toolkit(self) -> Toolkit:
        if self._open is None:
            raise RuntimeError("The toolkit is not open")
        return self._open

    async def open(self, request: Request) -> Request:
        """Connect to a server without data."""
        self._open = self._kind(Address(**request["where"]), self._vectors)
        await self._open.open()
        return {
            "versions": {name: version(name) for name in self._kind.packages},
            "searches": {
                name: sorted(search.parts) for name, search in self._open.searches.items()
            },
        }

    async def insert(self, request: Request) -> Request:
        """Write facts one by one."""
        return {
            "seconds": [
                await _timed(self._toolkit.insert(Fact(**fact))) for fact in request["facts"]
            ]
        }

    async def bulk(self, request: Request) -> Request:
        """Write facts at once."""
        facts = [Fact(**fact) for fact in request["facts"]]
        seconds = await _timed(self._toolkit.bulk(facts))
        await self._toolkit.prepare_search()
        return {"seconds": seconds}

    async def update(self, request: Request) -> Request:
        """Change the text of facts, and read what is stored."""
        seconds, texts, cosines = [], [], []
        for change in request["changes"]:
            fact, text = Fact(**change["fact"]), change["text"]
            try:
                seconds.append(await _timed(self._toolkit.update(fact, text)))
            except NotImplementedError:
                return {"seconds": None}
            stored, vector = await self._toolkit.stored(fact)
            texts.append(stored)
            expected = self._vectors.of(self._toolkit.embedding_text(replace(fact, text=text)))
            cosines.append(None if vector is None else _cosine(vector, expected))
        return {"seconds": seconds, "texts": texts, "cosines": cosines}

    async def ask(self, request: Request) -> Request:
        """Run a search."""
        search = self._toolkit.searches[request["search"]]
        question = Question(**request["question"])
        started = time.perf_counter()
        found = await search.run(question)
        return {"seconds": time.perf_counter() - started, **asdict(found)}

    async def close(self, _: Request) -> Request:
        """Disconnect."""
        await self._toolkit.close()
        self._open = None
        return {}


async def _timed(work: Awaitable[None]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


def _cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = [sum(a * a for a in vector) ** 0.5 for vector in (one, other)]
    return float(dot / (lengths[0] * lengths[1]))


async def serve(name: str, vectors: Path, answer: Callable[[Request], None]) -> None:
    """Answer requests until the input ends."""
    module, kind = ADAPTERS[name]
    runner = Runner(getattr(importlib.import_module(module), kind), Vectors(vectors))
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        answer(await getattr(runner, request["call"])(request))


def main() -> None:
    """Run from the command line: the toolkit, and the file of embeddings."""
    logging.disable(logging.WARNING)
    # What a toolkit prints must not end up among the answers.
    answers, sys.stdout = sys.stdout, sys.stderr

    def answer(content: Request) -> None:
        print(json.dumps(content), file=answers, flush=True)

    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), answer))


if __name__ == "__main__":
    main()
