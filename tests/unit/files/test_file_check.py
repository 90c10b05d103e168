"""A file of another format is one error, not one for each line."""

import json
from pathlib import Path

import pytest

from kgagent.errors import InputError
from kgagent.files.export_format import Header, dump_line
from kgagent.files.load_check import check_file
from kgagent.ontology import default_ontology

PERSON = {"kind": "node", "label": "Person", "name": "Ruth"}
EXPECTED = "`kgagent load` reads JSON Lines, one JSON object per line, such as "


def check(folder: Path, content: str) -> dict[int, str]:
    path = folder / "people.txt"
    path.write_text(content, "utf-8")
    return check_file(path, user_id="me", ontology=default_ontology()).problems


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        ("name,label\nRuth,Person\nInes,Person\n", "looks like a table (CSV)"),
        (json.dumps([PERSON, PERSON], indent=1), "looks like a JSON array"),
        (f"[\n{json.dumps(PERSON)},\n{json.dumps(PERSON)}\n]", "looks like a JSON array"),
        (json.dumps({"people": [PERSON]}, indent=1), "looks like JSON over several lines"),
        ("Ruth\nInes", "has no line of JSON"),
    ],
)
def test_another_format_is_one_error_with_what_is_expected(tmp_path: Path, content: str, looks: str) -> None:
    with pytest.raises(InputError) as caught:
        check(tmp_path, content)
    assert str(caught.value).startswith(f"people.txt {looks}. {EXPECTED}")
    assert str(caught.value).endswith("docs/load-format.md describes them")


def test_an_export_is_to_be_imported(tmp_path: Path) -> None:
    header = Header(user_id="me", embeddings=None, ontology="x")
    with pytest.raises(InputError, match=r"^people\.txt is an export of kgagent: read it with `kgagent import`$"):
        check(tmp_path, dump_line(header).decode())


def test_one_line_of_json_is_enough_for_a_report_of_each_line(tmp_path: Path) -> None:
    assert sorted(check(tmp_path, f"not json\n{json.dumps(PERSON)}\n{{")) == [1, 3]
    assert sorted(check(tmp_path, 'not json\n{"kind": "other"}')) == [1, 2]
    assert check(tmp_path, "") == {}
