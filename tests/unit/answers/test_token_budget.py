import pytest

from kgagent.answers.token_budget import cut, cut_record, estimated_tokens, json_tokens

LONG = "one two three " * 200


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("mentor", 2),
        ("a b c", 3),
        ("1234567", 3),
        ("我的导师", 4),
        ("🎉🎉", 4),
        ("a\nb", 3),
        ("!?", 2),
    ],
)
def test_the_estimate_counts_words_numbers_signs_and_other_scripts(text: str, least: int) -> None:
    assert least <= estimated_tokens(text) <= 2 * least


@pytest.mark.parametrize("room", range(0, 60, 7))
def test_a_cut_text_fits_and_counts_what_it_omits(room: int) -> None:
    shown = cut(LONG, room)
    assert estimated_tokens(shown) <= room
    if shown:
        kept, _, rest = shown.partition("… (+")
        assert LONG.startswith(kept)
        assert int(rest.removesuffix(" characters)").replace(",", "")) == len(LONG) - len(kept)


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut("as it is", 10) == "as it is"


def test_a_cut_record_omits_notes_first_and_counts_them() -> None:
    record = {"name": "Ada", "notes": [{"content": f"Note {number}"} for number in range(30)]}
    shown = cut_record(record, 60)
    assert shown is not None
    assert json_tokens(shown) <= 60
    assert shown["notes"] == record["notes"][: len(shown["notes"])]
    assert shown["omitted_notes"] == 30 - len(shown["notes"])
    assert len(record["notes"]) == 30


def test_a_cut_record_shortens_its_longest_texts_and_says_so() -> None:
    shown = cut_record(
        {"entity_key": "k" * 200, "description": LONG, "nodes": [{"text": LONG}]}, 250
    )
    assert shown is not None
    assert json_tokens(shown) <= 250
    assert shown["entity_key"] == "k" * 200
    assert shown["description"].endswith(" characters)")
    kept = shown["description"].partition("… (+")[0]
    assert f"(+{len(LONG) - len(kept):,} characters)" in shown["description"]


def test_a_record_that_cannot_be_cut_is_none() -> None:
    assert cut_record({"entity_key": "k" * 200}, 10) is None


@pytest.mark.parametrize("room", [-75, 0, 1])
def test_without_room_for_anything_a_record_is_none(room: int) -> None:
    assert cut_record({"description": LONG, "notes": [{"content": LONG}]}, room) is None
