"""The questions of MetaQA as patterns: the entity types on the path determine the relationships."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from _common import p50, p95, show, timed
from _foreign_graph import JOIN, index, write
from _multi_hop_data import MOVIE, Chained, Movies, metaqa_questions, metaqa_triples
from _questions import RELATIONS, Triple
from _scenario import MAX_PATHS, holds
from _text_search import Overlap

from kgagent import KnowledgeGraph
from kgagent.graph.identifiers import Identifier
from kgagent.graph.store import Store
from kgagent.knowledge_graph import services_of
from kgagent.models.constraint import ConstraintType
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern import GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import GraphQuery, RankingStrategy, ResolutionTarget

USER = "patterns-metaqa"
WARM_UP = 20
FILM = "Movie"
ENDS = {
    "directed_by": "Person",
    "written_by": "Person",
    "starred_actors": "Person",
    "has_genre": "Genre",
    "has_imdb_rating": "Rating",
    "has_imdb_votes": "Votes",
    "has_tags": "Tag",
    "in_language": "Language",
    "release_year": "Year",
}
"""The label of what each relation leads to from a film."""

READINGS = ("walk, not back to the seed", "no relationship twice", "no node twice")
"""Which paths count: the first is what the given answers go by, by the note that comes with
them.
"""


def label_of(kind: str) -> str:
    """The label of an entity type in a chain."""
    return FILM if kind == MOVIE else ENDS[RELATIONS[kind]]


def asked(question: Chained, reading: str) -> GraphQuery:
    """The queries of a question, one for each different end."""
    steps = [_step(start, end) for start, end in pairwise(question.chain)]
    kept = [holds(ConstraintType.NOT_IN, i, "name", [question.seed]) for i in range(len(steps))]
    walk = reading == READINGS[0]
    pattern = GraphPattern(
        steps=tuple(steps),
        constraints=tuple(kept) if walk else (),
        repeat_relationships=walk,
        distinct_nodes=reading == READINGS[2],
    )
    return GraphQuery(
        targets=(ResolutionTarget(entity_key=question.seed, label=label_of(question.chain[0])),),
        patterns=(pattern,),
        ranking=RankingStrategy.PATH_LENGTH,
        one_path_per="end",
        max_paths=MAX_PATHS,
        top_k=0,
    )


def _step(start: str, end: str) -> TraversalStep:
    ahead = start == MOVIE
    return TraversalStep(
        source_label=label_of(start),
        relation_type=RELATIONS[end if ahead else start],
        target_label=label_of(end),
        direction=StepDirection.OUTGOING if ahead else StepDirection.INCOMING,
    )


async def load(store: Store, triples: Sequence[Triple]) -> None:
    """Write the graph: one node for each name, with the labels of all its types."""
    labels: dict[str, set[str]] = defaultdict(set)
    of_relation: dict[str, list[dict[str, object]]] = defaultdict(list)
    for subject, relation, thing in triples:
        labels[subject].add(FILM)
        labels[thing].add(ENDS[relation])
        of_relation[relation].append({"start": subject, "end": thing, "properties": {}})
    alike: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for name, own in labels.items():
        alike[tuple(sorted(own))].append({"entity_key": name, "name": name, "user_id": USER})
    await index(store, {FILM, *ENDS.values()})
    for several, rows in alike.items():
        await write(
            store,
            f"UNWIND $rows AS row CREATE (n:{':'.join(map(Identifier, several))}) SET n = row",
            rows,
        )
    for relation, pairs in of_relation.items():
        text = JOIN.format(
            start=Identifier(FILM), type=Identifier(relation), end=Identifier(ENDS[relation])
        )
        await write(store, text, pairs, user_id=USER, other_id=USER)


@dataclass
class Figures:
    """Results for the questions with one number of hops, in one reading."""

    seconds: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)
    first_is_right: list[bool] = field(default_factory=list)
    exact: int = 0
    as_walked: int = 0
    truncated: int = 0

    def add(
        self, question: Chained, walked: frozenset[str], result: PatternResult, seconds: float
    ) -> None:
        """Add one result, compared with the given answer and with a walk in plain Python."""
        found = [path.end.entity_key for path in result.paths]
        self.seconds.append(seconds)
        self.f1.append(Overlap.of(frozenset(found), question.answers).f1)
        self.first_is_right.append(bool(found) and found[0] in question.answers)
        self.exact += frozenset(found) == question.answers
        self.as_walked += frozenset(found) == walked
        self.truncated += result.context.truncated

    def row(self) -> dict[str, object]:
        """A table row."""
        return {
            "asked": len(self.f1),
            "exact": self.exact,
            "as walked": self.as_walked,
            "Hits@1": float(np.mean(self.first_is_right)),
            "F1": float(np.mean(self.f1)),
            "cut": self.truncated,
            "p50 ms": 1e3 * p50(self.seconds),
            "p95 ms": 1e3 * p95(self.seconds),
        }


async def meta_qa(graph: KnowledgeGraph, folder: Path) -> Mapping[str, object]:
    """Load the graph and run all questions in each reading."""
    triples, questions = metaqa_triples(folder), list(metaqa_questions(folder))
    _, loading = await timed(load(services_of(graph).store, triples))
    for question in questions[:: len(questions) // WARM_UP]:
        await graph.query_patterns(asked(question, READINGS[0]), user_id=USER)
    figures = await _answers(graph, questions, Movies.of(triples))
    rows = [
        {"hops": hops, "paths": reading, **figure.row()}
        for (hops, reading), figure in figures.items()
    ]
    show(f"MetaQA, {len(triples):,} relationships, loaded in {loading:.0f} s", rows)
    return {"relationships": len(triples), "loading_seconds": round(loading, 1), "questions": rows}


async def _answers(
    graph: KnowledgeGraph, questions: Sequence[Chained], movies: Movies
) -> Mapping[tuple[int, str], Figures]:
    figures: dict[tuple[int, str], Figures] = defaultdict(Figures)
    for question in questions:
        for reading in READINGS:
            query = asked(question, reading)
            result, seconds = await timed(graph.query_patterns(query, user_id=USER))
            figures[question.hops, reading].add(question, movies.reached(question), result, seconds)
    return figures
