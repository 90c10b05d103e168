"""What was known of a record on a day, and how it was on another, after random changes, beside the
model of time.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any

import pytest

from kgagent.models.history import HistoryEntry, known_on, parse_history, values_on
from kgagent.models.note import Note, parse_notes
from kgagent.models.when import day_number
from tests.support.time_model import HISTORY_FIELDS, Record
from tests.support.time_model import Note as ModelNote

CHANGES = 2_000
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)


def some_day(random: Random) -> str:
    return str(date(2019, 1, 1) + timedelta(days=random.randrange(1_800)))


def some_value(random: Random, name: str) -> object:
    first, last = sorted((some_day(random), some_day(random)))
    return {
        "relationship_type": random.choice(["friend", "rival", "friend, rival"]),
        "description": random.choice(["They bake", "They row", "They sail"]),
        "attitude": random.randint(1, 5),
        "proximity": random.randint(1, 5),
        "when": random.choice([f"{first}/{last}", f"{first}/..", first[:4], first[:7]]),
    }[name]


def change(record: Record, random: Random, now: datetime) -> None:
    """A write of some fields, perhaps a correction, perhaps said on another day, and a note."""
    values = {one: some_value(random, one) for one in HISTORY_FIELDS if random.random() < 0.35}
    said_on = random.choice([None, some_day(random)])
    if values:
        record.hear(said_on, None)
        record.change(values, now, corrected=random.random() < 0.25, said_on=said_on)
    if random.random() < 0.5:
        name = random.choice("abc")
        record.add(ModelNote(name, some_day(random), None, None, said_on, now.date()), now)


def stored(record: Record) -> tuple[dict[str, Any], list[HistoryEntry], list[Note]]:
    """The properties, the history and the notes that kgagent has of it."""
    properties = {name: value for name, value in record.values.items() if value is not None}
    if record.said_on:
        properties["said_on"] = record.said_on
    history = [
        HistoryEntry(
            field=one.field,
            value=one.value,
            when=one.when,
            until=one.until,
            ended=one.ended,
            said_on=one.said_on,
            corrected=one.corrected,
        )
        for one in record.history
    ]
    notes = [
        Note(
            content=one.content,
            when=one.when,
            said_on=one.said_on,
            date_added=datetime.combine(one.added, time(), UTC),
        )
        for one in record.notes
    ]
    return properties | ({"notes": "some"} if notes else {}), history, notes


def fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values.get(name) or None for name in HISTORY_FIELDS}


@pytest.mark.parametrize("seed", range(3))
def test_what_was_known_on_a_day_is_what_the_model_knows(seed: int) -> None:
    random, changes, taken_back = Random(seed), 0, 0
    while changes < CHANGES:
        said_on = random.choice([None, some_day(random)])
        record = Record({"relationship_type": "friend"}, said_on=said_on, created=WRITTEN)
        now = WRITTEN
        for _ in range(random.randrange(1, 8)):
            now += timedelta(days=random.choice([0, 0, 3, 9]))
            change(record, random, now)
            changes += 1
        properties, history, notes = stored(record)
        for day in (some_day(random), str(now.date() - timedelta(days=random.randrange(12)))):
            if (then := record.known_on(day)) is None:
                continue
            number = day_number(datetime.fromisoformat(day))
            known = known_on(properties, history, notes, number)
            found = properties | known
            assert fields(found) == fields(then.values)
            if then.is_valid(as_of := some_day(random)):
                left = parse_history(found.get("history")) if "history" in known else history
                number = day_number(datetime.fromisoformat(as_of))
                on_day = found | values_on(found, left, number)
                assert fields(on_day) == fields(then.values_on(as_of))
            kept = notes if found.get("notes") == "some" else parse_notes(found.get("notes"))
            assert sorted(one.content for one in kept) == sorted(one.content for one in then.notes)
            taken_back += then.values != record.values
    assert taken_back > CHANGES / 20
