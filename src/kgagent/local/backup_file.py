"""The file of a backup: the data folders of a stopped server in a ZIP archive, with a manifest."""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgagent.errors import InputError
from kgagent.formatting import in_one_line
from kgagent.private_files import replacing_output_file
from kgagent.progress import Advance, Progress

FOLDERS = ("databases/neo4j", "transactions/neo4j")
"""What is backed up, relative to the data folder. The database "system" has only the password,
which stays outside.
"""

_MANIFEST = "manifest.json"
_CHUNK_BYTES = 1 << 20
_COMPRESSION_LEVEL = 1
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class BackupManifest(BaseModel):
    """What a backup has.

    Attributes:
        neo4j_version: release that last used the data.
        created_at: when the backup was made.
        files: number of files.
        size: bytes of all files.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["kgagent-backup"] = "kgagent-backup"
    format_version: int = Field(2, ge=1, le=2)
    neo4j_version: str = Field(pattern=r"^\d+(\.\d+)+$")
    created_at: datetime
    files: int = Field(exclude=True)
    size: int = Field(exclude=True)


def write_backup(
    data: Path, file: Path, *, neo4j_version: str, progress: Progress
) -> BackupManifest:
    """Write the data of a stopped server to a file, readable by this user only.

    It appears under its name when it is complete; one that existed stays until then.

    Args:
        data: data folder of the server.
        file: file to write.
        neo4j_version: release that last used the data.
        progress: receives the number of bytes read.

    Raises:
        InputError: the file cannot be written, or the data cannot be read.
    """
    sources = sorted(
        path for folder in FOLDERS for path in (data / folder).rglob("*") if path.is_file()
    )
    size = sum(path.stat().st_size for path in sources)
    manifest = BackupManifest(
        neo4j_version=neo4j_version, created_at=datetime.now(UTC), files=len(sources), size=size
    )
    with (
        replacing_output_file(file) as stream,
        zipfile.ZipFile(
            stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
        ) as archive,
        progress.task(f"Backing up to {file.name}", size) as advance,
    ):
        for path in sources:
            name = path.relative_to(data).as_posix()
            with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as target:
                _copy(source, target, advance)
        archive.writestr(_MANIFEST, manifest.model_dump_json())
    return manifest


def read_manifest(file: Path) -> BackupManifest:
    """Read what a backup has, without reading its files.

    Raises:
        InputError: the file is not a complete backup, or cannot be read.
    """
    with _opened(file) as (_, manifest):
        return manifest


def unpack_backup(file: Path, data: Path, *, progress: Progress) -> None:
    """Write the files of a backup to a new data folder; the archive has a checksum of each.

    Args:
        file: the backup.
        data: folder to create; if this fails, its content is of no use.
        progress: receives the number of bytes written.

    Raises:
        InputError: the file is damaged or cannot be read.
        OSError: the folder cannot be written.
    """
    with (
        _opened(file) as (archive, manifest),
        progress.task(f"Restoring from {file.name}", manifest.size) as advance,
    ):
        for entry in _entries(archive):
            path = data / entry.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, path.open("wb") as target:
                _copy(source, target, advance)
                target.flush()
                os.fsync(target.fileno())


@contextmanager
def _opened(file: Path) -> Iterator[tuple[zipfile.ZipFile, BackupManifest]]:
    """A backup and its manifest; what is wrong with it becomes an `InputError`."""
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    with stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                entries = _entries(archive)
                # Manifests of version 1 list the files.
                stored = json.loads(archive.read(_MANIFEST))
                counts = {"files": len(entries), "size": sum(entry.file_size for entry in entries)}
                yield archive, BackupManifest.model_validate({**stored, **counts})
        except _DAMAGE as error:
            raise InputError(
                f"{file} is not a complete backup of this version of kgagent: "
                f"{in_one_line(str(error))}"
            ) from error


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of the database; any other file is an error."""
    entries = [entry for entry in archive.infolist() if entry.filename != _MANIFEST]
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if not any(path.is_relative_to(folder) for folder in FOLDERS) or ".." in path.parts:
            raise zipfile.BadZipFile(f"not a file of the database: {entry.filename!r}")
    return entries


def _copy(source: IO[bytes], target: IO[bytes], advance: Advance) -> None:
    while chunk := source.read(_CHUNK_BYTES):
        target.write(chunk)
        advance(len(chunk))
