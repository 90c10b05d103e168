"""What a source is, and what makes it the same one."""

from datetime import UTC, datetime

import pytest

from kgagent.errors import InputError
from kgagent.ingestion import Source, Turn

TALK = Source(name="Talk", turns=(Turn(speaker="Ada", text="Hello."), Turn(speaker="Bo", text="Hello, Ada.")))


def test_name_description_and_date_do_not_make_it_another_source() -> None:
    other = Source(name="Other", description="Said otherwise", turns=TALK.turns, date=datetime(2026, 1, 1, tzinfo=UTC))
    assert other.fingerprint == TALK.fingerprint


def test_what_is_said_by_whom_and_when_does() -> None:
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


def test_line_ends_and_space_around_do_not() -> None:
    unix, windows = Source(name="x", text="One.\n\nTwo."), Source(name="x", text="  One.\r\n\r\nTwo.\r\n")
    assert unix.fingerprint == windows.fingerprint


def test_a_source_has_turns_or_a_text() -> None:
    with pytest.raises(InputError, match="got neither"):
        Source(name="x", text="  ")
    with pytest.raises(InputError, match="got both"):
        Source(name="x", text="Some", turns=TALK.turns)


def test_it_is_described_by_what_it_is_unless_the_caller_says() -> None:
    assert TALK.told == "Conversation of Ada, Bo."
    assert Source(name="x", text="one two three").told == "Text of 3 words."
    assert Source(name="x", text="one", description="A letter.").told == "A letter."
    crowd = tuple(Turn(speaker=f"S{n}", text="x") for n in range(8))
    assert Source(name="x", turns=crowd).told == "Conversation of S0, S1, S2, S3, S4 and 3 others."


def test_an_id_is_no_part_of_what_a_source_says() -> None:
    assert TALK.model_copy(update={"id": "talks/1"}).fingerprint == TALK.fingerprint
    assert not TALK.id
