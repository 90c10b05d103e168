"""Facts that change: does a search show the present value before the former one?

    python benchmarks/changes.py --data FOLDER

FOLDER has facts.jsonl, questions.jsonl and single_valued.json, whose types the ontology declares.
The facts are written through `remember`, in the order in which they were said, once with `said_on`
only and once with the `when` of the facts that have one. A real Neo4j is used.

stale first: share of the questions where a relationship of the former answer stands before that of
the present one at the same hop. within 10: share whose relationships of the present answer are all
among the first ten.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from _common import open_graph, parser, server, show

from kgagent import HybridSearchRequest, KnowledgeGraph, Settings
from kgagent.embedding.factory import make_embedder
from kgagent.ontology import default_ontology

Triplet = tuple[str, str, str]

AT, READ = 10, 40
LABEL = "Entity"
FACTS_A_CALL = 20
KINDS = ("said_on", "when")


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


async def ask(
    graph: KnowledgeGraph, user_id: str, questions: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    """The figures of each kind of question."""
    seen: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for question in questions:
        request = HybridSearchRequest(
            query=question["question"], limit=READ, as_of=question.get("as_of")
        )
        result = await graph.search(request, user_id=user_id)
        found: dict[Triplet, int] = {}
        for place, item in enumerate(result.relationships or ()):
            for relationship_type in item.relationship_type.split(", "):
                key = (item.from_name, relationship_type, item.to_name)
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
    types = {"single_valued_types": frozenset(declared["single_valued"])}
    ontology = default_ontology().model_copy(update=types)
    settings = Settings()
    rows: list[dict[str, object]] = []
    embedder = make_embedder(settings)
    with server(arguments.uri) as where:
        users = [f"changes-{kind}" for kind in KINDS]
        async with open_graph(where, embedder, settings, users=users, ontology=ontology) as graph:
            for kind, user_id in zip(KINDS, users, strict=True):
                errors = await remember(graph, user_id, facts, with_when=kind == "when")
                print(f"{kind}: {len(errors)} facts refused", *errors[:3], sep="\n  ")
                for question, figures in (await ask(graph, user_id, questions)).items():
                    rows.append({"written with": kind, "questions": question, **figures})
    show("Facts that change", rows)
    print(json.dumps(rows))


if __name__ == "__main__":
    main = parser(__doc__)
    main.add_argument("--data", type=Path, required=True)
    asyncio.run(run(main.parse_args()))
