from pathlib import Path

import pytest

from kgagent.errors import InputError
from kgagent.files import json_lines
from kgagent.files.json_lines import read_lines


def write(folder: Path, content: bytes) -> Path:
    path = folder / "lines.jsonl"
    path.write_bytes(content)
    return path


def test_lines_are_numbered_as_in_an_editor(tmp_path: Path) -> None:
    found = list(read_lines(write(tmp_path, b"one\n\n  \nfour\nfive")))
    assert [(line.number, line.text) for line in found] == [(1, "one"), (4, "four"), (5, "five")]


def test_byte_order_mark_and_windows_line_ends_are_ignored(tmp_path: Path) -> None:
    found = list(read_lines(write(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\n")))
    assert [line.text for line in found] == ["one", "two"]


def test_bytes_that_are_not_utf8_are_a_problem_of_their_line_alone(tmp_path: Path) -> None:
    found = list(read_lines(write(tmp_path, b"one\ncaf\xe9\nthree\n")))
    assert [line.problem for line in found] == ["", "not UTF-8: byte 0xe9 at column 4", ""]


def test_a_huge_line_is_a_problem_and_the_next_line_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE_LENGTH", 1024**2)
    huge = b"x" * (5 * 1024**2)
    found = list(read_lines(write(tmp_path, b"one\n" + huge + b"\nthree\n" + huge)))
    assert [(line.number, line.text, line.problem) for line in found] == [
        (1, "one", ""),
        (2, "", "longer than 1 MiB"),
        (3, "three", ""),
        (4, "", "longer than 1 MiB"),
    ]


def test_utf16_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is UTF-16; save it as UTF-8"):
        list(read_lines(write(tmp_path, '{"a": 1}'.encode("utf-16"))))


def test_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(write(tmp_path, b""))) == []


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl cannot be read: No such file"):
        list(read_lines(tmp_path / "nothing.jsonl"))


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        list(read_lines(tmp_path))
