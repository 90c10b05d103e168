"""The lines of files to load; those of other programs are converted."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgagent.errors import InputError
from kgagent.files.conversion import Converted, Target
from kgagent.files.json_items import convert_json
from kgagent.files.json_lines import FileLine, read_lines
from kgagent.files.neo4j_csv import convert_table, is_table_header
from kgagent.files.tables import convert_rows


@dataclass(frozen=True)
class LineSource:
    """The lines of files, in the order of the files; may be read several times.

    A file in the format of `load` is read as it is. Others are recognized by their first line.

    Attributes:
        paths: the files; lines of one may refer to nodes of another.
        target: what converted lines are for.
    """

    paths: Sequence[Path]
    target: Target

    @property
    def name(self) -> str:
        """The names of the files."""
        return ", ".join(path.name for path in self.paths)

    def __iter__(self) -> Iterator[FileLine]:
        """Read the lines; those of one file in the format of `load` have their own numbers and no
        place.

        Raises:
            InputError: a file cannot be read.
        """
        before = number = 0
        for path in self.paths:
            for line in _lines(path, self.target):
                number = before + line.number
                place = line.place
                if len(self.paths) > 1:
                    place = f"{path.name} {place or f'line {line.number}'}"
                yield FileLine(number, line.content, place, line.problem)
            before = number


def _lines(path: Path, target: Target) -> Iterator[FileLine]:
    converted = _converted(path, target)
    if converted is None:
        yield from read_lines(path)
        return
    for number, (place, fields) in enumerate(converted, start=1):
        problem = str(fields) if isinstance(fields, InputError) else ""
        content = (
            b""
            if isinstance(fields, InputError)
            else json.dumps(fields, ensure_ascii=False).encode()
        )
        yield FileLine(number, content, place, problem)


def _converted(path: Path, target: Target) -> Iterator[Converted] | None:
    first = next(read_lines(path), None)
    if first is None:
        return None
    if is_table_header(first.content):
        return convert_table(path, target)
    return convert_json(path, first, target) or convert_rows(path, first, target)
