"""Reads the files of export."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def content_of(file: Path) -> bytes:
    """All bytes."""
    return file.read_bytes()


def header_of(file: Path) -> dict[str, Any]:
    """The first line."""
    header: dict[str, Any] = json.loads(file.read_bytes().splitlines()[0])
    return header


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The lines between the header and the footer."""
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[1:-2]]


def rewrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file."""
    file.write_bytes(change(file.read_bytes()))
