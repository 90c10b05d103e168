"""Questions over one, two and three hops, and the relationships that answer them, from
2WikiMultihopQA and MetaQA.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from _questions import (
    KB,
    METAQA_QUESTIONS,
    RELATIONS,
    Pair,
    Question,
    QuestionSet,
    Triple,
    pair,
    two_wiki,
)

SPLIT_SEED = 20240607
"""Draws the half of each set on which the constants of the expansion were chosen; they are judged
on the other.
"""

MOVIE = "movie"


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        text: the question.
        gold: the two names of each relationship on a path to an answer.
        answers: names in lower case; empty if the data has no entity answers.
    """

    text: str
    gold: frozenset[Pair]
    answers: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The expected entities: the answers, or all entities of the gold relationships."""
        return self.answers or frozenset(name for both in self.gold for name in both)


@dataclass(frozen=True)
class Chained:
    """A question of MetaQA, as in its file.

    Attributes:
        hops: number of relationships to an answer.
        text: the question.
        seed: the entity that it names.
        chain: entity types on the path to an answer.
        answers: their names.
    """

    hops: int
    text: str
    seed: str
    chain: tuple[str, ...]
    answers: frozenset[str]


@dataclass
class Movies:
    """MetaQA's graph, for following a chain."""

    objects: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    subjects: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> "Movies":
        """Index triples by both ends."""
        made = cls()
        for subject, relation, thing in triples:
            made.objects[subject, relation].append(thing)
            made.subjects[thing, relation].append(subject)
        return made

    def step(self, node: str, start: str, end: str) -> list[str]:
        """The neighbors of a node that have a given type."""
        if start == MOVIE:
            return self.objects.get((node, RELATIONS[end]), [])
        return self.subjects.get((node, RELATIONS[start]), [])

    def reached(self, question: Chained) -> frozenset[str]:
        """The nodes at the end of the chain, without paths back through the seed."""
        found = {question.seed}
        for start, end in pairwise(question.chain):
            found = {to for node in found for to in self.step(node, start, end)} - {question.seed}
        return frozenset(found)

    def gold(self, question: Chained) -> frozenset[Pair]:
        """Pairs on all paths along the chain that end in an answer, without paths back through the
        seed.
        """
        reached = {question.seed}
        levels: list[list[tuple[str, str]]] = []
        for start, end in pairwise(question.chain):
            levels.append(
                [
                    (node, to)
                    for node in reached
                    for to in self.step(node, start, end)
                    if to != question.seed
                ]
            )
            reached = {to for _, to in levels[-1]}
        wanted = set(question.answers)
        found: set[Pair] = set()
        for level in reversed(levels):
            kept = [(node, to) for node, to in level if to in wanted]
            found.update(pair((node, "", to)) for node, to in kept)
            wanted = {node for node, _ in kept}
        return frozenset(found)


def read_twowiki(folder: Path) -> tuple[list[Triple], list[Asked]]:
    """Distinct triples, and questions."""
    known = two_wiki(folder)
    return list(known.triples), [
        Asked(question.text, frozenset(question.pairs)) for question in known.questions
    ]


def read_metaqa(folder: Path) -> tuple[list[Triple], dict[int, list[Asked]]]:
    """Distinct triples, and questions by their hops."""
    triples = metaqa_triples(folder)
    movies = Movies.of(triples)
    asked: dict[int, list[Asked]] = defaultdict(list)
    for question in metaqa_questions(folder):
        if gold := movies.gold(question):
            answers = frozenset(answer.lower() for answer in question.answers)
            asked[question.hops].append(Asked(question.text, gold, answers))
    spoken = [(subject, relation.replace("_", " "), thing) for subject, relation, thing in triples]
    return spoken, dict(sorted(asked.items()))


def metaqa_triples(folder: Path) -> list[Triple]:
    """Distinct triples of the file."""
    lines = (folder / KB).read_text("utf-8").splitlines()
    return list(dict.fromkeys(as_triple(line.split("|")) for line in lines))


def metaqa_questions(folder: Path) -> Iterator[Chained]:
    """All questions of the file."""
    for line in (folder / METAQA_QUESTIONS).read_text("utf-8").splitlines():
        question = json.loads(line)
        text = question["question"]
        yield Chained(
            hops=question["hops"],
            text=text.replace("[", "").replace("]", ""),
            seed=text.partition("[")[2].partition("]")[0],
            chain=tuple(question["chain"].split("_to_")),
            answers=frozenset(question["answers"]),
        )


def as_triple(parts: Sequence[str]) -> Triple:
    """Three texts."""
    subject, relation, thing = parts
    return subject, relation, thing


def judged(sets: Mapping[str, Sequence[Asked]]) -> dict[str, list[Asked]]:
    """The half of each set that no default was tuned on, in random order."""
    generator = np.random.default_rng(SPLIT_SEED)
    halves = {}
    for name, questions in sets.items():
        order = generator.permutation(len(questions))
        halves[name] = [questions[i] for i in order[len(questions) // 2 :]]
    return halves


def metaqa_sample(
    folder: Path, hops: int, *, triples: int, questions: int, most_gold: int, seed: int
) -> QuestionSet:
    """Questions of MetaQA with the triples on their paths, and a random sample of other triples.

    Args:
        folder: contains kb.txt and questions.jsonl.
        hops: of the questions.
        triples: total number of triples.
        questions: maximum number of sampled questions.
        most_gold: questions with more relationships on their paths are not sampled.
        seed: seed of the random numbers.
    """
    generator = np.random.default_rng(seed)
    every, asked = read_metaqa(folder)
    between: dict[Pair, list[Triple]] = defaultdict(list)
    for triple in every:
        between[pair(triple)].append(triple)
    drawn = [asked[hops][i] for i in generator.permutation(len(asked[hops]))]
    chosen = tuple(
        Question(
            one.text,
            tuple(triple for both in sorted(one.gold, key=sorted) for triple in between[both]),
        )
        for one in [one for one in drawn if len(one.gold) <= most_gold][:questions]
    )
    gold = dict.fromkeys(triple for question in chosen for triple in question.evidence)
    others = [every[i] for i in generator.permutation(len(every)) if every[i] not in gold]
    return QuestionSet(
        f"metaqa, {hops} hops", chosen, (*gold, *others[: max(0, triples - len(gold))])
    )
