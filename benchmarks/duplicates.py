"""Likely duplicates: are the real aliases of a data set found, and nothing else?

    python benchmarks/duplicates.py --data 2wiki_500_with_evidences.json --nodes 100000

The graph has the pages of the contexts (title and text) and the triples. A pair counts if one node
is a page and the other only the subject of triples: it is right if the two stand for each other in
a question, whose pages and subjects are the same things in the same order. A real Neo4j is used.
With --nodes, a graph of that many made people is timed.
"""

import argparse
import asyncio
import json
import random
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from _common import finish, open_graph, parser, server

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.names import normalised_name

USERS = ("duplicates-2wiki", "duplicates-made")
THRESHOLDS = (0.3, 0.5, 0.7)
LABEL = "Entity"


def read_aliases(questions: list[dict[str, Any]]) -> tuple[set[str], set[str], set[frozenset[str]]]:
    """The pages, the subjects of triples, and the pairs of a page and a subject that are one."""
    pages, subjects = set[str](), set[str]()
    aliases = set[frozenset[str]]()
    for question in questions:
        of_question = dict.fromkeys(
            normalised_name(title) for title, _ in question["supporting_facts"]
        )
        in_triples = dict.fromkeys(normalised_name(one) for one, _, _ in question["evidences"])
        pages.update(normalised_name(title) for title, _ in question["context"])
        subjects.update(in_triples)
        left = [one for one in of_question if one not in in_triples]
        right = [one for one in in_triples if one not in of_question]
        if len(left) == len(right):
            aliases.update(map(frozenset, zip(left, right, strict=True)))
    return pages, subjects, aliases


async def load(graph: KnowledgeGraph, questions: list[dict[str, Any]]) -> None:
    """Load the pages and the triples."""
    nodes: dict[str, dict[str, str]] = {}
    relationships: dict[tuple[str, ...], dict[str, str]] = {}

    def add(name: str, **more: str) -> str:
        key = normalised_name(name)
        nodes.setdefault(key, {"kind": "node", "id": key, "label": LABEL, "name": name}).update(
            more
        )
        return key

    for question in questions:
        for title, sentences in question["context"]:
            add(title, description=" ".join(sentences)[:1_000])
        for subject, relation, other in question["evidences"]:
            ends = {"from": add(subject), "to": add(other), "relationship_type": relation}
            if ends["from"] != ends["to"]:
                relationships[tuple(ends.values())] = {"kind": "relationship", **ends}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "2wiki.jsonl"
        lines = map(json.dumps, (*nodes.values(), *relationships.values()))
        file.write_text("\n".join(lines), "utf-8")
        report = await graph.load(file, user_id=USERS[0], batch_size=200)
    print(f"{report.nodes.created} nodes, {report.relationships.created} relationships")


async def measure(graph: KnowledgeGraph, questions: list[dict[str, Any]]) -> dict[str, float]:
    """Precision and recall at some scores."""
    pages, subjects, aliases = read_aliases(questions)
    only = {*(pages - subjects), *(subjects - pages)}
    aliases = {pair for pair in aliases if pair <= only}
    found = await graph.duplicates(user_id=USERS[0], threshold=min(THRESHOLDS), limit=10_000)
    scores = {
        frozenset(map(normalised_name, (one.first.name, one.second.name))): one.score
        for one in found
    }
    asked = {
        pair: score for pair, score in scores.items() if pair <= only and len(pair & pages) == 1
    }
    figures: dict[str, float] = {"aliases": len(aliases)}
    for threshold in THRESHOLDS:
        kept = {pair for pair, score in asked.items() if score >= threshold}
        figures[f"precision at {threshold}"] = len(kept & aliases) / max(1, len(kept))
        figures[f"recall at {threshold}"] = len(kept & aliases) / len(aliases)
    return figures


async def timed(graph: KnowledgeGraph, count: int, seed: int) -> dict[str, float]:
    """Seconds for a graph of people with three neighbors each."""
    chosen = random.Random(seed)
    syllables = [
        "an",
        "bel",
        "cor",
        "du",
        "el",
        "fin",
        "gra",
        "ho",
        "il",
        "jo",
        "ka",
        "len",
        "mo",
        "nor",
        "pe",
        "qui",
        "ra",
        "sto",
        "tur",
        "ul",
        "ven",
        "wis",
    ]

    def word(length: int) -> str:
        return "".join(chosen.choices(syllables, k=length))

    first, last = [word(2) for _ in range(1_000)], [word(3) for _ in range(20_000)]
    rows = [
        {
            "key": f"made-{number}",
            "name": f"{chosen.choice(first)} {chosen.choice(last)}".title(),
            "description": " ".join(word(2) for _ in range(20)),
            "others": [f"made-{chosen.randrange(count)}" for _ in range(3)],
        }
        for number in range(count)
    ]
    store = services_of(graph).store
    for text in (
        "UNWIND $rows AS row CREATE (:Person {entity_key: row.key, user_id: $user, "
        "name: row.name, description: row.description})",
        "UNWIND $rows AS row MATCH (a:Person {entity_key: row.key, user_id: $user}) "
        "UNWIND row.others AS key MATCH (b:Person {entity_key: key, user_id: $user}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user}]->(b)",
    ):
        for start in range(0, count, 5_000):
            await store.write(text, {"rows": rows[start : start + 5_000], "user": USERS[1]})
    before = perf_counter()
    await graph.duplicates(user_id=USERS[1])
    return {"nodes": count, "seconds": perf_counter() - before}


async def run(arguments: argparse.Namespace) -> None:
    """Load the graphs and measure."""
    embedder = HashingEmbedder(384)
    settings = Settings().model_copy(update={"query_timeout": 600.0})
    figures: dict[str, float] = {}
    with server(arguments.uri) as where:
        async with open_graph(where, embedder, settings, users=USERS) as graph:
            if arguments.data:
                questions = json.loads(arguments.data.read_text("utf-8"))
                await load(graph, questions)
                figures |= await measure(graph, questions)
            if arguments.nodes:
                figures |= await timed(graph, arguments.nodes, arguments.seed)
    finish(figures, as_json=arguments.json)


if __name__ == "__main__":
    main = parser(__doc__)
    main.add_argument("--data", type=Path)
    main.add_argument("--nodes", type=int, default=0, help="made people of the timed graph")
    asyncio.run(run(main.parse_args()))
