"""The passages of texts: whole turns and sentences, with exact positions."""

from hypothesis import given
from hypothesis import strategies as st

from kgagent.graph.passages import PASSAGE_LENGTH, passages_of

LINES = st.sampled_from(
    ["Ruth: Hello.", "Me: The mill is old. It creaks!", "Note: one", "", "# Heading", "x" * 1_500]
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


def test_no_passage_has_parts_of_two_turns() -> None:
    turns = ["Ruth (2023-04-02): One.", "Me: Two: three.\nAnd four.", "Ruth: Five.", "Me: Six."]
    assert [part.text for part in passages_of("\n".join(turns))] == turns
    text = "# Notes\n\nRuth: a name.\n\nRuth: again."
    assert [part.text for part in passages_of(text)] == [text]
