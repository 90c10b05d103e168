"""Which files are read, and as what."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kgagent.cli.ingest_files import Given, files_in, read_source, read_sources
from kgagent.errors import InputError


def test_of_a_folder_what_can_be_read_is_taken_in_order_and_once(tmp_path: Path) -> None:
    for name in ("b.md", "a.TXT", "sub/c.json", ".git/d.txt", "e.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", "utf-8")
    named = [tmp_path / "e.png", tmp_path, tmp_path / "b.md"]
    assert [file.name for file in files_in(named)] == ["e.png", "a.TXT", "b.md", "c.json"]


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nothing to read in"):
        files_in([tmp_path])


def test_a_path_is_the_id_unless_the_file_or_the_caller_tells_another(tmp_path: Path) -> None:
    plain, own = tmp_path / "a.txt", tmp_path / "b.json"
    plain.write_text("Hello.", "utf-8")
    own.write_text('{"id": "own", "text": "Hello.", "date": "2026-01-01T18:00:00Z"}', "utf-8")
    assert read_source(plain, Given()).id == str(plain.resolve())
    assert read_source(own, Given()).id == "own"
    assert read_source(own, Given(id="given")).id == "given"


def test_a_date_counts_for_files_that_have_none(tmp_path: Path) -> None:
    plain, own = tmp_path / "a.txt", tmp_path / "b.json"
    plain.write_text("Hello.", "utf-8")
    own.write_text('{"text": "Hello.", "date": "2026-01-01T18:00:00Z"}', "utf-8")
    given = Given(date=datetime(2026, 2, 9))
    assert read_source(plain, given).date == datetime(2026, 2, 9, tzinfo=UTC)
    assert read_source(own, given).date == datetime(2026, 1, 1, 18, tzinfo=UTC)


def test_of_several_files_the_broken_one_is_told_beside_the_others(tmp_path: Path) -> None:
    for name, text in (("a.txt", "Hello."), ("b.json", "{")):
        (tmp_path / name).write_text(text, "utf-8")
    good, bad = read_sources(files_in([tmp_path]), Given(), strictly=False)
    assert good.source is not None
    assert (bad.source, "b.json cannot be read" in bad.error) == (None, True)
    with pytest.raises(InputError, match=r"b\.json cannot be read"):
        read_sources(files_in([tmp_path]), Given(), strictly=True)
