"""What adopting a graph infers: which label counts, which property is a name, which hold text."""

from typing import Any

import pytest

from kgagent.ontology.definitions import NodeLabel, RelationshipDefinition
from kgagent.upkeep.adopt_inference import (
    NodeGroup,
    RelationshipGroup,
    choose,
    describe_label,
    describe_type,
    facts_of,
)
from kgagent.upkeep.adopt_records import node_texts, relationship_texts

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
    assert describe_type(facts_of(facts)) == {"type_from": ["name"], "text_from": ["fact"]}
    assert describe_type(facts_of([{"roles": ["Old Trader"], "rating": 88}])) == {
        "type_from": [],
        "text_from": ["roles"],
    }


def test_of_several_labels_the_one_of_the_fewest_nodes_counts() -> None:
    def nodes(count: int, *labels: str) -> NodeGroup:
        return NodeGroup(labels=labels, count=count)

    chosen = choose(
        [
            nodes(5, "__KGBuilder__", "__Entity__", "Person"),
            nodes(3, "__KGBuilder__", "Chunk"),
            nodes(1, "__Entity__"),
        ],
        [
            RelationshipGroup(
                type="FROM",
                starts=["__Entity__", "Person"],
                ends=["Chunk", "__KGBuilder__"],
                count=9,
            )
        ],
    )
    assert chosen.labels == {"Chunk": 3, "Person": 5, "__Entity__": 1}
    assert dict(chosen.types["FROM"]) == {("Person", "Chunk"): 9}


def test_names_and_descriptions_are_made_of_the_properties_that_the_ontology_names() -> None:
    rule = NodeLabel(name_from=("first", "last"), text_from=("plot", "genres"))
    own = {
        "first": "Ann",
        "last": "Lee",
        "plot": "A  heist\nat sea.",
        "genres": ["drama", "crime"],
        "year": 1999,
    }
    assert node_texts(own, rule) == ("Ann Lee", "A heist at sea; genres: drama, crime")
    assert (
        node_texts({"text": "word " * 50}, NodeLabel(text_from=("text",)))[0]
        == f"{'word ' * 15}word…"
    )
    assert node_texts({"description": "Its own words."}, rule) == ("Its own words.", "")
    assert node_texts({}, rule) == ("", "")


def test_a_relationship_is_described_by_its_triplet_unless_its_text_names_both_nodes() -> None:
    kind = RelationshipDefinition.model_validate(
        {"from": "A", "to": "B", "type_from": "name", "text_from": ["fact"]}
    )
    ends = ["Ann Lee", "Tidewater"]
    assert relationship_texts({}, "WORKS_AT", kind, ends) == (
        "works at",
        "Ann Lee works at Tidewater",
    )
    assert relationship_texts({"name": "FOUNDED", "fact": "in 1999"}, "RELATES_TO", kind, ends) == (
        "founded",
        "Ann Lee founded Tidewater; fact: in 1999",
    )
    fact = "Ann Lee has kept the books of Tidewater since spring."
    assert relationship_texts({"fact": fact}, "RELATES_TO", kind, ends) == ("relates to", fact)
