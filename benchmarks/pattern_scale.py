"""Graph patterns on a synthetic graph of a million relationships with hubs: time, memory, and
overhead of compiling.

python benchmarks/pattern_scale.py [--nodes 100000] [--relationships 1000000] [--json]
"""

import argparse
import asyncio
from typing import cast

import numpy as np
from _common import Server, finish, p50, parser, server, show, timed
from _foreign_graph import delete
from _scale_graph import build
from _scale_questions import Beside, Long, beside_questions, long_questions
from _server_memory import Memory, watched

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import KgAgentError
from kgagent.graph.connection import connect
from kgagent.graph.statements import Statement
from kgagent.graph.store import Parameters, Row, Store
from kgagent.knowledge_graph import services_of
from kgagent.models.matched_path import PatternResult
from kgagent.ontology import default_ontology

USER = "patterns-scale"
PAIRS = 41
WARM_UP = 2
RUNS = 3
DIMENSIONS = 8
START, END = 0.54321, 0.98765
"""Which parts the questions start from and end at, as shares of their number: both have few
relationships.
"""

PATIENCE = 120.0
"""Seconds for what is compared, so that a busy machine does not end it."""


class Recorder(Store):
    """A connection that records the last statement that matched paths."""

    matched: tuple[str, Parameters] = ("", {})

    async def read(
        self, text: str, parameters: Parameters, *, timeout: float | None = None
    ) -> list[Row]:
        """Read, and record the statement."""
        if isinstance(text, Statement) and text.name == "match_pattern":
            self.matched = (text, parameters)
        return await super().read(text, parameters, timeout=timeout)


async def beside(graph: KnowledgeGraph, store: Recorder, question: Beside) -> dict[str, object]:
    """Run the compiled and the hand-written statement in turn."""
    await graph.query_patterns(question.asked, user_id=USER)
    compiled = store.matched
    limit = graph.settings.patterns_explored
    written = question.written, {**question.parameters, "user_id": USER, "limit": limit}
    seconds: dict[str, list[float]] = {"compiled": [], "written": [], "whole call": []}
    paths: dict[str, set[tuple[str, ...]]] = {}
    for number in range(WARM_UP + PAIRS):
        ways = [("compiled", *compiled), ("written", *written)]
        for way, text, parameters in ways[:: 1 if number % 2 else -1]:
            rows, took = await timed(store.read(text, parameters))
            seconds[way].append(took)
            [found] = [row["paths"] for row in rows]
            paths[way] = {tuple(relationships) for _, relationships, *_ in found}
        _, took = await timed(graph.query_patterns(question.asked, user_id=USER))
        seconds["whole call"].append(took)
    medians = {way: p50(times[WARM_UP:]) for way, times in seconds.items()}
    return {
        "question": question.name,
        "paths": len(paths["compiled"]),
        "same": paths["compiled"] == paths["written"],
        **{f"{way} ms": 1e3 * median for way, median in medians.items()},
        "ratio": medians["compiled"] / medians["written"],
    }


async def long(graph: KnowledgeGraph, question: Long) -> dict[str, object]:
    """Run a question over many hops and measure the memory."""
    seconds: list[float] = []
    seen: list[Memory] = []
    explored, returned, failed = 0, 0, ""
    for _ in range(RUNS):
        (result, took), memory = await watched(
            services_of(graph).store, timed(_asked(graph, question))
        )
        seconds.append(took)
        seen.append(memory)
        if isinstance(result, KgAgentError):
            failed = type(result).__name__
            break
        explored, returned = sum(result.context.explored.values()), len(result.paths)
    return {
        "hops": question.hops,
        "question": question.name,
        "explored": explored,
        "returned": returned,
        "p50 ms": round(1e3 * p50(seconds)),
        "statement MB": round(max(memory.statement for memory in seen)),
        "heap MB": round(max(memory.heap for memory in seen)),
        "client MB": round(max(memory.client for memory in seen)),
        "failed": failed,
    }


async def _asked(graph: KnowledgeGraph, question: Long) -> PatternResult | KgAgentError:
    try:
        return await graph.query_patterns(question.asked, user_id=USER)
    except KgAgentError as error:
        return error


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load the graph, run the questions, and compute the figures."""
    settings = Settings()
    store = cast(
        "Recorder", await connect(where.uri, username=where.username, password=where.password)
    )
    store.__class__ = Recorder
    embedder = HashingEmbedder(DIMENSIONS)
    graph = KnowledgeGraph(store, default_ontology(), embedder, settings)
    patient = KnowledgeGraph(
        store,
        default_ontology(),
        embedder,
        settings.model_copy(update={"patterns_timeout": PATIENCE}),
    )
    try:
        size = arguments.nodes, arguments.relationships
        asked = round(START * size[0]), round(END * size[0])
        compared = beside_questions(*asked)
        degree, building = await timed(
            build(store, USER, *size, np.random.default_rng(arguments.seed))
        )
        first, reading = await timed(patient.query_patterns(compared[0].asked, user_id=USER))
        pairs = [await beside(patient, store, question) for question in compared]
        show("Compiled and hand-written statements", pairs)
        far = [await long(graph, question) for question in long_questions(*asked)]
        show(
            f"Many hops, {size[1]:,} relationships, largest hub {degree:,}, "
            f"{settings.patterns_explored:,} looked at",
            far,
        )
    finally:
        if not where.is_own:
            await delete(store, [USER])
        await store.close()
    ratios = [float(str(row["ratio"])) for row in pairs]
    return {
        "nodes": size[0],
        "relationships": size[1],
        "largest_degree": degree,
        "building_seconds": building,
        "first_query_seconds": reading,
        "first_query_paths": len(first.paths),
        "ratio_p50": p50(ratios),
        "ratio_worst": max(ratios),
        "beside": pairs,
        "long": far,
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--nodes", type=int, default=100_000)
    arguments.add_argument("--relationships", type=int, default=1_000_000)
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
