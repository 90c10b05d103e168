"""The first pass over a file: which lines can be taken, and what the `id`s in it stand for."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgagent.errors import InputError
from kgagent.loading.keys import node_key
from kgagent.loading.lines import Line, NodeLine, parse_line
from kgagent.loading.reader import FileLine, read_lines
from kgagent.ontology import Ontology


@dataclass
class FileCheck:
    """What is known of a file; the later passes add to the problems.

    Attributes:
        keys: key of the node that each `id` stands for.
        lines_of_ids: line of each `id`.
        nodes: lines of nodes that can be taken.
        relationships: lines of relationships that can be taken.
        problems: what is wrong, by the line's number.
    """

    keys: dict[str, str] = field(default_factory=dict)
    lines_of_ids: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    relationships: int = 0
    problems: dict[int, str] = field(default_factory=dict)

    def forget_refused(self) -> None:
        """Let the `id`s of refused lines stand for nothing, so that no relationship ends at a node of the same key."""
        for name, number in self.lines_of_ids.items():
            if number in self.problems:
                self.keys.pop(name, None)


def check_file(path: Path, *, user_id: str, ontology: Ontology) -> FileCheck:
    """Read a file without writing anything; only the `id`s and the problems are kept in memory.

    Raises:
        InputError: the file cannot be read.
    """
    check = FileCheck()
    for line in read_lines(path):
        try:
            _check_line(line, check, user_id=user_id, ontology=ontology)
        except InputError as error:
            check.problems[line.number] = str(error)
    return check


def good_lines(path: Path, check: FileCheck) -> Iterator[tuple[FileLine, Line]]:
    """Read again the lines of a checked file that can be taken."""
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
            raise InputError(f"id {parsed.id!r} stands on line {check.lines_of_ids[parsed.id]} already")
        check.lines_of_ids[parsed.id] = line.number
        check.keys[parsed.id] = key
    check.nodes += 1
