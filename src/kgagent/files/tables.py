"""Lines to load from ordinary tables, CSV of any dialect or a JSON array of objects: each row is a
node, and columns say what to do with their cells.
"""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from kgagent.errors import InputError
from kgagent.files.conversion import (
    Converted,
    Fields,
    Target,
    decoded,
    delimiter_of,
    node_line,
    relationship_line,
    spaced,
)
from kgagent.files.json_lines import FileLine
from kgagent.files.load_lines import RESERVED
from kgagent.models.when import When

FIELDS = ("name", "id", "entity_key", "aliases", "description", "notes", "created_at", "when")
"""What a column may be; `when` makes a dated note of it."""

MAX_WORDS = 4
"""Mean number of words of a cell that can name another node."""

_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ].*")
_SEPARATOR = re.compile("sep=(.)\r?\n")
"""The first line by which Excel is told the delimiter."""

_NAME_HALVES = [
    re.compile(f"({words})[ _-]?name", re.IGNORECASE)
    for words in ("first|given", "last|family|sur")
]
_WHEN = TypeAdapter(When)

Row = Mapping[str, Any]
Rows = Sequence[tuple[str, Row]]
"""Rows, each with its place in the file."""


def convert_rows(path: Path, first: FileLine, target: Target) -> Iterator[Converted] | None:
    """The lines of the rows of a table; None if the file is no table.

    Args:
        path: the file.
        first: its first line.
        target: what the lines are for; without `columns`, the error proposes them.

    Raises:
        InputError: the file cannot be read, or the columns are missing or do not fit.
    """
    try:
        rows = _rows(path, first, target)
    except (OSError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if not rows:
        return None
    if all("kind" in row for _, row in rows):
        return iter(rows)
    names = list(dict.fromkeys(name for _, row in rows for name in row if name))
    if target.columns is None:
        raise InputError(
            f"{path.name} is a table; say what its columns are, for example "
            f"{_proposed(names, [row for _, row in rows], target)}. Fields are "
            f"{', '.join(FIELDS)}; other columns become properties, and 'Phone=' omits one"
        )
    return _Table.of(target, names).lines(rows)


def _rows(path: Path, first: FileLine, target: Target) -> Rows:
    start = first.content.lstrip()
    if start.startswith(b"["):
        try:
            document = from_json(path.read_bytes().removeprefix(BOM_UTF8))
        except ValueError:
            return []
        rows = [(f"[{number}]", row) for number, row in enumerate(document)]
        return rows if all(isinstance(row, dict) and row for _, row in rows) else []
    if start.startswith(b"{"):
        return []
    text, remark = decoded(path.read_bytes())
    said = _SEPARATOR.match(text)
    text = text[said.end() :] if said else text
    delimiter = said[1] if said else delimiter_of(text)
    if delimiter is None:
        if path.suffix.lower() not in {".csv", ".tsv"}:
            return []
        # One column, whose cells may have any of the usual delimiters.
        delimiter = "\x1f"
    if remark:
        target.remarks[path] = remark
    reader = csv.DictReader(StringIO(text, ""), restkey="", restval="", delimiter=delimiter)
    reader.fieldnames = [" ".join(name.split()) for name in reader.fieldnames or ()]
    return [(f"line {reader.line_num + bool(said)}", row) for row in reader]


@dataclass(frozen=True)
class _Table:
    """What the columns of a table are.

    Attributes:
        target: what the lines are for.
        fields: the columns of each field.
        links: for each column that names other nodes, the type of the relationships and the label.
        properties: the columns that become properties.
    """

    target: Target
    fields: Mapping[str, Sequence[str]]
    links: Mapping[str, tuple[str, str]]
    properties: Sequence[str]

    @classmethod
    def of(cls, target: Target, names: Sequence[str]) -> Self:
        """Read what was given, such as "Title=name,Met=when,Firm=works for -> Entity".

        Raises:
            InputError: a column does not exist, or is no field or label.
        """
        fields: dict[str, list[str]] = {field: [] for field in FIELDS}
        links, given = dict[str, tuple[str, str]](), set[str]()
        for part in _parts_of(target.columns or ""):
            column_and_what, arrow, label = part.partition("->")
            column, _, what = (text.strip() for text in column_and_what.partition("="))
            if column not in names:
                raise InputError(f"No column {column!r}; there are {', '.join(names)}")
            given.add(column)
            if arrow:
                target.ontology.label(label.strip())
                links[column] = what or column.replace("_", " "), label.strip()
            elif what.lower() in fields:
                fields[what.lower()].append(column)
            elif what:
                raise InputError(f"{what!r} is no field: {column}={' or '.join(FIELDS)}")
        if not fields["name"]:
            raise InputError(
                f"No column is the name; give one of {', '.join(names)}, as Title=name"
            )
        return cls(target, fields, links, [name for name in names if name not in given])

    def lines(self, rows: Rows) -> Iterator[Converted]:
        """The nodes of the rows, and those that their cells name."""
        for name in self.properties:
            if name in RESERVED:
                yield "line 1", InputError(f"the column {name} is not loaded: the name is reserved")
        known = {self._id(row) for _, row in rows}
        for place, row in rows:
            if not _cells(row, [*row]):
                continue
            try:
                for line in self._lines(row, known):
                    yield place, line
            except InputError as error:
                yield place, error

    def _lines(self, row: Row, known: set[str]) -> Iterator[Fields | InputError]:
        notes: list[Any] = _cells(row, self.fields["notes"])
        for column in self.fields["when"]:
            for text in _cells(row, [column]):
                if (day := _day(text)) is None:
                    yield InputError(f"{column}: {text!r} is no day, such as 2019-03-12")
                else:
                    notes.append({"content": spaced(column), "when": day})
        single = {
            field: " ".join(_cells(row, self.fields[field]))
            for field in ("name", "entity_key", "description", "created_at")
        }
        properties = {
            name: "; ".join(_cells(row, [name])) if isinstance(value, list | dict) else value
            for name in self.properties
            if (value := row.get(name)) is not None and name not in RESERVED
        }
        yield node_line(
            self.target,
            self._id(row),
            single.pop("name"),
            [],
            **single,
            aliases=_parts(row, self.fields["aliases"]),
            notes=notes,
            properties=properties,
        )
        for column, (relationship_type, label) in self.links.items():
            for name in _parts(row, [column]):
                if name not in known:
                    known.add(name)
                    yield node_line(self.target, name, name, [label])
                yield relationship_line(self._id(row), name, relationship_type)

    def _id(self, row: Row) -> str:
        """The id of a row, by which cells of other rows name it too."""
        return " ".join(_cells(row, self.fields["id"]) or _cells(row, self.fields["name"]))


def _parts_of(columns: str) -> list[str]:
    """What is said of each column; a name may have commas."""
    parts: list[str] = []
    for piece in columns.split(","):
        is_rest = parts and not re.search("=|->", parts[-1])
        parts.append(f"{parts.pop()},{piece}" if is_rest else piece)
    return parts


def _cells(row: Row, columns: Sequence[str]) -> list[str]:
    """The cells of some columns that are not empty, as texts; lists have several."""
    values = (row.get(column) for column in columns)
    items = (item for value in values for item in (value if isinstance(value, list) else [value]))
    return [text for item in items if item is not None and (text := str(item).strip())]


def _parts(row: Row, columns: Sequence[str]) -> list[str]:
    """The parts of cells that have semicolons."""
    return [
        part.strip() for text in _cells(row, columns) for part in text.split(";") if part.strip()
    ]


def _day(text: str) -> str | None:
    """A day as people and spreadsheets write it, in EDTF; None if it is none."""
    if found := _DATE.fullmatch(text):
        day, month, year = found.groups()
        text = f"{year}-{month:>02}-{day:>02}"
    try:
        return _WHEN.validate_python(_TIME.sub(r"\1", text))
    except ValidationError:
        return None


def _proposed(names: Sequence[str], rows: Sequence[Row], target: Target) -> str:
    """The options that say what the columns of a table probably are."""
    labels = target.ontology.labels
    named = [label for label in labels if labels[label].key_includes_name] or [*labels]
    parts, other = dict[str, str](), []
    for name in names:
        texts = [text for row in rows for text in _cells(row, [name])]
        if name.strip().lower() in FIELDS:
            parts[name] = f"{name}={name.strip().lower()}"
        elif 2 * sum(_day(text) not in {None, text[:4]} for text in texts) > len(texts):
            parts[name] = f"{name}=when"
        elif texts and not any(text[:1].isdecimal() or "@" in text for text in texts):
            other.append((name, texts))
    if not any(part.endswith("=name") for part in parts.values()):
        halves = [name for half in _NAME_HALVES for name in names if half.fullmatch(name)]
        title = max(other, key=lambda one: len({*one[1]}), default=(names[0],))[0]
        parts |= {name: f"{name}=name" for name in (halves if len(halves) > 1 else [title])}
    for name, texts in other:
        is_short = sum(len(text.split()) for text in texts) <= MAX_WORDS * len(texts)
        if name not in parts and is_short and len({*texts}) < len(texts):
            parts[name] = f"{name} -> {named[-1]}"
    label = target.label or target.ontology.owner_label or named[0]
    return f'--label {label} --map "{",".join(parts.values())}"'
