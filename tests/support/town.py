"""A made-up town of 200 nodes: a graph that is too large to be written out, and always the same."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from kgagent.ontology import Ontology

FIRST = [
    "Ada",
    "Bram",
    "Cleo",
    "Dirk",
    "Edda",
    "Finn",
    "Gwen",
    "Hugo",
    "Ilse",
    "Joop",
    "Kaia",
    "Lars",
    "Mira",
    "Nils",
    "Oona",
    "Piet",
    "Runa",
    "Sven",
    "Tove",
    "Wim",
]
LAST = ["Aker", "Berg", "Dahl", "Falk", "Holm", "Lind", "Moe", "Rask", "Sund", "Vik"]
CRAFTS = ["sailing", "bread", "choirs", "chess", "bees", "clocks", "maps", "weaving"]
PEOPLE = 160
PER_STREET = 20
CONCEPTS = 24
HOUSES = 16


def write_town(path: Path, ontology: Ontology) -> None:
    """Write it in the form that `kgagent load` takes."""
    path.write_text("\n".join(json.dumps(line) for line in _lines(ontology)), "utf-8")


def _lines(ontology: Ontology) -> Iterator[dict[str, Any]]:
    drawn = random.Random(7)
    person, concept, entity = list(ontology.labels)[:3]
    heads = range(0, PEOPLE, PER_STREET)
    for number in range(PEOPLE):
        name = f"{FIRST[number % len(FIRST)]} {LAST[(number // len(FIRST) + number) % len(LAST)]}"
        craft = "bees" if number in heads else CRAFTS[number % len(CRAFTS)]
        yield _node(person, f"p{number}", name, f"Lives by the harbour and cares for {craft}.")
    for number in range(CONCEPTS):
        yield _node(
            concept,
            f"c{number}",
            f"{CRAFTS[number % len(CRAFTS)].title()} {number // len(CRAFTS) + 1}",
            "",
        )
    for number in range(HOUSES):
        yield _node(
            entity,
            f"e{number}",
            f"{LAST[number % 10]} & Sons {number // 10 + 1}",
            "A house of trade.",
        )
    for head in heads:
        yield _tie(
            drawn,
            f"p{head}",
            f"p{(head + PER_STREET) % PEOPLE}",
            "beekeeper",
            "They keep their bees together.",
        )
        for member in range(head + 1, head + PER_STREET):
            yield _tie(drawn, f"p{head}", f"p{member}", "neighbour", "They live in one street.")
        for first, second in pairwise(drawn.sample(range(head + 1, head + PER_STREET), 9)):
            yield _tie(drawn, f"p{first}", f"p{second}", "friend", "They sail on Sundays.")
    for number in range(CONCEPTS):
        yield _tie(
            drawn, f"p{drawn.choice(heads)}", f"c{number}", "practises", "Learned it as a child."
        )
    for number in range(HOUSES):
        yield _tie(
            drawn, f"p{drawn.choice(heads)}", f"e{number}", "works for", "Keeps the books there."
        )


def _node(label: str, key: str, name: str, description: str) -> dict[str, Any]:
    return {"kind": "node", "label": label, "id": key, "name": name, "description": description}


def _tie(
    drawn: random.Random, first: str, second: str, said: str, description: str
) -> dict[str, Any]:
    levels = {"attitude": drawn.randint(1, 5), "proximity": drawn.randint(1, 5)}
    ends = {"kind": "relationship", "from": first, "to": second}
    return {**ends, "relationship_type": said, "description": description, **levels}
