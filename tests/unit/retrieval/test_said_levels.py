"""Levels that a query says, by their words or by speaking of dislike."""

import pytest
from kgagent.retrieval.said_levels import said_levels, said_of_anybody

from kgagent.ontology import default_ontology

ONTOLOGY = default_ontology()


def attitudes(text: str) -> set[int]:
    """The levels of attitude between people that a text says."""
    return {level for level, bonus in attitude_bonuses(text).items() if bonus > 0}


def attitude_bonuses(text: str) -> dict[int, float]:
    """What a relationship between people scores more at each level of attitude."""
    levels = said_levels(text, ONTOLOGY)
    of_people = [one for one in levels if (one["type"], one["field"]) == ("has_relationship_with", "attitude")]
    return {one["level"]: one["bonus"] for one in of_people}


@pytest.mark.parametrize(
    "text",
    [
        "Who don't I get along with?",
        "Whom do I not like?",
        "who can\u2019t I stand",
        "Who do I dislike?",
        "Who am I in conflict with?",
        "my enemies",
        "With whom did I fall out?",
        "Who do I get along with least?",
        "Who is hostile to me?",
    ],
)
def test_a_text_about_dislike_says_the_two_lower_levels_of_attitude(text: str) -> None:
    assert attitudes(text) == {1, 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Who is friendly to me?", {4}),
        ("Who do I get along with?", set()),
        ("Who likes me?", set()),
        ("What did I not buy although my sister would like it?", set()),
        ("the hat of my aunt", set()),
        ("Do I like it if nobody gets on the bus?", set()),
    ],
)
def test_other_texts_say_the_levels_of_their_words(text: str, said: set[int]) -> None:
    assert attitudes(text) == said


def test_dislike_counts_more_than_the_word_of_a_level() -> None:
    assert attitude_bonuses("who is hostile?")[1] == 0.3
    assert attitude_bonuses("who is close?")[5] == 0.15


def test_what_contradicts_a_said_level_costs_as_much_as_the_level_gains() -> None:
    assert attitude_bonuses("who is close?") == {5: 0.15, 1: -0.15, 2: -0.15}
    assert attitude_bonuses("which friend of mine dislikes cheese?") == {1: 0.3, 2: 0.3}
    assert attitude_bonuses("who is neutral?") == {3: 0.15}


@pytest.mark.parametrize(
    "text",
    ["hostile", "friendly or close", "who is hostile to whom?", "hostile relationships of Ada", "who is close to Ada?"],
)
def test_a_text_about_levels_says_attitudes_of_anybody(text: str) -> None:
    assert {abs(one["bonus"]) for one in said_of_anybody(text, ONTOLOGY)} == {0.15}


@pytest.mark.parametrize("text", ["When did the shop close?", "Who is hostile to me?", "related", "familiar"])
def test_another_text_says_no_attitude_of_anybody(text: str) -> None:
    assert said_of_anybody(text, ONTOLOGY) == []
