"""The sentences of a passage that an answer quotes."""

from kgagent.answers.passage_text import quoted

TURNS = [
    "Anna: We spent the whole of yesterday in the great hall, around the long table, with old friends"
    " from the reading room, until the lamps went out.",
    "Assistant: Was Lars given something for his farewell, after all these years?",
    "Anna: A barometer of brass from the sale in Odense, and he wept when he had found the names of"
    " all forty of us on its back, in a fine hand.",
    "Anna: Then came the cake.",
]


def test_a_question_is_quoted_with_what_follows_it() -> None:
    quote = quoted("\n".join(TURNS), {"lars", "farewell"})
    assert quote.startswith(f"… {TURNS[1]} {TURNS[2]}")


def test_the_sentences_with_most_of_the_words_are_quoted_in_their_order() -> None:
    quote = quoted("\n".join([*TURNS, *TURNS[:2]]), {"cake", "barometer"})
    assert f"{TURNS[2]} {TURNS[3]}" in quote
    assert quote.endswith(" …")
    assert quoted(TURNS[0], set()) == TURNS[0]
