"""The first pass over a file: which lines are valid, and which nodes their `id`s refer to."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgagent.errors import InputError
from kgagent.files.json_lines import FileLine, read_lines
from kgagent.files.load_lines import Line, NodeLine, parse_line
from kgagent.files.node_keys import node_key
from kgagent.ontology import Ontology

EXPORT_MARK = '"format":"kgagent-export"'
"""What the first line of an export contains."""


@dataclass
class FileCheck:
    """The result of the first pass; later passes add problems.

    Attributes:
        keys: `entity_key` of the node of each `id`.
        lines_of_ids: line number of each `id`.
        owners: `entity_key` of each node that is marked as the owner of the graph (`is_owner`), by line number.
        nodes: number of valid node lines.
        relationships: number of valid relationship lines.
        problems: what is wrong, by line number.
    """

    keys: dict[str, str] = field(default_factory=dict)
    lines_of_ids: dict[str, int] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    nodes: int = 0
    relationships: int = 0
    problems: dict[int, str] = field(default_factory=dict)

    def refuse_second_owners(self, stored: Iterable[tuple[str, str]]) -> None:
        """Report lines that would give the graph a second owner.

        Args:
            stored: `entity_key` and name of the owner that the graph has.
        """
        names = dict(stored)
        for number, key in self.owners.items():
            others = [f"{name or 'the node'} ({known})" for known, name in names.items() if known != key]
            if others:
                self.problems[number] = (
                    f"{others[0]} is already the owner of this graph; give its entity_key, or omit is_owner"
                )
                self.nodes -= 1
            else:
                names.setdefault(key, f"the node of line {number}")

    def forget_invalid_ids(self) -> None:
        """Remove the `id`s of lines with problems, so that no relationship is connected to a node of the same key."""
        for name, number in self.lines_of_ids.items():
            if number in self.problems:
                self.keys.pop(name, None)


def check_file(path: Path, *, user_id: str, ontology: Ontology) -> FileCheck:
    """Check a file without writing anything; only the `id`s and the problems are kept in memory.

    Raises:
        InputError: the file cannot be read, or has another format.
    """
    check, first, has_objects = FileCheck(), "", False
    for line in read_lines(path):
        if not first:
            first = line.text
            if first.startswith("[") or EXPORT_MARK in first:
                raise _not_json_lines(path, first)
        try:
            _check_line(line, check, user_id=user_id, ontology=ontology)
        except InputError as error:
            check.problems[line.number] = str(error)
            has_objects = has_objects or _is_object(line.text)
    if check.problems and not has_objects and not check.nodes and not check.relationships:
        raise _not_json_lines(path, first)
    return check


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _not_json_lines(path: Path, first: str) -> InputError:
    """The error about a file of another format, which its first line shows."""
    if EXPORT_MARK in first:
        return InputError(f"{path.name} is an export of kgagent: read it with `kgagent import`")
    if first.startswith("["):
        looks = "looks like a JSON array"
    elif first.startswith("{"):
        looks = "looks like JSON over several lines"
    elif re.search(r"[,;\t]", first):
        looks = "looks like a table (CSV)"
    else:
        looks = "has no line of JSON"
    return InputError(
        f"{path.name} {looks}. `kgagent load` reads JSON Lines, one JSON object per line, such as "
        '{"kind": "node", "label": "Person", "name": "Ruth"}; docs/load-format.md describes them'
    )


def valid_lines(path: Path, check: FileCheck) -> Iterator[tuple[FileLine, Line]]:
    """Read the valid lines of a checked file."""
    for line in read_lines(path):
        if line.number not in check.problems:
            yield line, parse_line(line.text)


def _check_line(line: FileLine, check: FileCheck, *, user_id: str, ontology: Ontology) -> None:
    if line.problem:
        raise InputError(line.problem)
    parsed = parse_line(line.text)
    if not isinstance(parsed, NodeLine):
        check.relationships += 1
        return
    key = node_key(parsed, line.text, user_id=user_id, ontology=ontology)
    if parsed.id is not None:
        if parsed.id in check.lines_of_ids:
            raise InputError(f"id {parsed.id!r} is already used on line {check.lines_of_ids[parsed.id]}")
        check.lines_of_ids[parsed.id] = line.number
        check.keys[parsed.id] = key
    if parsed.label == ontology.owner_label and (parsed.properties or {}).get("is_owner") is True:
        check.owners[line.number] = key
    check.nodes += 1
