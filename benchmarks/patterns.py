"""Correctness of graph patterns on graphs with their own labels and types, compared with search
alone.

    python benchmarks/patterns.py --data FOLDER [--metaqa] [--json]

FOLDER holds `cef/`, and `metaqa/` for --metaqa.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import _scenarios_medical
import _scenarios_supply
import numpy as np
from _common import Server, finish, open_graph, parser, server, show
from _foreign_graph import (
    CHUNK,
    MEDICAL,
    SUPPLY,
    delete,
    drop_index,
    index,
    load,
    load_another,
    read,
)
from _pattern_questions import USER as METAQA_USER
from _pattern_questions import meta_qa
from _pattern_run import Asked, Data, ScenarioAsked, given_cases, scenario_cases
from _text_search import HybridAlone, Overlap, VectorAlone, ontology_of

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of

FILES = {
    "medical": (MEDICAL, _scenarios_medical.SCENARIOS),
    "sap": (SUPPLY, _scenarios_supply.SCENARIOS),
}
RELEASES = ("v0.6", "legacy")
SHORT_ANSWER = 5
CLAIM = (5.0, 15.0)
"""How many times better F1 is said to become."""

Row = dict[str, object]


def read_all(folder: Path) -> list[Data]:
    """Both graphs with their scenarios; each scenario of the file must be known."""
    listed = json.loads((folder / "scenarios.json").read_text("utf-8"))
    every = []
    for name, (file, scenarios) in FILES.items():
        texts = {
            (r, one["name"]): one["query"]
            for r in RELEASES
            for one in listed[r]
            if one["dataset"] == name
        }
        if unknown := texts.keys() ^ {(scenario.release, scenario.name) for scenario in scenarios}:
            raise SystemExit(f"scenarios.json and this benchmark differ in {sorted(unknown)}")
        every.append(Data(name, read(folder / file), scenarios, texts))
    return every


async def ask_patterns(
    graph: KnowledgeGraph, every: Sequence[Data], folder: Path
) -> tuple[list[Asked], dict[str, list[ScenarioAsked]]]:
    """Load the graphs and run their questions."""
    given: list[Asked] = []
    scenarios: dict[str, list[ScenarioAsked]] = {}
    for data in every:
        await index(services_of(graph).store, {*data.raw.labels.values(), CHUNK})
        await load(services_of(graph).store, data.raw, data.user_id, graph.embedder)
        await load_another(
            services_of(graph).store, data.raw, data.user_id, data.other_id, graph.embedder
        )
        if data.name == "medical":
            given += await given_cases(graph, data, folder)
        scenarios[data.name] = await scenario_cases(graph, data)
        await delete(services_of(graph).store, [data.user_id, data.other_id])
        await drop_index(services_of(graph).store, {*data.raw.labels.values(), CHUNK})
    return given, scenarios


async def ask_search(
    graph: KnowledgeGraph, data: Data, scenarios: Sequence[ScenarioAsked]
) -> list[dict[str, Overlap]]:
    """Results of search alone for each scenario, with as many nodes as are expected and with
    five.
    """
    vector, hybrid = (
        await VectorAlone.over(data.raw, graph.embedder),
        HybridAlone(graph, data.search_id),
    )
    await hybrid.load(data.raw)
    done = []
    for one in scenarios:
        text = data.questions[one.scenario.release, one.scenario.name]
        near = await vector.find(text, one.scenario.labels)
        fused = await hybrid.find(text, one.scenario.labels)
        done.append(
            {
                f"{way}{size}": Overlap.of(keys[:k], one.right)
                for way, keys in (("vector", near), ("hybrid", fused))
                for size, k in (("", len(one.right)), (f" {SHORT_ANSWER}", SHORT_ANSWER))
            }
        )
    return done


def f1_row(one: ScenarioAsked, searched: Mapping[str, Overlap]) -> Row:
    """A scenario as a table row."""
    return {
        "scenario": one.scenario.title,
        "covers": one.scenario.covered,
        "right": len(one.right),
        "patterns": Overlap.of(one.keys, one.right).f1,
        **{way: round(overlap.f1, 2) for way, overlap in searched.items()},
        "p50 ms": round(1e3 * one.asked.seconds, 1),
    }


def short_row(one: ScenarioAsked, searched: Mapping[str, Overlap]) -> Row:
    """Precision and recall for five results, where they differ."""
    row: Row = {"scenario": one.scenario.title, "right": len(one.right)}
    for way, overlap in searched.items():
        if way.endswith(str(SHORT_ANSWER)):
            name = way.split()[0]
            row |= {
                f"{name} precision": round(overlap.precision, 2),
                f"{name} recall": round(overlap.recall, 2),
            }
    return row


def scenario_dict(one: ScenarioAsked, searched: Mapping[str, Overlap]) -> Row:
    """The entry of a scenario in the JSON output."""
    ways = {"patterns": Overlap.of(one.keys, one.right), **searched}
    return {
        **one.asked.to_dict(),
        "reading": one.scenario.reading,
        "answered": one.scenario.covered,
        "right": len(one.right),
        **{
            way.replace(" ", "_"): {
                "precision": round(overlap.precision, 3),
                "recall": round(overlap.recall, 3),
                "f1": round(overlap.f1, 3),
            }
            for way, overlap in ways.items()
        },
    }


def claim_rows(pairs: Sequence[tuple[ScenarioAsked, Mapping[str, Overlap]]]) -> list[Row]:
    """F1 of patterns divided by F1 of search alone, for scenarios with expected nodes."""
    counted = [(one, searched) for one, searched in pairs if one.right]
    own = np.array([Overlap.of(one.keys, one.right).f1 for one, _ in counted])
    made: list[Row] = []
    for way in counted[0][1]:
        other = np.array([searched[way].f1 for _, searched in counted])
        ratios = np.divide(own, other, out=np.full_like(own, np.inf), where=other > 0)
        made.append(
            {
                "search": way,
                "scenarios": len(counted),
                "F1": float(other.mean()),
                "patterns": float(own.mean()),
                "of means": float(own.sum() / other.sum()),
                "median": float(np.median(ratios)),
                "below 5x": int(np.sum(ratios < CLAIM[0])),
                "5 to 15x": int(np.sum((ratios >= CLAIM[0]) & (ratios <= CLAIM[1]))),
                "above 15x": int(np.sum((ratios > CLAIM[1]) & (ratios < np.inf))),
                "F1 is 0": int(np.sum(other == 0)),
            }
        )
    return made


async def run(arguments: argparse.Namespace, where: Server) -> dict[str, object]:
    """Load, run all methods, and compute the figures."""
    folder = arguments.data / "cef"
    every = read_all(folder)
    embedder = LocalEmbedder()
    users = [METAQA_USER] + [
        user for data in every for user in (data.user_id, data.other_id, data.search_id)
    ]
    async with open_graph(where, embedder, Settings(), users=[]) as graph:
        try:
            given, scenarios = await ask_patterns(graph, every, folder)
            with_search = KnowledgeGraph(
                services_of(graph).store,
                ontology_of([data.raw for data in every]),
                embedder,
                graph.settings,
            )
            await services_of(with_search).schema.rebuild_vector_indexes()
            searched = {
                data.name: await ask_search(with_search, data, scenarios[data.name])
                for data in every
            }
            figures = report(every, given, scenarios, searched)
            if arguments.metaqa:
                figures["metaqa"] = await meta_qa(graph, arguments.data / "metaqa")
        finally:
            if not where.is_own:
                await delete(services_of(graph).store, users)
    await embedder.aclose()
    return figures


def report(
    every: Sequence[Data],
    given: Sequence[Asked],
    scenarios: Mapping[str, Sequence[ScenarioAsked]],
    searched: Mapping[str, Sequence[Mapping[str, Overlap]]],
) -> dict[str, object]:
    """Show the tables; return the figures of the JSON output."""
    cases = [
        {
            "case": one.name,
            "exact": one.exact,
            "nodes": len(one.answer),
            "p50 ms": 1e3 * one.seconds,
        }
        for one in given
    ]
    show("Cases with given answers", cases)
    pairs = [
        pair
        for data in every
        for pair in zip(scenarios[data.name], searched[data.name], strict=True)
    ]
    show("Scenarios: F1 of patterns and of search alone", [f1_row(*pair) for pair in pairs])
    show("Search alone, answers of five", [short_row(*pair) for pair in pairs])
    ratios = claim_rows(pairs)
    show("F1 of patterns over F1 of search alone", ratios)
    missing = [one for data in every for one in data.scenarios if one.covered == "none"]
    print("Not answerable from the data:")
    for one in missing:
        print(f"- {one.name}: {one.reading}")
    asked = [*given, *(one.asked for of in scenarios.values() for one in of)]
    return {
        "cases": len(asked),
        "exact": sum(one.exact for one in asked),
        "foreign_nodes": sum(one.foreign for one in asked),
        "truncated": sum(one.truncated for one in asked),
        "not_answerable": {one.name: one.reading for one in missing},
        "f1_ratios": ratios,
        "given": [one.to_dict() for one in given],
        "scenarios": [scenario_dict(*pair) for pair in pairs],
    }


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--data", type=Path, required=True, help="folder with cef/, and metaqa/ for --metaqa"
    )
    arguments.add_argument("--metaqa", action="store_true", help="ask the questions of MetaQA too")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        finish(asyncio.run(run(chosen, where)), as_json=chosen.json)


if __name__ == "__main__":
    main()
