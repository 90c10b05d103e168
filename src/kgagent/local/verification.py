"""Records of verified files, so that their checksums need not be computed at every start.

A record holds the size and modification time of each file. A file that has changed since is verified again.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.local.lock import Lock
from kgagent.private_files import replace_private_file


class VerificationRecord(BaseModel):
    """Checksum, size and modification time (nanoseconds) of each verified file, in the order of the lock."""

    model_config = ConfigDict(frozen=True)

    files: tuple[tuple[str, int, int], ...]


def is_verified(record: Path, lock: Lock, paths: Sequence[Path]) -> bool:
    """Whether no file has changed since it was verified against this lock.

    Args:
        record: path of the record; a missing or unreadable record verifies nothing.
        lock: the lock file.
        paths: the files, in the order of the lock.
    """
    try:
        stored = VerificationRecord.model_validate_json(record.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return False
    return stored.files == _fingerprints(lock, paths)


def record_verification(record: Path, lock: Lock, paths: Sequence[Path]) -> None:
    """Record that the files were verified against the lock."""
    replace_private_file(record, VerificationRecord(files=_fingerprints(lock, paths)).model_dump_json())


def _fingerprints(lock: Lock, paths: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    return tuple(_fingerprint(path, file.sha256) for path, file in zip(paths, lock.files, strict=True))


def _fingerprint(path: Path, sha256: str) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return (sha256, -1, 0)
    return (sha256, status.st_size, status.st_mtime_ns)
