"""Questions over public graphs with the triples that answer them."""

import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TWOWIKI = "2wiki_500_with_evidences.json"
KB = "kb.txt"
METAQA_QUESTIONS = "questions.jsonl"

RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "writer": "written_by",
    "genre": "has_genre",
    "year": "release_year",
    "language": "in_language",
    "tags": "has_tags",
    "tag": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}
"""Which relation of the film graph the end of a question's chain stands for."""

Triple = tuple[str, str, str]
Pair = frozenset[str]


@dataclass(frozen=True)
class Question:
    """A question and the triples that answer it."""

    text: str
    evidence: tuple[Triple, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The two names of each triple, which have one relationship in the graph."""
        return list(dict.fromkeys(pair(triple) for triple in self.evidence))

    @property
    def names(self) -> set[str]:
        """The entities of the triples."""
        return {name for both in self.pairs for name in both}


@dataclass(frozen=True)
class QuestionSet:
    """Questions, and the triples of their graph."""

    name: str
    questions: tuple[Question, ...]
    triples: tuple[Triple, ...]


def pair(triple: Triple) -> Pair:
    """The two names, normalized as kgagent identifies entities."""
    return frozenset((triple[0].lower(), triple[2].lower()))


def add_question_sets(arguments: ArgumentParser) -> None:
    """Add the folders of both question sets to the arguments of a benchmark."""
    arguments.add_argument("--twowiki", type=Path, required=True, help=f"folder with {TWOWIKI}")
    arguments.add_argument(
        "--metaqa", type=Path, required=True, help=f"folder with {KB} and {METAQA_QUESTIONS}"
    )


def two_wiki(folder: Path) -> QuestionSet:
    """Questions of 2WikiMultihopQA with their evidence; a repeated triple counts once."""
    raw = json.loads((folder / TWOWIKI).read_text("utf-8"))
    questions = tuple(
        Question(
            item["question"],
            tuple(dict.fromkeys((one[0], one[1], one[2]) for one in item["evidences"])),
        )
        for item in raw
    )
    return QuestionSet(
        "2wiki", questions, tuple(dict.fromkeys(t for q in questions for t in q.evidence))
    )


def meta_qa(folder: Path, *, triples: int, questions: int, seed: int) -> QuestionSet:
    """One-hop questions of MetaQA, with the triples that answer them and a random sample of others.

    Args:
        folder: contains kb.txt and questions.jsonl.
        triples: total number of triples.
        questions: number of sampled questions.
        seed: seed of the random numbers.
    """
    generator = np.random.default_rng(seed)
    lines = (folder / KB).read_text("utf-8").splitlines()
    every = [(s, r, o) for s, r, o in (line.split("|") for line in lines)]
    touching: dict[str, list[Triple]] = defaultdict(list)
    for triple in every:
        for name in {triple[0], triple[2]}:
            touching[name].append(triple)
    raw = [json.loads(line) for line in (folder / METAQA_QUESTIONS).read_text("utf-8").splitlines()]
    one_hop = [item for item in raw if item["hops"] == 1]
    drawn = [one_hop[i] for i in generator.permutation(len(one_hop))[:questions]]
    asked = tuple(
        question for question in (_one_hop(item, touching) for item in drawn) if question.evidence
    )
    gold = dict.fromkeys(triple for question in asked for triple in question.evidence)
    others = (every[i] for i in generator.permutation(len(every)) if every[i] not in gold)
    more = [triple for triple, _ in zip(others, range(max(0, triples - len(gold))), strict=False)]
    return QuestionSet("metaqa, 1 hop", asked, (*gold, *more))


def as_lines(triples: Iterable[Triple]) -> list[dict[str, object]]:
    """Lines for `kgagent load`; triples between the same two entities become one relationship."""
    names: dict[str, str] = {}
    for triple in triples:
        for name in (triple[0], triple[2]):
            names.setdefault(name.lower(), name)
    nodes: list[dict[str, object]] = [
        {"kind": "node", "label": "Entity", "id": key, "name": name} for key, name in names.items()
    ]
    return nodes + [
        {
            "kind": "relationship",
            "from": same[0][0].lower(),
            "to": same[0][2].lower(),
            "relationship_type": relation_words(same),
            "description": fact(same),
        }
        for same in by_pair(triples)
    ]


def by_pair(triples: Iterable[Triple]) -> list[list[Triple]]:
    """Triples grouped by their two entities, without triples of an entity with itself."""
    together: dict[Pair, list[Triple]] = defaultdict(list)
    for triple in triples:
        together[pair(triple)].append(triple)
    return [same for both, same in together.items() if len(both) > 1]


def relation_words(same: Sequence[Triple]) -> str:
    """The relations of triples between the same two entities."""
    return ", ".join(dict.fromkeys(relation.replace("_", " ") for _, relation, _ in same))


def fact(same: Sequence[Triple]) -> str:
    """The text of triples between the same two entities."""
    return ". ".join(" ".join((s, relation.replace("_", " "), o)) for s, relation, o in same)


def _one_hop(item: Mapping[str, Any], touching: dict[str, list[Triple]]) -> Question:
    text = str(item["question"])
    start = text[text.index("[") + 1 : text.index("]")]
    first, last = str(item["chain"]).split("_to_")
    relation = RELATIONS[last if first == "movie" else first]
    answers = frozenset(item["answers"])
    evidence = tuple(
        triple
        for triple in touching[start]
        if triple[1] == relation and (triple[2] if triple[0] == start else triple[0]) in answers
    )
    return Question(text.replace("[", "").replace("]", ""), evidence)
