"""Lines to load from CSV of nodes or of relationships, as Neo4j's `neo4j-admin database import`
reads them.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgagent.errors import InputError
from kgagent.files.conversion import (
    SNIFFED,
    Converted,
    Fields,
    Target,
    delimiter_of,
    node_line,
    relationship_line,
    type_words,
)
from kgagent.files.load_lines import RESERVED

_HEADER = re.compile(rb"[^\r\n]*:(ID|START_ID)\b")
_COLUMN = re.compile(
    r"(?P<name>[^:]*)(:(?P<type>\w+)?(\((?P<space>[^)]*)\))?(?P<is_list>\[\])?)?(\{.*\})?",
    re.DOTALL,
)
_ROLES = frozenset({"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"})
_LISTS = frozenset({"notes", "aliases"})
_NODE_FIELDS = frozenset({"name", "description", "created_at", "entity_key", *_LISTS})
_RELATIONSHIP_FIELDS = frozenset(
    {"relationship_type", "description", "attitude", "proximity", "when", "neo4j_type", "notes"}
)
_SEPARATOR = ";"
"""Between labels, and between the items of a list."""

_NUMBERS: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
}


@dataclass(frozen=True)
class _Column:
    """A column.

    Attributes:
        name: name of the property; may be empty.
        type: a role such as "ID", or the type of the values.
        space: the space of ids, for columns of ids.
        is_list: whether a value is a list.
    """

    name: str
    type: str
    space: str
    is_list: bool

    @classmethod
    def of(cls, header: str) -> "_Column":
        """Read a field of the header, such as "age:int" or ":START_ID(Person)".

        Raises:
            InputError: it is no such field.
        """
        found = _COLUMN.fullmatch(header.strip())
        if found is None:
            raise InputError(f"{header!r} is no column such as name, age:int or :START_ID(Person)")
        return cls(
            found["name"].strip(),
            found["type"] or "string",
            found["space"] or "",
            bool(found["is_list"]),
        )

    def id(self, value: str) -> str:
        """The id of a node in the space of the column."""
        return f"{self.space}:{value}" if self.space else value

    def value(self, text: str) -> object:
        """A value of the column; a list, a time and a point stay text.

        Raises:
            InputError: it is no value of the column's type.
        """
        kind = self.type.lower()
        if self.name in _LISTS:
            return (
                [part for part in text.split(_SEPARATOR) if part.strip()]
                if self.is_list
                else [text]
            )
        if kind == "boolean" and not self.is_list:
            return text.strip().lower() == "true"
        try:
            return text if self.is_list else _NUMBERS.get(kind, str)(text)
        except ValueError:
            raise InputError(f"column {self.name}: {text!r} is no {kind}") from None


def is_table_header(line: bytes) -> bool:
    """Whether a line is the header of such a file."""
    return _HEADER.match(line) is not None and not line.lstrip().startswith((b"{", b"["))


def convert_table(path: Path, target: Target) -> Iterator[Converted]:
    """The lines of the rows; columns that cannot be loaded are errors of the header.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            delimiter = delimiter_of(stream.read(SNIFFED)) or ","
            stream.seek(0)
            rows = csv.reader(stream, delimiter=delimiter)
            columns = [_Column.of(field) for field in next(rows)]
            is_node = any(column.type == "ID" for column in columns)
            fields = _NODE_FIELDS if is_node else _RELATIONSHIP_FIELDS
            for column in columns:
                if column.name in RESERVED - fields and column.type not in _ROLES:
                    yield (
                        "line 1",
                        InputError(f"the column {column.name} is not loaded: the name is reserved"),
                    )
            for row in rows:
                try:
                    yield f"line {rows.line_num}", _line(columns, row, target)
                except InputError as error:
                    yield f"line {rows.line_num}", error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _line(columns: list[_Column], row: list[str], target: Target) -> Fields:
    if len(row) != len(columns):
        raise InputError(f"the row has {len(row)} values, but the header {len(columns)}")
    cells = [(column, text) for column, text in zip(columns, row, strict=True) if text.strip()]
    values = {
        column.name: column.value(text)
        for column, text in cells
        if column.name and column.type not in _ROLES
    }
    ids = {column.name: text for column, text in cells if column.name and column.type == "ID"}
    # An id may be made of several columns.
    roles = {
        role: _SEPARATOR.join(column.id(text) for column, text in cells if column.type == role)
        for role in {column.type for column, _ in cells} & _ROLES
    }
    if "ID" in roles:
        given, properties = _divided(ids | values, _NODE_FIELDS)
        labels = roles.get("LABEL", "").split(_SEPARATOR)
        first_text = next(
            (value for value in values.values() if isinstance(value, str)), roles["ID"]
        )
        name = given.pop("name", first_text)
        types = [label.strip() for label in labels if label.strip()]
        return node_line(target, roles["ID"], name, types, **given, properties=properties)
    for role in ("START_ID", "END_ID"):
        if role not in roles:
            raise InputError(f"{role} is missing")
    given, properties = _divided(values, _RELATIONSHIP_FIELDS)
    for level in ("attitude", "proximity"):
        if isinstance(word := given.get(level), str) and word.strip().isdecimal():
            given[level] = int(word)
    neo4j_type = roles.get("TYPE")
    if neo4j_type in target.ontology.relationships:
        given.setdefault("neo4j_type", neo4j_type)
    relationship_type = given.pop("relationship_type", type_words(neo4j_type))
    return relationship_line(
        roles["START_ID"], roles["END_ID"], relationship_type, **given, properties=properties
    )


def _divided(
    values: Mapping[str, object], fields: frozenset[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values for fields of a line, and the other properties."""
    given = {name: value for name, value in values.items() if name in fields}
    return given, {name: value for name, value in values.items() if name not in fields | RESERVED}
