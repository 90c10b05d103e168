"""The file that export writes and import reads: a header, one record a line, and a footer with counts and a hash."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.files.json_lines import dump_json, dump_line
from kgagent.ontology import Ontology
from kgagent.validation import explain_validation_error

FORMAT: Literal["kgagent-export"] = "kgagent-export"
FORMAT_VERSION = 1
"""Of the lines of the file."""

SCHEMA_VERSION = 1
"""Of the properties of the records."""

MAX_LINE = 256 * 1024 * 1024
"""Bytes of a line."""

BATCH_BYTES = 16 * 1024 * 1024
"""Bytes of lines after which a batch ends, however few records it has."""


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


LineT = TypeVar("LineT", bound=_Line)


class EmbeddingFacts(_Line):
    """The model that made the embeddings of a file."""

    model: str
    dimensions: int

    @classmethod
    def of(cls, embedder: Embedder) -> "EmbeddingFacts":
        """Those of an embedder."""
        return cls(model=embedder.model, dimensions=embedder.dimensions)


class Header(_Line):
    """The first line.

    Attributes:
        user_id: whose records the file has; None for those of all users.
        embeddings: the embedder of the graph; None if the file has no embeddings.
        ontology: fingerprint of the graph's ontology.
    """

    kind: Literal["header"] = "header"
    format: Literal["kgagent-export"] = FORMAT
    format_version: int = FORMAT_VERSION
    schema_version: int = SCHEMA_VERSION
    user_id: str | None
    embeddings: EmbeddingFacts | None
    ontology: str


class NodeLine(_Line):
    """A node; its key and its user are among its properties."""

    kind: Literal["node"] = "node"
    user_id: str
    labels: Annotated[tuple[str, ...], Field(min_length=1)]
    properties: dict[str, Any]

    @property
    def entity_key(self) -> str:
        """The key of the node."""
        return str(self.properties["entity_key"])


class RelationshipLine(_Line):
    """A relationship; each end is named by label and key."""

    kind: Literal["relationship"] = "relationship"
    user_id: str
    neo4j_type: str
    start: tuple[str, str]
    end: tuple[str, str]
    properties: dict[str, Any]


class DeletedLine(_Line):
    """What is kept of a deleted node or relationship."""

    kind: Literal["deleted"] = "deleted"
    user_id: str
    label: str
    properties: dict[str, Any]


class Footer(_Line):
    """The last line.

    Attributes:
        sha256: of all lines before it, with their line ends.
    """

    kind: Literal["footer"] = "footer"
    nodes: int
    relationships: int
    deleted: int
    sha256: str


RecordLine = NodeLine | RelationshipLine | DeletedLine
_ANY: TypeAdapter[RecordLine] = TypeAdapter(Annotated[RecordLine, Field(discriminator="kind")])


def ontology_fingerprint(ontology: Ontology) -> str:
    """A hash of what an ontology says, whatever the order in its file."""
    content = ontology.model_dump(mode="json")
    content = {name: sorted(value) if isinstance(value, list) else value for name, value in content.items()}
    return hashlib.sha256(dump_json(content).encode()).hexdigest()


class LineWriter:
    """Writes a file line by line, and counts and hashes what it writes."""

    def __init__(self, stream: BinaryIO, header: Header) -> None:
        self.counts = Counter[str]()
        self._stream = stream
        self._hash = hashlib.sha256()
        self._write(dump_line(header))

    def records(self, kind: str, lines: list[bytes]) -> None:
        """Write lines of records of one kind."""
        for line in lines:
            self._write(line)
        self.counts[kind] += len(lines)

    def finish(self) -> Footer:
        """Write the footer."""
        footer = Footer(**_totals(self.counts), sha256=self._hash.hexdigest())
        self._stream.write(dump_line(footer))
        return footer

    def _write(self, line: bytes) -> None:
        self._hash.update(line)
        self._stream.write(line)


@dataclass(frozen=True)
class NumberedLine:
    """A record of a file with the number of its line, from 1, and its size in bytes."""

    number: int
    size: int
    record: RecordLine


def check_file(path: Path, check: Callable[[Header, RecordLine], None]) -> tuple[Header, Footer]:
    """Read a file to its end, and check its header, its hash, its counts and each line.

    Args:
        path: the file.
        check: called with the header and each record; raises InputError to refuse it.

    Raises:
        InputError: the file cannot be read, was changed or cut, or was written by a later version.
    """
    counts, digest = Counter[str](), hashlib.sha256()
    header: Header | None = None
    footer: Footer | None = None
    for number, line in _raw_lines(path):
        if header is None:
            header = _read_header(path, line)
        elif footer is not None:
            raise InputError(f"{path}, line {number}: nothing may follow the footer. Export again")
        elif _is_footer(line):
            footer = _read(Footer, path, number, line)
            continue
        else:
            record = read_record(path, number, line)
            try:
                check(header, record)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}. Nothing was imported") from None
            counts[record.kind] += 1
        digest.update(line)
    if header is None:
        raise InputError(f"{path} is empty; it must be a file that `kgagent export` wrote")
    if footer is None:
        raise InputError(f"{path} ends without its footer: it was cut off. Nothing was imported; export again")
    if footer.sha256 != digest.hexdigest() or footer != footer.model_copy(update=_totals(counts)):
        raise InputError(
            f"{path} was changed after it was exported: its content does not have the hash and the counts of its "
            "footer. Nothing was imported; export again, or use an unchanged copy"
        )
    return header, footer


def record_lines(path: Path) -> Iterator[NumberedLine]:
    """Read the records of a checked file.

    Raises:
        InputError: the file cannot be read any more, or has been changed.
    """
    for number, line in _raw_lines(path):
        if number > 1 and not _is_footer(line):
            yield NumberedLine(number, len(line), read_record(path, number, line))


def read_record(path: Path, number: int, line: bytes) -> RecordLine:
    """Read the line of a record.

    Raises:
        InputError: it is not one.
    """
    try:
        return _ANY.validate_json(line)
    except ValidationError as error:
        raise InputError(f"{path}, line {number}: {explain_validation_error(error, noun='field')}") from None


def _is_footer(line: bytes) -> bool:
    # Fields are sorted, and no record has a field that comes first.
    return line.startswith(b'{"deleted":')


def _totals(counts: Counter[str]) -> dict[str, int]:
    return {"nodes": counts["node"], "relationships": counts["relationship"], "deleted": counts["deleted"]}


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; it is read twice, so save a pipe to a file first")
    try:
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise InputError(f"{path}, line {number} is longer than {MAX_LINE // 1024**2} MiB")
                yield number, line
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _read_header(path: Path, line: bytes) -> Header:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{path} is not a file that `kgagent export` wrote; `kgagent load` reads other JSON Lines")
    for name, known in (("format_version", FORMAT_VERSION), ("schema_version", SCHEMA_VERSION)):
        version = found.get(name)
        if version != known:
            raise InputError(
                f"{path} has {name} {version!r}, but this kgagent reads {known}; use the version that wrote it"
            )
    return _read(Header, path, 1, line)


def _read(model: type[LineT], path: Path, number: int, line: bytes) -> LineT:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{path}, line {number}: {explain_validation_error(error, noun='field')}") from None
