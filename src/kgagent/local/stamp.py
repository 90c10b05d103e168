"""Stamps: which files were verified, so that they need not be read again each time.

A stamp holds the size and the time of change of each file. A file that was changed after it was verified has another
time, and is read again.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.files import replace_private_file
from kgagent.local.lock import Lock


class Stamp(BaseModel):
    """What was verified: checksum, size and time of change (nanoseconds) of each file, in the lock's order."""

    model_config = ConfigDict(frozen=True)

    files: tuple[tuple[str, int, int], ...]


def read_stamp(path: Path) -> Stamp | None:
    """The stamp at `path`; None where there is none that can be read."""
    try:
        return Stamp.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


def stamp_holds(stamp: Stamp | None, lock: Lock, paths: Sequence[Path]) -> bool:
    """Whether each file is as it was when it was verified against this lock."""
    return stamp is not None and stamp.files == _seen(lock, paths)


def write_stamp(path: Path, lock: Lock, paths: Sequence[Path]) -> None:
    """Note that the files were verified against the lock."""
    text = Stamp(files=_seen(lock, paths)).model_dump_json()
    replace_private_file(path, text)


def _seen(lock: Lock, paths: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    return tuple(_look(path, file.sha256) for path, file in zip(paths, lock.files, strict=True))


def _look(path: Path, sha256: str) -> tuple[str, int, int]:
    try:
        seen = path.stat()
    except OSError:
        return (sha256, -1, 0)
    return (sha256, seen.st_size, seen.st_mtime_ns)
