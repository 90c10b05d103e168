"""The file of a backup: the data folders of a stopped server in a ZIP archive, with a manifest of their hashes."""

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kgagent.errors import InputError
from kgagent.formatting import in_one_line
from kgagent.private_files import replacing_output_file
from kgagent.progress import Advance, Progress

FOLDERS = ("databases/neo4j", "transactions/neo4j")
"""What is backed up, relative to the data folder. The database "system" has only the password, which stays outside."""

_FORMAT = "kgagent-backup"
_FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_PACKED_NAME = re.compile(rf"(?:{'|'.join(FOLDERS)})(?:/(?!\.{{1,2}}(?:/|$))[^/\\:\x00-\x1f]+)+")
_CHUNK_BYTES = 1 << 20
_COMPRESSION_LEVEL = 1
_COMPRESSIONS = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
    ValidationError,
)


class PackedFile(BaseModel):
    """One file of a backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(ge=0, description="bytes")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class BackupManifest(BaseModel):
    """What a backup has.

    Attributes:
        neo4j_version: release that last used the data.
        created_at: when the backup was made.
        files: by path relative to the data folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = Field(_FORMAT, pattern=f"^{_FORMAT}$")
    format_version: int = Field(_FORMAT_VERSION, ge=_FORMAT_VERSION, le=_FORMAT_VERSION)
    neo4j_version: str = Field(pattern=r"^\d+(\.\d+)+$")
    created_at: datetime
    files: Mapping[str, PackedFile] = Field(min_length=1)

    @field_validator("files")
    @classmethod
    def _stay_in_the_folders(cls, value: Mapping[str, PackedFile]) -> Mapping[str, PackedFile]:
        for name in value:
            if not _PACKED_NAME.fullmatch(name):
                raise ValueError(f"not a file of the database: {name!r}")
        return value

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())

    @classmethod
    def read(cls, archive: zipfile.ZipFile) -> Self:
        """The manifest of an archive, which has its files and no others."""
        manifest = cls.model_validate_json(archive.read(_MANIFEST))
        if sorted(archive.namelist()) != sorted((*manifest.files, _MANIFEST)):
            raise zipfile.BadZipFile("its files are not those of its manifest")
        return manifest


def write_backup(data: Path, file: Path, *, neo4j_version: str, progress: Progress) -> BackupManifest:
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
    sources = {path.relative_to(data).as_posix(): path for path in _files(data)}
    packed: dict[str, PackedFile] = {}
    total = sum(path.stat().st_size for path in sources.values())
    with (
        replacing_output_file(file) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive,
        progress.task(f"Backing up to {file.name}", total) as advance,
    ):
        for name, path in sources.items():
            with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as target:
                packed[name] = _copied(source, target, advance)
        manifest = BackupManifest(neo4j_version=neo4j_version, created_at=datetime.now(UTC), files=packed)
        archive.writestr(_MANIFEST, manifest.model_dump_json())
    return manifest


def read_manifest(file: Path) -> BackupManifest:
    """Read what a backup has, without reading its files.

    Raises:
        InputError: the file is not a complete backup, or cannot be read.
    """
    with _opened(file) as (_, manifest):
        return manifest


def unpack_backup(file: Path, data: Path, *, progress: Progress) -> BackupManifest:
    """Write the files of a backup to a new data folder, and check their hashes.

    Args:
        file: the backup.
        data: folder to create; if this fails, its content is of no use.
        progress: receives the number of bytes written.

    Raises:
        InputError: the file is damaged or cannot be read.
        OSError: the folder cannot be written.
    """
    with _opened(file) as (archive, manifest), progress.task(f"Restoring from {file.name}", manifest.size) as advance:
        for name, expected in manifest.files.items():
            path = data / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, path.open("wb") as target:
                copied = _copied(source, target, advance)
                target.flush()
                os.fsync(target.fileno())
            if copied != expected:
                raise InputError(f"{file} is damaged: the content of {name} has another hash. Use another backup")
        return manifest


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
                _check_entries(archive, stream)
                yield archive, BackupManifest.read(archive)
        except _DAMAGE as error:
            raise InputError(
                f"{file} is not a complete backup of this version of kgagent: {in_one_line(str(error))}"
            ) from error


def _check_entries(archive: zipfile.ZipFile, stream: IO[bytes]) -> None:
    """Check that reading the entries of an archive meets no other errors than those of damaged archives.

    Raises:
        BadZipFile: an entry lies outside of the file, or is compressed in another way than those of a backup.
    """
    size = os.fstat(stream.fileno()).st_size
    for entry in archive.infolist():
        if not 0 <= entry.header_offset < size or entry.compress_type not in _COMPRESSIONS:
            raise zipfile.BadZipFile(f"the entry of {entry.filename!r} is damaged")


def _files(data: Path) -> list[Path]:
    folders = (data / folder for folder in FOLDERS)
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


def _copied(source: IO[bytes], target: IO[bytes], advance: Advance) -> PackedFile:
    sha256, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK_BYTES):
        target.write(chunk)
        sha256.update(chunk)
        size += len(chunk)
        advance(len(chunk))
    return PackedFile(size=size, sha256=sha256.hexdigest())
