"""Facts that change: does a search show the present value before the former one?

    python benchmarks/changes.py --data FOLDER --markdown docs/quality.md

FOLDER has facts.jsonl, questions.jsonl and single_valued.json, whose types the ontology declares.
The facts are written through `remember`, in the order in which they were said, once with `said_on`
only and once with the `when` of the facts that have one. A real Neo4j is used. Plain dense search
ranks the sentences of all facts by their cosine with the question; with `--graphiti`, graphiti-core
is asked too.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from _common import Server, open_graph, parser, server, show
from _page_table import put_last, section

from kgagent import HybridSearchRequest, KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import make_embedder
from kgagent.ontology import Ontology, default_ontology

Triplet = tuple[str, str, str]
Question = Mapping[str, Any]
Rank = Callable[[Question], Awaitable[Sequence[Triplet]]]
"""The relationships that a search returns for a question, best first."""

HEADING = "Facts that change"
ABOUT = """{facts:,} facts are written through `remember` in the order in which they were said, {changed} of them another value of a type of
which the ontology says that a node has one at a time: once with the day on which they were said only (`said_on`), once also with the time of
those that have one (`when`). Then {questions} questions are asked on a real Neo4j with {embedder}, by `benchmarks/changes.py`. stale first: share
of the questions where the former answer's relationship stands before that of the present one at the same hop (as of 2010: the present
one's before that of then). within 10: share whose relationships of the answer are all among the first ten. Plain dense search ranks the sentences
of all facts by cosine. graphiti has them as its own writer without an LLM stores them, which ends no fact, and its search with reciprocal rank
fusion, which returns ten. Neither knows what held in 2010."""
"""What the section says before its table."""

AT, READ = 10, 40
LABEL = "Entity"
FACTS_A_CALL = 20
KINDS = ("said_on", "when")
GRAPHITI = "graphiti"


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def remember(
    graph: KnowledgeGraph, user_id: str, facts: Iterable[Mapping[str, str]], *, with_when: bool
) -> list[str]:
    """Write the facts of each day with one call or several; the errors of their items."""
    tool = graph.tools(user_id=user_id)["remember"]
    errors: list[str] = []
    known: set[str] = set()
    for said_on, of_day in groupby(facts, key=lambda fact: fact["said_on"]):
        day = list(of_day)
        for start in range(0, len(day), FACTS_A_CALL):
            call = day[start : start + FACTS_A_CALL]
            names = {name for fact in call for name in (fact["from"], fact["to"])} - known
            relationships = [
                {
                    name: fact[name]
                    for name in ("from", "to", "relationship_type", *(["when"] * with_when))
                    if name in fact
                }
                for fact in call
            ]
            result = await tool(
                nodes=[{"label": LABEL, "name": name} for name in sorted(names)],
                relationships=relationships,
                said_on=said_on,
            )
            errors += [str(error) for error in result.get("errors", ())]
            if not result["success"]:
                errors.append(str(result["error"]))
            known |= names
    return errors


def of_kgagent(graph: KnowledgeGraph, user_id: str) -> Rank:
    """The search of a user's graph; of several types of a relationship, each counts."""

    async def rank(question: Question) -> list[Triplet]:
        request = HybridSearchRequest(
            query=question["question"], limit=READ, as_of=question.get("as_of")
        )
        result = await graph.search(request, user_id=user_id)
        return [
            (item.from_name, relationship_type, item.to_name)
            for item in result.relationships or ()
            for relationship_type in item.relationship_type.split(", ")
        ]

    return rank


def triplet(fact: Mapping[str, str]) -> Triplet:
    """A fact as a triplet."""
    return fact["from"], fact["relationship_type"], fact["to"]


async def of_dense_search(embedder: Embedder, facts: Sequence[Mapping[str, str]]) -> Rank:
    """The sentences of facts by their cosine with the question."""
    triplets = list(dict.fromkeys(map(triplet, facts)))
    stored = np.array(await embedder.embed([" ".join(one) for one in triplets]), np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)

    async def rank(question: Question) -> list[Triplet]:
        [vector] = await embedder.embed_queries([question["question"]])
        best = np.argsort(-(stored @ np.array(vector, np.float32)))[:READ]
        return [triplets[place] for place in best]

    return rank


