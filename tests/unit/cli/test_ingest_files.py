"""Which files are read, and as what."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kgagent.cli.ingest_files import Given, display_path, files_in, read_source, read_sources
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


def test_a_file_of_another_ones_id_is_told(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"id": "same", "text": "Ann sails."}', "utf-8")
    first, second = read_sources(files_in([tmp_path]), Given(), strictly=False)
    assert first.source is not None
    assert second.source is None
    assert "b.json has the id of" in second.error


def test_json_nested_too_deep_and_a_name_that_is_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000, "utf-8")
    (tmp_path / "marked.json").write_bytes(b'\xef\xbb\xbf{"text": "Ann sails."}')
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt"))
    odd.write_text("Ann sails.", "utf-8")
    found = {one.file.name: one for one in read_sources(files_in([tmp_path]), Given(), strictly=False)}
    assert "cannot be read" in found["deep.json"].error
    assert found["marked.json"].source is not None
    found[odd.name].error.encode("utf-8")
    display_path(odd).encode("utf-8")


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a password", "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own.txt").write_text("Ann sails.", "utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert [file.name for file in files_in([folder])] == ["own.txt"]


def test_of_several_files_the_broken_one_is_told_beside_the_others(tmp_path: Path) -> None:
    for name, text in (("a.txt", "Hello."), ("b.json", "{")):
        (tmp_path / name).write_text(text, "utf-8")
    good, bad = read_sources(files_in([tmp_path]), Given(), strictly=False)
    assert good.source is not None
    assert (bad.source, "b.json cannot be read" in bad.error) == (None, True)
    with pytest.raises(InputError, match=r"b\.json cannot be read"):
        read_sources(files_in([tmp_path]), Given(), strictly=True)
