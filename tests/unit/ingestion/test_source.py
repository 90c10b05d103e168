"""Validation and identity of sources."""

from datetime import UTC, datetime

import pytest

from kgagent.errors import InputError
from kgagent.ingestion import Source, Turn

TALK = Source(
    name="Talk", turns=(Turn(speaker="Ada", text="Hello."), Turn(speaker="Bo", text="Hello, Ada."))
)


def test_fingerprint_ignores_id_name_description_and_date() -> None:
    other = Source(
        id="1",
        name="Other",
        description="Said otherwise",
        turns=TALK.turns,
        date=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert other.fingerprint == TALK.fingerprint


def test_fingerprint_depends_on_speaker_text_time_and_order() -> None:
    first, second = TALK.turns
    others = (
        (first, second.model_copy(update={"text": "Hello!"})),
        (first, second.model_copy(update={"speaker": "Cy"})),
        (first, second.model_copy(update={"at": datetime(2026, 1, 1, tzinfo=UTC)})),
        (second, first),
        (first,),
    )
    prints = {Source(name="Talk", turns=turns).fingerprint for turns in others}
    assert len(prints | {TALK.fingerprint}) == 6


def test_fingerprint_ignores_line_endings_surrounding_space_and_forms_of_letters() -> None:
    unix, windows = (
        Source(name="x", text="Zo\u00eb.\n\nTwo."),
        Source(name="x", text="  Zoe\u0308.\r\n\r\nTwo.\r\n"),
    )
    assert unix.fingerprint == windows.fingerprint


def test_source_requires_either_turns_or_text() -> None:
    with pytest.raises(InputError, match="got neither"):
        Source(name="x", text="  ")
    with pytest.raises(InputError, match="got both"):
        Source(name="x", text="Some", turns=TALK.turns)


def test_summary_is_generated_unless_a_description_is_given() -> None:
    assert TALK.summary == "Conversation of Ada, Bo."
    assert Source(name="x", text="one two three").summary == "Text of 3 words."
    assert Source(name="x", text="one", description="A letter.").summary == "A letter."
    crowd = tuple(Turn(speaker=f"S{n}", text="x") for n in range(8))
    assert Source(name="x", turns=crowd).summary.endswith("S6, S7.")
