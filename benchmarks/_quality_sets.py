"""The data sets of `quality.py`: graphs with questions, of different kinds.

Triples (2WikiMultihopQA, MetaQA, wc2014), a graph that a model wrote (memory42), and the sample
graph of the package with questions made from its relationships.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from _multi_hop_data import MOVIE, metaqa_questions, read_metaqa, read_twowiki
from _off_topic import ANSWERABLE, OFF_TOPIC
from _questions import Pair, Triple, as_lines
from _replay import TURN, MadeGraph, MadeNode, MadeRelationship

from kgagent import default_ontology
from kgagent.cli.demo.sample import questions as sample_questions
from kgagent.cli.demo.sample import sample_file

SEED = 20240607
"""Draws the half of each set that weights are fitted on; they are judged on the other."""


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        text: the question.
        answers: the alternatives, each the pairs of names (in lower case) of the relationships that
            answer it.
        names: names of the nodes to find, for questions about nodes.
        turns: ids of the conversation turns that are its evidence, for memory42.
        is_answerable: whether the graph can answer it.
    """

    text: str
    answers: tuple[frozenset[Pair], ...] = ()
    names: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    is_answerable: bool = True


@dataclass(frozen=True)
class QualitySet:
    """Questions about a graph.

    Attributes:
        name: for the table.
        kind: sets of one kind share its weight in the fit.
        graph: name of the graph.
        measure: "recall" of pairs, "R-precision" of pairs, "names", "evidence" or "flagged".
        questions: in random order.
    """

    name: str
    kind: str
    graph: str
    measure: str
    questions: Sequence[Asked]

    def half(self, which: str) -> list[Asked]:
        """The questions that weights are fitted on ("fit"), the others ("held"), or all ("all")."""
        order = np.random.default_rng(SEED).permutation(len(self.questions)).tolist()
        middle = len(order) // 2
        chosen = {"fit": order[:middle], "held": order[middle:], "all": order}[which]
        return [self.questions[i] for i in chosen]


@dataclass
class Sets:
    """All graphs and sets of questions."""

    graphs: dict[str, MadeGraph] = field(default_factory=dict)
    sets: list[QualitySet] = field(default_factory=list)

    def add(
        self, name: str, kind: str, graph: str, measure: str, questions: Iterable[Asked]
    ) -> None:
        """Add a set."""
        self.sets.append(QualitySet(name, kind, graph, measure, list(questions)))


def read_sets(data: Path | None) -> Sets:
    """Read all sets; without a folder, only those that are made from the sample graph."""
    sets = Sets()
    _add_sample(sets)
    if data is not None:
        _add_triples(sets, data)
        _add_memory(sets, data / "memory42")
    return sets


def _add_triples(sets: Sets, data: Path) -> None:
    wiki, wiki_asked = read_twowiki(data / "2wiki")
    films, films_asked = read_metaqa(data / "metaqa")
    football = json.loads((data / "wc2014" / "wc2014.json").read_text("utf-8"))
    sets.graphs["2wiki"] = of_triples(wiki)
    sets.graphs["2wiki and metaqa"] = of_triples(list(dict.fromkeys([*wiki, *films])))
    sets.graphs["wc2014"] = of_triples([(s, r, o) for s, r, o in football["triples"]])
    of_wiki = [Asked(one.text, (one.gold,)) for one in wiki_asked]
    sets.add("2Wiki, alone", "2wiki", "2wiki", "recall", of_wiki)
    sets.add("2Wiki, among MetaQA", "2wiki", "2wiki and metaqa", "recall", of_wiki)
    for hops, asked in films_asked.items():
        questions = (Asked(one.text, (one.gold,)) for one in asked)
        sets.add(f"MetaQA, {hops} hops", "metaqa", "2wiki and metaqa", "recall", questions)
    for key, name in (("wcP2", "wc2014, two hops"), ("wcC", "wc2014, conjunctions")):
        questions = (
            Asked(
                one["text"],
                tuple(frozenset(frozenset(pair) for pair in walk) for walk in one["walks"]),
            )
            for one in football["questions"][key]
        )
        sets.add(name, "wc2014", "wc2014", "recall", questions)
    sets.graphs["metaqa without some films"], unknown = _without_seeds(films, data / "metaqa")
    sets.add(
        "MetaQA, film is not there", "flagged", "metaqa without some films", "flagged", unknown
    )


