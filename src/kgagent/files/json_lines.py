"""Reads a file of UTF-8 lines one by one."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kgagent.errors import InputError

MAX_LINE_LENGTH = 4 * 1024 * 1024
"""Maximum bytes of a line; a longer line is skipped without being read into memory."""


@dataclass(frozen=True)
class FileLine:
    """A line that is not blank.

    Attributes:
        number: line number, from 1.
        text: content of the line; empty if it is unreadable.
        problem: why it is unreadable; empty if it is not.
    """

    number: int
    text: str
    problem: str = ""


def read_lines(path: Path) -> Iterator[FileLine]:
    """Read a file of UTF-8 lines; a byte order mark and blank lines are skipped, and any line ending is accepted.

    Raises:
        InputError: the file cannot be read, is not a regular file, or is UTF-16.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; it is read several times, so save a pipe to a file first")
    try:
        with path.open("rb") as stream:
            _skip_byte_order_mark(stream, path)
            yield from _lines(stream)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _skip_byte_order_mark(stream: BinaryIO, path: Path) -> None:
    start = stream.read(len(BOM_UTF8))
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16; save it as UTF-8")
    if start != BOM_UTF8:
        stream.seek(0)


def _lines(stream: BinaryIO) -> Iterator[FileLine]:
    number = 0
    while content := stream.readline(MAX_LINE_LENGTH + 1):
        number += 1
        if len(content) > MAX_LINE_LENGTH and not content.endswith(b"\n"):
            _skip_rest(stream)
            yield FileLine(number, "", f"longer than {MAX_LINE_LENGTH // 1024**2} MiB")
        elif content.strip():
            yield _decode(number, content)


def _skip_rest(stream: BinaryIO) -> None:
    while (part := stream.readline(MAX_LINE_LENGTH)) and not part.endswith(b"\n"):
        pass


def _decode(number: int, content: bytes) -> FileLine:
    try:
        return FileLine(number, content.decode().strip())
    except UnicodeDecodeError as error:
        return FileLine(number, "", f"not UTF-8: byte 0x{content[error.start]:02x} at column {error.start + 1}")
