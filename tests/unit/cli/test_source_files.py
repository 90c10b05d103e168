"""The files that `kgagent ingest` reads."""

import os
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kgagent.cli.source_files import display_path, find_files, read_sources
from kgagent.errors import InputError
from kgagent.ingestion import Source


def read(file: Path, **options: Any) -> Source:
    [read_file] = read_sources([file], strict=True, **options)
    assert read_file.source is not None
    return read_file.source


def test_readable_files_of_folders_are_found_once_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a.TXT", "sub/c.json", ".git/d.txt", "e.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", "utf-8")
    named = [tmp_path / "e.png", tmp_path, tmp_path / "b.md"]
    assert [file.name for file in find_files(named)] == ["e.png", "a.TXT", "b.md", "c.json"]


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nothing to read in"):
        find_files([tmp_path])


def test_path_is_the_id_unless_file_or_options_give_another(tmp_path: Path) -> None:
    plain, own = tmp_path / "a.txt", tmp_path / "b.json"
    plain.write_text("Hello.", "utf-8")
    own.write_text('{"id": "own", "text": "Hello.", "date": "2026-01-01T18:00:00Z"}', "utf-8")
    assert read(plain).id == str(plain.resolve())
    assert read(own).id == "own"
    assert read(own, source_id="given").id == "given"


def test_date_applies_to_files_without_one(tmp_path: Path) -> None:
    plain, own = tmp_path / "a.txt", tmp_path / "b.json"
    plain.write_text("Hello.", "utf-8")
    own.write_text('{"text": "Hello.", "date": "2026-01-01T18:00:00Z"}', "utf-8")
    given = datetime(2026, 2, 9)
    assert read(plain, date=given).date == datetime(2026, 2, 9, tzinfo=UTC)
    assert read(own, date=given).date == datetime(2026, 1, 1, 18, tzinfo=UTC)


def test_duplicate_id_is_reported(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"id": "same", "text": "Ann sails."}', "utf-8")
    first, second = read_sources(find_files([tmp_path]), strict=False)
    assert first.source is not None
    assert second.source is None
    assert "b.json has the same id as" in second.error


def test_a_path_in_another_unicode_form_is_the_same_id(tmp_path: Path) -> None:
    ids = set()
    for form in ("NFC", "NFD"):
        folder = tmp_path / unicodedata.normalize(form, "Zoë")
        folder.mkdir()
        (folder / "a.txt").write_text("Ann sails.", "utf-8")
        ids.add(read(folder / "a.txt").id)
    assert len(ids) == 1


def test_unreadable_json_and_undecodable_names_are_reported(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000, "utf-8")
    (tmp_path / "marked.json").write_bytes(b'\xef\xbb\xbf{"text": "Ann sails."}')
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt"))
    odd.write_text("Ann sails.", "utf-8")
    found = {Path(one.name).name: one for one in read_sources(find_files([tmp_path]), strict=False)}
    assert "cannot be read" in found["deep.json"].error
    assert found["marked.json"].source is not None
    found[Path(display_path(odd)).name].error.encode("utf-8")
    display_path(odd).encode("utf-8")


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a password", "utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own.txt").write_text("Ann sails.", "utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert [file.name for file in find_files([folder])] == ["own.txt"]
