"""The passages of texts: whole turns and sentences, with exact positions."""

from hypothesis import given
from hypothesis import strategies as st

from kgagent.graph.passages import PASSAGE_LENGTH, passages_of

LINES = st.sampled_from(
    [
        "Ruth: Hello.",
        "Me: The mill is old. It creaks!",
        "Note: one",
        "",
        "# Heading",
        "### Below " + "y" * 80,
        "```",
        "x" * 1_500,
    ]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_passages_are_the_text_in_order_without_white_space(text: str) -> None:
    end = 0
    for part in passages_of(text):
        assert text[part.start :].startswith(part.text)
        assert text[end : part.start].strip() == ""
        assert 0 < len(part.text) <= PASSAGE_LENGTH
        assert part.text == part.text.strip()
        end = part.start + len(part.text)
    assert text[end:].strip() == ""


def test_short_turns_are_one_passage_and_long_ones_are_their_own() -> None:
    rest = " and the rest" * 30
    turns = [f"Ruth (2023-04-02): One{rest}.", f"Me: Two: three.\nAnd four{rest}."]
    short = ["Ruth: Five?", "Me: Six.", "Ruth: Seven."]
    found = [part.text for part in passages_of("\n".join([*turns, *short]))]
    assert found == [*turns, "\n".join(short)]
    for text in ("Notes.\n\nRuth: a.\n\nRuth: b.", "# Talk: c\nRuth: a.\nRuth: b."):
        assert [part.text for part in passages_of(text + rest)] == [text + rest]
