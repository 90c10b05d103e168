"""The files that `kgagent ingest` reads, as sources."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from kgagent.errors import InputError
from kgagent.ingestion import Source

READ_IN_FOLDERS = frozenset({".txt", ".md", ".json"})
"""How the names of files end that are read in a folder; a file that is named itself may be called anything."""


@dataclass(frozen=True)
class Given:
    """What is told of sources beside their files; None is not told.

    Attributes:
        id: instead of the file's own, or its path.
        name: instead of the file's own.
        date: where the file has none; without zone it is read as UTC.
    """

    id: str | None = None
    name: str | None = None
    date: datetime | None = None


@dataclass(frozen=True)
class SourceFile:
    """A file, and the source that it is, or why it is none."""

    file: Path
    source: Source | None
    error: str = ""


def files_in(paths: Sequence[Path]) -> list[Path]:
    """The files that are meant, folders with all that is below them; each once.

    Raises:
        InputError: there are none.
    """
    found = list(dict.fromkeys(file for path in paths for file in _below(path)))
    if not found:
        raise InputError(
            f"Nothing to read in {', '.join(map(str, paths))}: no {', '.join(sorted(READ_IN_FOLDERS))} is there"
        )
    return found


def read_sources(files: Sequence[Path], given: Given, *, strictly: bool) -> list[SourceFile]:
    """Read files as sources.

    Args:
        files: to read.
        given: what is told of them beside.
        strictly: whether one that is no source is an error, instead of being told with the others.

    Raises:
        InputError: with `strictly`, a file is no UTF-8, or no source.
    """
    read: list[SourceFile] = []
    known: dict[str | None, Path] = {}
    for file in files:
        try:
            source = read_source(file, given)
            _check_id(known.setdefault(source.id, file), file)
            read.append(SourceFile(file, source))
        except InputError as error:
            if strictly:
                raise
            read.append(SourceFile(file, None, str(error)))
    return read


def read_source(file: Path, given: Given) -> Source:
    """Read a file as a source.

    Raises:
        InputError: it cannot be read, is no UTF-8, or no source.
    """
    try:
        text = file.read_text("utf-8-sig")
        read = json.loads(text) if file.suffix.lower() == ".json" else {"text": text}
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{display_path(file)} cannot be read: {error}") from None
    told = read if isinstance(read, dict) else {"turns": read}
    facts = {
        "id": given.id or told.get("id") or str(file.resolve()),
        "name": given.name or told.get("name", file.stem),
        "date": told.get("date") or (given.date and _with_zone(given.date)),
    }
    try:
        return Source.model_validate({**told, **facts})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{display_path(file)} is no source: {f'{place}: ' if place else ''}{first['msg']}") from None


def _check_id(first: Path, file: Path) -> None:
    """Two files of one id would take each other's place with every run."""
    if first != file:
        raise InputError(f"{display_path(file)} has the id of {display_path(first)}: give each its own")


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    folder = path.resolve()
    for file in sorted(path.rglob("*")):
        is_hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        # A link may lead anywhere, and what it leads to would be sent to a model.
        if (
            file.suffix.lower() in READ_IN_FOLDERS
            and not is_hidden
            and file.is_file()
            and file.resolve().is_relative_to(folder)
        ):
            yield file


def display_path(file: Path) -> str:
    """A path as a text that can be printed, also where its bytes are no UTF-8."""
    return str(file).encode("utf-8", "replace").decode()


def _with_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
