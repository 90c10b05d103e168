"""A file of another format is one error, not one for each line."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kgagent.errors import InputError
from kgagent.files.conversion import Target
from kgagent.files.export_format import Header
from kgagent.files.json_lines import dump_line
from kgagent.files.line_source import LineSource
from kgagent.files.load_reader import LoadReader
from kgagent.ontology import default_ontology

PERSON = {"kind": "node", "label": "Person", "name": "Ruth"}


def reader_of(path: Path, user_id: str = "me") -> LoadReader:
    return LoadReader(
        LineSource([path], Target(default_ontology(), user_id)),
        user_id=user_id,
        ontology=default_ontology(),
        now=datetime(2026, 1, 1, tzinfo=UTC),
        owners={},
    )


def check(folder: Path, content: str) -> dict[int, str]:
    path = folder / "people.txt"
    path.write_text(content, "utf-8")
    reader = reader_of(path)
    reader.check()
    return reader.problems


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("name,label\nRuth,Person\n", "line 1: not JSON"),
        (json.dumps([PERSON, PERSON]), "line 1: not a JSON object"),
        (
            dump_line(Header(user_id="me", embeddings=None, ontology="x")).decode(),
            "line 1: kind must be",
        ),
    ],
)
def test_another_format_is_one_error_with_what_is_expected(
    tmp_path: Path, content: str, problem: str
) -> None:
    with pytest.raises(
        InputError, match=rf"^people\.txt has no line that can be loaded; {problem}.*kgagent import"
    ):
        check(tmp_path, content)


def test_one_valid_line_is_enough_for_a_report_of_each_line(tmp_path: Path) -> None:
    assert sorted(check(tmp_path, f"not json\n{json.dumps(PERSON)}\n{{")) == [1, 3]
    assert check(tmp_path, "") == {}


def key(folder: Path, *, user_id: str = "me", **fields: object) -> str:
    path = folder / "node.jsonl"
    path.write_text(json.dumps({"kind": "node", **fields}), "utf-8")
    reader = reader_of(path, user_id)
    reader.check()
    [line] = reader.node_intents()
    return line.value.entity_key


def test_a_person_has_the_given_key_or_one_of_user_and_id_or_one_of_user_and_line(
    tmp_path: Path,
) -> None:
    person = {"label": "Person", "name": "Ruth"}
    assert key(tmp_path, **person, id="r", entity_key="k-1") == "k-1"
    of_id = key(tmp_path, **person, id="r")
    assert of_id == key(tmp_path, label="Person", name="Ruth A.", id="r")
    of_line = key(tmp_path, **person)
    assert of_line == key(tmp_path, **person)
    others = {
        key(tmp_path, **person, id="s"),
        key(tmp_path, user_id="you", **person, id="r"),
        key(tmp_path, **person, description="Another"),
    }
    assert len(others | {of_id, of_line}) == 5


def test_concept_has_the_key_of_its_rule(tmp_path: Path) -> None:
    expected = (
        default_ontology()
        .label("Concept")
        .entity_key(name="Debt", description="", user_id="me", created_at="")
    )
    assert key(tmp_path, label="Concept", name="debt", id="x") == expected


def test_source_has_the_same_key_at_every_load_with_a_time_and_without(tmp_path: Path) -> None:
    assert key(tmp_path, label="Source", name="Diary", description="d") == key(
        tmp_path, label="Source", name="Diary", description="d"
    )
    at = "2024-05-01T12:00:00+02:00"
    assert key(tmp_path, label="Source", name="Diary", created_at=at) == key(
        tmp_path, label="Source", name="Diary", created_at="2024-05-01T10:00:00Z"
    )
    assert key(tmp_path, label="Source", name="Diary", created_at=at) != key(
        tmp_path, label="Source", name="Diary"
    )


def test_problems_of_a_node_are_named(tmp_path: Path) -> None:
    lines = [
        PERSON,
        {**PERSON, "label": "Persn"},
        {**PERSON, "label": "Source", "created_at": "0001-01-01T00:00:00+12:00"},
    ]
    problems = check(tmp_path, "\n".join(map(json.dumps, lines)))
    assert problems[2].startswith("Unknown label: Persn. Known labels: Person")
    assert problems[3].startswith("created_at: the time is out of range in UTC")