@asynccontextmanager
async def of_graphiti(
    where: Server,
    embedder: Embedder,
    facts: Sequence[Mapping[str, str]],
    questions: Sequence[Question],
) -> AsyncIterator[Rank]:
    """graphiti-core on a server of its own; its writer without an LLM ends no fact."""
    from side.toolkit import Address, Fact, Vectors
    from side.toolkit import Question as Asked
    from side.with_graphiti import Graphiti

    triplets = {" ".join(one): one for one in map(triplet, facts)}
    names = {name for source, _, target in triplets.values() for name in (source, target)}
    stored, asked = list({*triplets, *names}), list({one["question"] for one in questions})
    vectors = [*await embedder.embed(stored), *await embedder.embed_queries(asked)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.npz"
        np.savez(file, texts=np.array([*stored, *asked]), vectors=np.array(vectors))
        toolkit = Graphiti(Address(where.uri, where.username, where.password or ""), Vectors(file))
    await toolkit.open()
    await toolkit.bulk(
        [
            Fact(source, target, relation, text, GRAPHITI)
            for text, (source, relation, target) in triplets.items()
        ]
    )
    toolkit.await_indexes()
    await toolkit.prepare_search()
    run = toolkit.searches["search_ (RRF)"].run

    async def rank(question: Question) -> list[Triplet]:
        found = await run(Asked(question["question"], GRAPHITI))
        return [triplets[text] for text in found.texts]

    yield rank
    await toolkit.close()


async def ask(rank: Rank, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """The figures of each kind of question."""
    seen: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for question in questions:
        found: dict[Triplet, int] = {}
        for place, key in enumerate(await rank(question)):
            found.setdefault(key, place)
        figures = seen[question["kind"]]
        answer = [tuple(one) for one in question["answer"]]
        former = [tuple(one) for one in question.get("former", ())]
        figures[f"within {AT}"].append(all(found.get(one, AT) < AT for one in answer))
        pairs = list(zip(answer, former, strict=False))
        if pairs:
            changed = [(new, old) for new, old in pairs if new != old]
            figures["stale first"].append(
                any(found.get(old, READ) < found.get(new, READ) for new, old in changed)
            )
    return {
        kind: {name: sum(values) / len(values) for name, values in figures.items()}
        for kind, figures in seen.items()
    }


async def run(arguments: argparse.Namespace) -> None:
    """Write both graphs and ask."""
    facts = read_lines(arguments.data / "facts.jsonl")
    questions = read_lines(arguments.data / "questions.jsonl")
    declared = json.loads((arguments.data / "single_valued.json").read_text("utf-8"))
    types = {"single_valued_types": declared["single_valued"]}
    ontology = Ontology.model_validate({**dict(default_ontology()), **types})
    settings = Settings()
    rows: list[dict[str, object]] = []
    embedder = make_embedder(settings)
    with server(arguments.uri) as where:
        users = [f"changes-{kind}" for kind in KINDS]
        async with open_graph(where, embedder, settings, users=users, ontology=ontology) as graph:
            for kind, user_id in zip(KINDS, users, strict=True):
                errors = await remember(graph, user_id, facts, with_when=kind == "when")
                print(f"{kind}: {len(errors)} facts refused", *errors[:3], sep="\n  ")
                figures = await ask(of_kgagent(graph, user_id), questions)
                rows += _rows(f"kgagent, {kind}", figures)
    if arguments.graphiti:
        with server(None) as where:
            async with of_graphiti(where, embedder, facts, questions) as rank:
                rows += _rows(GRAPHITI, await ask(rank, questions))
    rows += _rows("dense", await ask(await of_dense_search(embedder, facts), questions))
    show(HEADING, rows)
    if arguments.markdown:
        about = ABOUT.format(
            facts=len(facts),
            changed=sum("when" in fact for fact in facts),
            questions=len(questions),
            embedder=embedder,
        )
        heading, _, table = section(HEADING, rows, _cell, texts=2).partition("\n\n")
        put_last(arguments.markdown, HEADING, f"{heading}\n\n{about}\n\n{table}")


def _rows(search: str, figures: Mapping[str, Mapping[str, float]]) -> list[dict[str, object]]:
    names = ("stale first", f"within {AT}")
    return [
        {"search": search, "questions": kind, **{name: of_kind.get(name) for name in names}}
        for kind, of_kind in figures.items()
    ]


def _cell(column: str, value: object) -> str:  # noqa: ARG001
    return f"{value:.3f}" if isinstance(value, float) else str(value or "")


if __name__ == "__main__":
    main = parser(__doc__)
    main.add_argument("--data", type=Path, required=True)
    main.add_argument(
        "--graphiti", action="store_true", help="run graphiti-core too, of the extra bench"
    )
    main.add_argument("--markdown", type=Path, help="page to write the section to")
    asyncio.run(run(main.parse_args()))
