"""Which nodes a text in the first person calls by their role."""

import pytest

from kgagent.graph.records import RelationshipRecord
from kgagent.retrieval.roles import role_keys

ROLES = {
    "otto": "brother of",
    "ann": "sister of",
    "bea": "mother of",
    "cleo": "mother-in-law of",
    "dan": "ex-partner of",
    "leipzig": "lives in",
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
