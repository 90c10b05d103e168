"""Fit the weights of the score on all kinds of data with equal weight, and the odds of relevance.

    python benchmarks/fit_weights.py --data FOLDER --embeddings-cache FILE.npz

Coordinate ascent over the weights: each in turn is scaled, as long as the mean over the kinds of
data grows. Only the halves of the sets that `quality.py` does not report are used. Prints each step
and, for each feature of the result, what taking it out costs.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _quality_sets import QualitySet, read_sets
from _replay import EmbeddingCache, ReplayStore, Vectors, replay
from quality import Measured

from kgagent import Settings
from kgagent.embedding.factory import make_embedder
from kgagent.search import RetrievalService, hybrid
from kgagent.search.candidates import Candidate
from kgagent.search.relevance import relevance, signals
from kgagent.search.score import WEIGHTS, Features
from kgagent.search.search import Ranked

SCALES = (0.6, 1.6)
FIRST = 0.1
"""First weight that is tried for a feature without one."""

LEAST_GAIN = 0.0005
NEWTON_STEPS, RIDGE = 30, 1e-3
REPORTED = {"recall", "R-precision", "names", "@250", "@500", "@1000", "@2000"}
FLAGGED = "flagged"


@dataclass(frozen=True)
class Part:
    """The questions of one set that the fit uses, with their graph."""

    asked: QualitySet
    service: RetrievalService
    store: ReplayStore
    vectors: Vectors
    count: int


async def value_of(parts: Sequence[Part], weights: Features) -> tuple[float, dict[str, float]]:
    """The mean over the kinds of data, and the mean figure of each set."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    by_set: dict[str, float] = {}
    for part in parts:
        questions = part.asked.half("fit")[: part.count]
        part.service.weights = weights
        figures = await Measured(part.service, part.store).run(part.asked, questions, part.vectors)
        by_set[part.asked.name] = float(
            np.mean([value for key, value in figures.items() if key in REPORTED])
        )
        by_kind[part.asked.kind].append(by_set[part.asked.name])
    return float(np.mean([np.mean(values) for values in by_kind.values()])), by_set


async def fit_odds(parts: Sequence[Part]) -> None:
    """Fit the odds of relevance by logistic regression, each set with equal weight, and print
    them.
    """
    rows: list[tuple[float, ...]] = []
    labels: list[float] = []
    weights: list[float] = []
    original = relevance

    def observed(ranked: Ranked, candidates: Sequence[Candidate]) -> float | None:
        rows.append((*signals(ranked, candidates), 1.0))
        return original(ranked, candidates)

    setattr(hybrid, "relevance", observed)  # noqa: B010 - a name that the module imports
    for part in parts:
        questions = part.asked.half("fit")[: part.count]
        await Measured(part.service, part.store).run(part.asked, questions, part.vectors)
        labels += [float(one.is_answerable) for one in questions]
        weights += [1.0 / len(questions)] * len(questions)
    setattr(hybrid, "relevance", original)  # noqa: B010
    table, wanted, scale = np.array(rows), np.array(labels), np.array(weights)
    odds = np.zeros(table.shape[1])
    for _ in range(NEWTON_STEPS):
        chance = 1.0 / (1.0 + np.exp(-table @ odds))
        gradient = table.T @ (scale * (wanted - chance)) - RIDGE * odds
        curvature = (table * (scale * chance * (1.0 - chance))[:, None]).T @ table + RIDGE * np.eye(
            len(odds)
        )
        odds += np.linalg.solve(curvature, gradient)
    print("ODDS =", tuple(round(float(value), 2) for value in odds))


def variants(weights: Features) -> Iterable[tuple[str, Features]]:
    """Weights that differ in one feature."""
    for name in Features._fields:
        weight = getattr(weights, name)
        for other in [weight * scale for scale in SCALES] if weight else [FIRST]:
            yield f"{name} {weight:.3f} -> {other:.3f}", weights._replace(**{name: other})


async def run(arguments: argparse.Namespace) -> None:
    """Fit."""
    embedder = make_embedder(Settings())
    cache = EmbeddingCache(embedder, arguments.embeddings_cache)
    sets = read_sets(arguments.data)
    parts = []
    for name, graph in sets.graphs.items():
        of_graph = [
            one
            for one in sets.sets
            if one.graph == name and (one.kind == FLAGGED) == arguments.odds
        ]
        if not of_graph:
            continue
        service, store = await replay(graph, embedder, cache)
        for asked in of_graph:
            texts = [one.text for one in asked.half("fit")[: arguments.questions]]
            parts.append(
                Part(
                    asked,
                    service,
                    store,
                    await cache.embed(texts, are_queries=True),
                    arguments.questions,
                )
            )
    if arguments.odds:
        await fit_odds(parts)
        return
    weights = WEIGHTS
    best, by_set = await value_of(parts, weights)
    print(f"start: {best:.4f}  {shown(by_set)}", flush=True)
    for _ in range(arguments.rounds):
        before = best
        for name, other in variants(weights):
            value, of_sets = await value_of(parts, other)
            is_better = value > best + LEAST_GAIN
            print(f"{'+' if is_better else ' '} {name}: {value:.4f}  {shown(of_sets)}", flush=True)
            if is_better:
                best, weights, by_set = value, other, of_sets
        if best == before:
            break
    print(weights)
    for name in Features._fields:
        _, without = await value_of(parts, weights._replace(**{name: 0.0}))
        changes = {key: 100.0 * (without[key] - by_set[key]) for key in by_set}
        print(
            f"without {name}: "
            + ", ".join(f"{key} {change:+.1f}" for key, change in changes.items()),
            flush=True,
        )


def shown(by_set: Mapping[str, float]) -> str:
    """Figures in one line."""
    return ", ".join(f"{name} {value:.3f}" for name, value in by_set.items())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with 2wiki, metaqa, wc2014 and memory42")
    parser.add_argument(
        "--embeddings-cache", type=Path, help="file that keeps the embeddings for the next run"
    )
    parser.add_argument("--questions", type=int, default=40, help="at most so many of each set")
    parser.add_argument("--odds", action="store_true", help="fit the odds of relevance instead")
    parser.add_argument("--rounds", type=int, default=2, help="passes over the features")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
