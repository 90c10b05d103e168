"""Which nodes a text in the first person calls by their role."""

from dataclasses import replace

import pytest
from kgagent.retrieval.roles import role_keys

from kgagent.graph.records import RelationshipRecord

ROLES = {
    "otto": "brother of",
    "ann": "sister of",
    "bea": "mother of",
    "cleo": "mother-in-law of",
    "dan": "ex-partner of",
    "emil": "step_brother_of",
    "leipzig": "lives in",
    "nick": "works in law with",
    **{f"friend {number}": "friend of" for number in range(6)},
}


def relationships() -> list[RelationshipRecord]:
    return [
        RelationshipRecord(
            element_id=other,
            vector_length=None,
            neo4j_type="has_relationship_with",
            from_entity_key=other,
            to_entity_key="me",
            from_name=other,
            to_name="Lena",
            from_labels=(),
            to_labels=(),
            properties={"relationship_type": kind},
        )
        for other, kind in ROLES.items()
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("What does my brother dislike?", {"otto"}),
        ("Where does My two older brothers' boss work?", {"otto"}),
        ("Who employs my sister's husband?", {"ann"}),
        ("Which town does my brother live in?", {"otto"}),
        ("my mother\u2019s street", {"bea"}),
        ("my mother-in-law\u2019s street", {"cleo"}),
        ("do my mothers in law know each other?", {"cleo"}),
        ("who confided in my ex-partner?", {"dan"}),
        ("who confided in my ex?", {"dan"}),
        ("where does my mother in law live?", {"cleo"}),
        ("where do my in-laws live?", {"cleo"}),
        ("where do my in laws live?", {"cleo"}),
        ("where is my mother\u2010in\u2010law\u2019s house?", {"cleo"}),
        ("where do my mother_in_law's friends live?", {"cleo"}),
        ("is my brother in law school?", {"otto"}),
        ("which town does my step brother live in?", {"emil"}),
        ("who taught my brother's in-laws?", {"otto"}),
        ("does my great mother bake?", {"bea"}),
        ("who confided in my partner?", set()),
        ("who employs my step-sister?", set()),
        ("do my brother and my sister get along?", {"otto", "ann"}),
        ("what do my friends read?", set()),
        ("who is a brother of me?", set()),
        ("Who is my brother?", set()),
        ("tell me about my mother", set()),
        ("my workplace", set()),
        ("my house in the town", set()),
        ("my ex-partner's new house", {"dan"}),
        ("Does Mya know brother Otto?", set()),
    ],
)
def test_a_word_after_my_is_compared_with_the_types_of_the_owner(text: str, meant: set[str]) -> None:
    assert role_keys(text, {"me"}, relationships()) == meant


@pytest.mark.parametrize("part", ["a", "my ", "sister", "in-", "sister-in-", "ex-", "great-", "sister "])
def test_long_types_are_cut(part: str) -> None:
    long = replace(relationships()[0], properties={"relationship_type": part * 30_000})
    assert role_keys(f"what does my brother say? {part * 30_000}", {"me"}, [long, *relationships()]) == {"otto"}
