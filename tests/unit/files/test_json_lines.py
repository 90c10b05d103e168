"""Reading JSON Lines: which lines there are, and what is wrong with a line that cannot be read."""

from pathlib import Path

import pytest

from kgagent.errors import InputError
from kgagent.files.json_lines import FileLine, parse_line, read_lines
from kgagent.files.load_lines import LINES


def write(folder: Path, content: bytes) -> Path:
    path = folder / "lines.jsonl"
    path.write_bytes(content)
    return path


def test_lines_are_numbered_as_in_an_editor(tmp_path: Path) -> None:
    lines = list(read_lines(write(tmp_path, b"one\n\n  \nfour\nfive")))
    assert [(line.number, line.content) for line in lines] == [
        (1, b"one\n"),
        (4, b"four\n"),
        (5, b"five"),
    ]


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    lines = list(read_lines(write(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\n")))
    assert [line.content.strip() for line in lines] == [b"one", b"two"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"kind": "caf\xe9"}', "not UTF-8: byte 0xe9 at column 14"),
        (
            b'{"kind": "node"',
            "not JSON: EOF while parsing an object at column 15; each line of the file must be one",
        ),
        (rb'{"kind": "node", "label": "P", "name": "\ud800"}', "not JSON"),
        (b"[" * 100_000, "not JSON: recursion limit exceeded"),
        (b"9" * 5_000, "not JSON: number out of range"),
        (b"[]", "not a JSON object"),
        (b"{}", 'kind must be "node" or "relationship"'),
        (b'{"kind": ["node"]}', 'kind must be "node" or "relationship"'),
        (b'{"kind": "node", "label": "Person"}', "name is missing"),
    ],
)
def test_what_is_wrong_with_a_line_is_described(content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_line(FileLine(1, content), LINES)
    assert str(caught.value).startswith(problem)


def test_what_is_no_file_of_lines_is_refused(tmp_path: Path) -> None:
    utf16 = write(tmp_path, '{"a": 1}'.encode("utf-16"))
    for path, problem in (
        (utf16, "is UTF-16; save it as UTF-8"),
        (tmp_path / "nothing.jsonl", r"nothing\.jsonl cannot be read: No such file"),
        (tmp_path, "not a regular file"),
    ):
        with pytest.raises(InputError, match=problem):
            list(read_lines(path))