def _without_seeds(films: Sequence[Triple], folder: Path) -> tuple[MadeGraph, list[Asked]]:
    """A part of MetaQA, with questions about films that it has and that it lacks."""
    single = [one for one in metaqa_questions(folder) if one.hops == 1 and one.chain[0] == MOVIE]
    absent = {one.seed.lower() for one in single[::2]}
    wanted = {one.seed.lower() for one in single[1::2]} - absent
    kept = [
        t
        for i, t in enumerate(films)
        if t[0].lower() not in absent and (t[0].lower() in wanted or i % 20 == 0)
    ]
    questions = [Asked(one.text, is_answerable=one.seed.lower() not in absent) for one in single]
    return of_triples(kept), questions


def of_triples(triples: Sequence[Triple]) -> MadeGraph:
    """A graph of entities."""
    nodes, relationships = [], []
    for line in as_lines(triples):
        if line["kind"] == "node":
            nodes.append(MadeNode(str(line["id"]), "Entity", str(line["name"])))
        else:
            ends = str(line["from"]), str(line["to"])
            words = str(line["relationship_type"]), str(line["description"])
            relationships.append(MadeRelationship(*ends, "connected_to", *words))
    return MadeGraph(nodes, relationships, default_ontology())


def _add_memory(sets: Sets, folder: Path) -> None:
    """The graph that a model wrote; its texts end in the ids of turns, which are embedded without
    them.
    """
    lines = [json.loads(line) for line in (folder / "graph.jsonl").read_text("utf-8").splitlines()]
    nodes = [
        MadeNode(
            one["properties"]["entity_key"],
            one["labels"][0],
            one["properties"]["name"],
            one["properties"].get("description") or "",
            _contents(one["properties"]),
        )
        for one in lines
        if one["kind"] == "node"
    ]
    relationships = [
        MadeRelationship(
            one["start"][1],
            one["end"][1],
            one["neo4j_type"],
            one["properties"]["relationship_type"],
            one["properties"].get("description") or "",
            _contents(one["properties"]),
            one["properties"].get("attitude"),
            one["properties"].get("proximity"),
        )
        for one in lines
        if one["kind"] == "relationship"
    ]
    sets.graphs["memory42"] = MadeGraph(nodes, relationships, default_ontology())
    raw = json.loads((folder / "questions.json").read_text("utf-8"))
    asked = [
        Asked(
            one["question"],
            turns=frozenset(turn for text in one["evidence"] for turn in TURN.findall(text)),
        )
        for one in raw
        if one["answerable"]
    ]
    sets.add("memory42", "memory", "memory42", "evidence", (one for one in asked if one.turns))
    flagged = [*asked, *(Asked(text, is_answerable=False) for text in OFF_TOPIC)]
    sets.add("memory42, off topic", "flagged", "memory42", "flagged", flagged)


