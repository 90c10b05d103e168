"""Levels that a query says, by their words or by speaking of dislike."""

import pytest

from kgagent.ontology import default_ontology
from kgagent.retrieval.said_levels import said_levels

ONTOLOGY = default_ontology()


def attitudes(text: str) -> set[int]:
    """The levels of attitude between people that a text says."""
    levels = said_levels(text, ONTOLOGY)
    return {one["level"] for one in levels if (one["type"], one["field"]) == ("has_relationship_with", "attitude")}


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
    assert {one["bonus"] for one in said_levels("who is hostile?", ONTOLOGY) if one["level"] == 1} == {0.3}
    assert {one["bonus"] for one in said_levels("who is close?", ONTOLOGY)} == {0.1}
