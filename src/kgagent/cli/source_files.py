"""The files that `kgagent ingest` reads as sources."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgagent.errors import InputError
from kgagent.files.folders import files_below
from kgagent.formatting import encodable
from kgagent.ingestion import IngestionReport, Source
from kgagent.validation import explain_validation_error

FOLDER_SUFFIXES = frozenset({".txt", ".md", ".json"})
"""Suffixes of the files that are read in folders; a file that is named explicitly can have any
suffix.
"""


@dataclass
class SourceFile:
    """A file and what became of it.

    Attributes:
        name: path of the file, printable.
        source: its content; None if it cannot be read as a source.
        error: why it is not read.
        report: the report of its run; None if there was no run.
    """

    name: str
    source: Source | None
    error: str = "not started, because an earlier run stopped"
    report: IngestionReport | None = None

    @property
    def is_read(self) -> bool:
        """Whether the source is read completely."""
        return self.report is not None and self.report.state in {"complete", "unchanged"}

    def to_dict(self) -> dict[str, Any]:
        """The report or the error for a program."""
        return {
            "file": self.name,
            **(self.report.model_dump(mode="json") if self.report else {"error": self.error}),
        }


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Find the files to read, including those below folders, without duplicates.

    Raises:
        InputError: there are none.
    """
    files = list(dict.fromkeys(file for path in paths for file in _files_below(path)))
    if not files:
        raise InputError(
            f"Nothing to read in {', '.join(map(str, paths))}: no "
            f"{', '.join(sorted(FOLDER_SUFFIXES))} files"
        )
    return files


def read_sources(
    files: Sequence[Path],
    *,
    strict: bool,
    source_id: str | None = None,
    name: str | None = None,
    date: datetime | None = None,
) -> list[SourceFile]:
    """Read files as sources.

    Args:
        files: the files.
        strict: whether to raise the first error instead of returning it with the file.
        source_id: overrides the files' own ids or paths.
        name: overrides the files' own names.
        date: used for files without a date; a date without time zone is UTC.

    Raises:
        InputError: with `strict`, a file cannot be read, is not UTF-8, or is not a valid source.
    """
    results: list[SourceFile] = []
    path_by_id: dict[str, str] = {}
    for file in files:
        path = display_path(file)
        try:
            source = _read_source(file, source_id=source_id, name=name, date=date)
        except InputError as unreadable:
            if strict:
                raise
            results.append(SourceFile(path, None, str(unreadable)))
            continue
        # Each run would replace one of two files with the same id by the other.
        first = path_by_id.setdefault(source.id, path)
        if first == path:
            results.append(SourceFile(path, source))
        else:
            results.append(
                SourceFile(path, None, f"{path} has the same id as {first}: ids must be unique")
            )
    return results


def _read_source(
    file: Path, *, source_id: str | None, name: str | None, date: datetime | None
) -> Source:
    try:
        text = file.read_text("utf-8-sig")
        content = json.loads(text) if file.suffix.lower() == ".json" else {"text": text}
    except (ValueError, RecursionError, OSError) as error:
        raise InputError(f"{display_path(file)} cannot be read: {error}") from None
    fields = content if isinstance(content, dict) else {"turns": content}
    overrides = {
        "id": source_id or fields.get("id") or str(file.resolve()),
        "name": name or fields.get("name", file.stem),
        "date": fields.get("date") or (date and date.replace(tzinfo=date.tzinfo or UTC)),
    }
    try:
        return Source.model_validate({**fields, **overrides})
    except ValidationError as error:
        problems = explain_validation_error(error, Source, noun="field")
        raise InputError(f"{display_path(file)} is not a valid source: {problems}") from None


def display_path(file: Path) -> str:
    """A path as printable text, even if its bytes are not UTF-8."""
    return encodable(str(file))


def _files_below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        return iter((path,))
    return (file for file in files_below(path) if file.suffix.lower() in FOLDER_SUFFIXES)
