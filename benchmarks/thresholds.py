"""The share of relevant and of other relationships above a threshold, for one embedder.

    python benchmarks/thresholds.py --twowiki path/to/2wiki --metaqa path/to/metaqa --json

It needs no Neo4j: each question is compared with each relationship. It uses the one-hop questions of MetaQA that
`search_quality.py` does not sample with the same seed, and all of 2WikiMultihopQA.
"""

import argparse
import asyncio
from collections.abc import Sequence

import numpy as np
from _common import finish, show
from _questions import (
    Pair,
    Question,
    QuestionSet,
    Triple,
    add_question_sets,
    by_pair,
    fact,
    meta_qa,
    pair,
    relation_words,
    two_wiki,
)

from kgagent import Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import make_embedder

THRESHOLDS = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6)
ALL = 500
"""Questions of one hop that MetaQA's file holds."""


def unused(arguments: argparse.Namespace) -> QuestionSet:
    """Questions of MetaQA that `search_quality.py` does not use."""
    every = meta_qa(arguments.metaqa, triples=arguments.triples, questions=ALL, seed=arguments.seed)
    judged = meta_qa(arguments.metaqa, triples=0, questions=arguments.judged, seed=arguments.seed)
    texts = {question.text for question in judged.questions}
    return QuestionSet(every.name, tuple(q for q in every.questions if q.text not in texts), every.triples)


async def similarities(
    embedder: Embedder, questions: Sequence[Question], groups: Sequence[Sequence[Triple]]
) -> np.ndarray:
    """Plain cosine of each question with kgagent's embedding text of each relationship."""
    relationships = await embedder.embed([f"{fact(same)} {relation_words(same)}" for same in groups])
    asked = await embedder.embed_queries([question.text for question in questions])
    return np.asarray(_unit(np.array(asked)) @ _unit(np.array(relationships)).T)


async def measure(embedder: Embedder, known: QuestionSet) -> list[dict[str, object]]:
    """Figures of one set of questions, a row for each threshold."""
    groups = by_pair(known.triples)
    places: dict[Pair, int] = {pair(same[0]): place for place, same in enumerate(groups)}
    cosines = await similarities(embedder, known.questions, groups)
    answers = np.zeros(cosines.shape, dtype=bool)
    for row, question in enumerate(known.questions):
        answers[row, [places[both] for both in question.pairs if both in places]] = True
    best = np.where(answers, cosines, -1.0).max(axis=1)
    return [
        {
            "questions": len(known.questions),
            "relationships": len(groups),
            "threshold": threshold,
            "answers_kept": float((cosines[answers] >= threshold).mean()),
            "questions_with_an_answer": float((best >= threshold).mean()),
            "others_excluded": float((cosines[~answers] < threshold).mean()),
            "mean_of_others": float(cosines[~answers].mean()),
        }
        for threshold in THRESHOLDS
    ]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


async def main() -> None:
    """Run it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    add_question_sets(arguments)
    arguments.add_argument("--triples", type=int, default=5_000, help="of MetaQA's graph")
    arguments.add_argument("--judged", type=int, default=100, help="questions that search_quality.py asks")
    arguments.add_argument("--seed", type=int, default=7, help="of everything that is drawn at random")
    arguments.add_argument("--json", action="store_true", help="end with one line of JSON")
    asked = arguments.parse_args()
    embedder = make_embedder(Settings())
    figures = {known.name: await measure(embedder, known) for known in (unused(asked), two_wiki(asked.twowiki))}
    for name, rows in figures.items():
        show(f"{name}, {embedder}", rows)
    await embedder.aclose()
    finish(figures, as_json=asked.json)


if __name__ == "__main__":
    asyncio.run(main())