def _contents(properties: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(note["content"] for note in json.loads(properties.get("notes") or "[]"))


def _add_sample(sets: Sets) -> None:
    with sample_file() as path:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    graph = sets.graphs["sample"] = _sample_graph(lines)
    sets.add(
        "sample, README",
        "sample",
        "sample",
        "names",
        (Asked(q.question, names=q.expected) for q in sample_questions()),
    )
    sets.add("sample, who is X's …", "sample", "sample", "R-precision", _about_others(graph))
    sets.add("sample, who is my …", "sample", "sample", "R-precision", _about_me(graph))
    sets.add("sample, tell me about X", "sample", "sample", "R-precision", _about_all_of(graph))
    sets.add("sample, two hops", "sample", "sample", "R-precision", _two_hops(graph))
    sets.add("sample, hostile to X", "levels", "sample", "R-precision", _of_level(graph))
    flagged = [
        *(Asked(text) for text in ANSWERABLE),
        *(Asked(text, is_answerable=False) for text in OFF_TOPIC),
    ]
    sets.add("sample, off topic", "flagged", "sample", "flagged", flagged)


def _sample_graph(lines: Sequence[Mapping[str, Any]]) -> MadeGraph:
    ontology = default_ontology()
    nodes = [
        MadeNode(
            one["id"],
            one["label"],
            one["name"],
            one.get("description", ""),
            _texts(one.get("notes", ())),
            tuple(one.get("aliases", ())),
            bool(one.get("properties", {}).get("is_owner")),
        )
        for one in lines
        if one["kind"] == "node"
    ]
    labels = {node.key: node.label for node in nodes}
    relationships = [
        MadeRelationship(
            one["from"],
            one["to"],
            ontology.type_between(labels[one["from"]], labels[one["to"]])[0],
            one["relationship_type"],
            one.get("description", ""),
            _texts(one.get("notes", ())),
            one.get("attitude"),
            one.get("proximity"),
        )
        for one in lines
        if one["kind"] == "relationship"
    ]
    return MadeGraph(nodes, relationships, ontology)


def _texts(notes: Iterable[Any]) -> tuple[str, ...]:
    return tuple(note if isinstance(note, str) else note["content"] for note in notes)


FEW, MANY = 3, 12
"""Relationships of a person of whom a question asks all."""


@dataclass(frozen=True)
class _People:
    """The people of a graph and what they are to each other."""

    names: Mapping[str, str]
    owner: str
    roles: Mapping[tuple[str, str], frozenset[str]]
    """For a person and a type, the people who are this to the person."""

    @classmethod
    def of(cls, graph: MadeGraph) -> "_People":
        names = {node.key: node.name for node in graph.nodes if node.label == "Person"}
        owner = next(node.key for node in graph.nodes if node.is_owner)
        roles: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in graph.relationships:
            if one.start in names and one.end in names:
                roles[one.end, one.relationship_type].add(one.start)
        return cls(names, owner, {key: frozenset(people) for key, people in roles.items()})

    def pairs(self, person: str, others: Iterable[str]) -> frozenset[Pair]:
        """The pairs of names of a person with others."""
        return frozenset(
            frozenset((self.names[person].lower(), self.names[other].lower())) for other in others
        )


def _about_others(graph: MadeGraph) -> Iterator[Asked]:
    people = _People.of(graph)
    for (person, role), others in people.roles.items():
        if person != people.owner:
            yield Asked(
                f"who is the {role} of {people.names[person]}?", (people.pairs(person, others),)
            )


def _about_me(graph: MadeGraph) -> Iterator[Asked]:
    people = _People.of(graph)
    for (person, role), others in people.roles.items():
        if person == people.owner:
            yield Asked(f"who is my {role}?", (people.pairs(person, others),))


def _about_all_of(graph: MadeGraph) -> Iterator[Asked]:
    names = {node.key: node.name for node in graph.nodes}
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for one in graph.relationships:
        for key in (one.start, one.end):
            pairs[key].add(frozenset((names[one.start].lower(), names[one.end].lower())))
    for node in graph.nodes:
        if node.label == "Person" and not node.is_owner and FEW <= len(pairs[node.key]) <= MANY:
            yield Asked(f"tell me about {node.name}", (frozenset(pairs[node.key]),))


def _two_hops(graph: MadeGraph) -> Iterator[Asked]:
    people = _People.of(graph)
    for (person, role), others in people.roles.items():
        for other in others if len(others) == 1 else ():
            for (middle, second), ends in people.roles.items():
                if middle == other and person not in ends and len(ends) == 1:
                    whose = "my" if person == people.owner else f"{people.names[person]}'s"
                    gold = people.pairs(person, [other]) | people.pairs(other, ends)
                    yield Asked(f"who is the {second} of {whose} {role}?", (gold,))


def _of_level(graph: MadeGraph) -> Iterator[Asked]:
    people = _People.of(graph)
    words = graph.ontology.relationships["has_relationship_with"].attitude
    for level, word in enumerate(words, start=1):
        at: dict[str, set[str]] = defaultdict(set)
        for one in graph.relationships:
            if one.attitude == level and one.start in people.names and one.end in people.names:
                at[one.start].add(one.end)
                at[one.end].add(one.start)
        if level in {1, 2, 5}:
            for person, others in at.items():
                if person != people.owner:
                    yield Asked(
                        f"who is {word} to {people.names[person]}?", (people.pairs(person, others),)
                    )
