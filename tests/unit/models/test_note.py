import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.models import Note
from kgagent.models.merged_notes import add_notes, merge_notes
from kgagent.models.note import dump_notes, notes_text_at, parse_notes

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOON = NOW + timedelta(days=7)
LATER = NOW + timedelta(days=30)

characters = st.characters(codec="utf-8")
notes = st.builds(
    Note,
    content=st.text(characters, min_size=1),
    when=st.none() | st.just("2025-05"),
    said_on=st.none() | st.just("2025-06-01"),
    added_by=st.text(characters, min_size=1),
    date_added=st.none() | st.datetimes(timezones=st.just(UTC)),
    source_entity_key=st.none() | st.text(characters),
    expires_at=st.none() | st.datetimes(timezones=st.just(UTC)),
)


@given(st.lists(notes).map(tuple))
def test_notes_are_read_as_they_were_written(given_notes: tuple[Note, ...]) -> None:
    assert parse_notes(dump_notes(given_notes)) == given_notes


def test_notes_are_stored_as_a_json_list_of_their_fields() -> None:
    note = Note(content="x", added_by="u", date_added=NOW, source_entity_key="k", expires_at=None)
    assert json.loads(dump_notes([note])) == [
        {
            "content": "x",
            "added_by": "u",
            "date_added": "2026-01-01T00:00:00Z",
            "source_entity_key": "k",
            "expires_at": None,
        }
    ]


@pytest.mark.parametrize("stored", [None, "", "[]", [], "null", "[null]"])
def test_a_missing_value_reads_as_no_notes(stored: object) -> None:
    assert parse_notes(stored) == ()


@pytest.mark.parametrize(
    ("stored", "contents"),
    [
        ("They met in May", ["They met in May"]),
        ("1e5", ["1e5"]),
        ("true", ["true"]),
        ("[draft] call her", ["[draft] call her"]),
        ("{not json", ["{not json"]),
        ("[" * 100_000, ["[" * 100_000]),
        ('"quoted"', ["quoted"]),
        ('["a", "b"]', ["a", "b"]),
        (["a", "b"], ["a", "b"]),
        (["a", '{"content": "b"}'], ["a", "b"]),
        ('{"content": "alone"}', ["alone"]),
        ('[{"content": "a"}, "b", 3]', ["a", "b", "3"]),
        ('[{"text": "no content"}]', ['{"text": "no content"}']),
        ('[{"content": 7}]', ["7"]),
    ],
)
def test_notes_of_old_graphs_lose_no_text(stored: object, contents: list[str]) -> None:
    assert [note.content for note in parse_notes(stored)] == contents


def test_an_unreadable_field_of_a_note_is_omitted() -> None:
    [note] = parse_notes(
        '[{"content": "a", "added_by": null, "date_added": "last May", "expires_at": "2026-01-08"}]'
    )
    assert (note.content, note.added_by, note.date_added) == ("a", "unknown", None)
    assert note.expires_at == SOON


def test_a_time_without_zone_is_read_as_utc() -> None:
    [note] = parse_notes('[{"content": "a", "date_added": "2026-01-01T00:00:00"}]')
    assert note.date_added == NOW


def test_text_leaves_out_expired_notes_and_joins_the_others_by_one_space() -> None:
    stored = [
        Note(content="old", expires_at=NOW),
        Note(content="a", expires_at=SOON),
        Note(content="b"),
    ]
    assert notes_text_at(stored, NOW) == "a b"
    assert notes_text_at(stored, SOON) == "b"


def test_the_same_note_again_extends_its_lifetime() -> None:
    first, again = (
        Note(content="a", expires_at=SOON),
        Note(content="a", added_by="other", expires_at=LATER),
    )
    [kept] = add_notes((first,), [again], NOW)
    assert kept == first.model_copy(update={"expires_at": LATER})
    assert add_notes((kept,), [first], NOW) == (kept,)


def test_the_same_note_said_earlier_is_known_since_then() -> None:
    said = Note(content="a", when="2025", said_on="2025-06", date_added=NOW)
    told, earlier, later = (
        said.model_copy(update={"said_on": day}) for day in (None, "2025-05", "2025-07")
    )
    assert add_notes((said,), [later, told], NOW) == (said,)
    assert add_notes((told,), [said, earlier], NOW) == (earlier,)


def test_when_a_note_was_said_is_stored_and_shown_if_it_is_about_another_time() -> None:
    same, apart = (Note(content="a", when="2025", said_on=day) for day in ("2025", "2026"))
    assert parse_notes(dump_notes([same, apart])) == (same, apart)
    assert [note.model_dump().get("said_on") for note in (same, apart)] == [None, "2026"]


def test_an_expired_note_added_again_is_a_new_note() -> None:
    expired, again = Note(content="a", expires_at=NOW), Note(content="a", expires_at=LATER)
    assert add_notes((expired,), [again], NOW) == (expired, again)


def test_the_same_words_from_another_source_are_another_note() -> None:
    one, other = (
        Note(content="a", source_entity_key="s1"),
        Note(content="a", source_entity_key="s2"),
    )
    assert add_notes((one,), [other], NOW) == (one, other)


@given(st.lists(notes).map(tuple), st.lists(notes))
def test_adding_notes_loses_none(existing: tuple[Note, ...], added: list[Note]) -> None:
    together = add_notes(existing, added, NOW)
    assert [note.content for note in together[: len(existing)]] == [
        note.content for note in existing
    ]
    assert {note.content for note in together} == {note.content for note in (*existing, *added)}


def test_notes_of_several_records_are_sorted_by_time_without_duplicates() -> None:
    early, late = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2))
    old = Note(content="old")
    kept = Note(content="same", date_added=early, expires_at=late)
    again = Note(content="same", date_added=late)
    elsewhere = Note(content="same", date_added=early, source_entity_key="s")
    assert merge_notes([again], [elsewhere, old, kept]) == (
        old,
        elsewhere,
        kept.model_copy(update={"expires_at": None}),
    )
    assert merge_notes([kept], [again.model_copy(update={"expires_at": early})]) == (kept,)
