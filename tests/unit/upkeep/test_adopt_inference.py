"""What adopting a graph infers: which label counts, which property is a name, which hold text."""

from typing import Any

import pytest
from neo4j.time import Date

from kgagent.upkeep.adopt_inference import (
    describe_label,
    describe_type,
    facts_of,
)

NAMES = ["Ann Lee", "Bo Ek", "Cyd Ruiz", "Dana Wolf", "Eli Marsh"]
UUIDS = [f"3f2b6c1e-7a55-4a0b-9a3e-2f6a4b6f0d{number}" for number in range(10, 15)]
SENTENCES = [
    f"The {word} of the valley was rebuilt after the flood and opened again."
    for word in ("mill", "inn", "quay")
]

LABELS: dict[str, tuple[list[dict[str, Any]], list[str], list[str]]] = {
    "its own name wins": (
        [{"name": name, "title": f"Dr {name[0] * 2}"} for name in NAMES],
        [],
        ["title"],
    ),
    "a name that all have in common loses": (
        [{"name": "Member", "alias": name, "rank": "first"} for name in NAMES],
        ["alias"],
        [],
    ),
    "a list of names, not what several have": (
        [
            {"labels": [f"Q{number}", name], "city": ["Oslo", "Rome"][number % 2]}
            for number, name in enumerate(NAMES)
        ],
        ["labels"],
        ["city"],
    ),
    "the column that tells more apart": (
        [
            {"title": ["Editor", "Author"][number % 2], "who": name}
            for number, name in enumerate(NAMES)
        ],
        ["who"],
        ["title"],
    ),
    "a title, not a tagline": (
        [
            {"title": name, "tagline": f"Never trust the one they call {name}", "year": 1990}
            for name in NAMES
        ],
        ["title"],
        ["tagline"],
    ),
    "words in id, and nothing that all have in common": (
        [
            {"id": name, "group": "team", "city": city}
            for name, city in zip(NAMES, ["Oslo", "Rome"] * 3, strict=False)
        ],
        ["id"],
        ["city"],
    ),
    "both parts of a name": (
        [
            {"firstName": first, "lastName": last, "city": "Oslo"}
            for first, last in (("Ann", "Lee"), ("Ann", "Ek"), ("Bo", "Lee"), ("Cyd", "Ruiz"))
        ],
        ["firstName", "lastName"],
        [],
    ),
    "names, not identifiers or addresses": (
        [
            {"uuid": key, "login": name, "url": f"https://example.org/{name}", "seen": "2024-05-01"}
            for key, name in zip(UUIDS, NAMES, strict=True)
        ],
        ["login"],
        [],
    ),
    "the beginning of a text": (
        [{"id": key, "text": text} for key, text in zip(UUIDS, SENTENCES, strict=False)],
        [],
        ["text"],
    ),
    "a number, where there is nothing else": (
        [{"order_id": 7_000 + number} for number in range(5)],
        ["order_id"],
        [],
    ),
    "lists of words are text": (
        [{"name": name, "skills": ["diving", name]} for name in NAMES],
        [],
        ["skills"],
    ),
    "nothing": ([{}, {}], [], []),
}


@pytest.mark.parametrize("case", LABELS)
def test_the_name_and_the_texts_of_a_label_are_inferred(case: str) -> None:
    sample, name_from, text_from = LABELS[case]
    assert describe_label(facts_of(sample)) == {"name_from": name_from, "text_from": text_from}


def test_the_word_and_the_texts_of_a_type_are_inferred() -> None:
    facts = [
        {"name": "WORKS_AT", "fact": text, "uuid": key}
        for text, key in zip(SENTENCES, UUIDS, strict=False)
    ]
    described = {"type_from": ["name"], "when_from": "", "text_from": ["fact"]}
    assert describe_type(facts_of(facts)) == described
    assert describe_type(facts_of([{"roles": ["Old Trader"], "rating": 88}])) == {
        "type_from": [],
        "when_from": "",
        "text_from": ["roles", "rating"],
    }


@pytest.mark.parametrize(
    ("fields", "when_from", "text_from"),
    [
        ({"valid_at": Date(2020, 1, 2), "invalid_at": Date(2021, 1, 2)}, "valid_at/invalid_at", []),
        ({"since": 2001, "seen": "2024-05-01"}, "since/..", ["seen"]),
        ({"endDate": "2024-05", "amount": 5.5}, "../endDate", ["amount"]),
        ({"orderDate": "1997-08-25T00:00:00", "createdAt": "1998-01-01"}, "orderDate", []),
        ({"ordered": "1997-08-25", "shipped": "1997-09-02"}, "", ["ordered", "shipped"]),
        ({"from": "Oslo", "to": "Rome", "year": 1990}, "", ["from", "to", "year"]),
    ],
)
def test_the_time_of_a_type_is_inferred(
    fields: dict[str, Any], when_from: str, text_from: list[str]
) -> None:
    assert describe_type(facts_of([fields])) == {
        "type_from": [],
        "when_from": when_from,
        "text_from": text_from,
    }
