"""The file that export writes and import reads: a header, one record a line, and a footer with
counts and a hash.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.files.batch_writing import LineItem
from kgagent.files.json_lines import FileLine, dump_json, dump_line, parse_line, read_lines
from kgagent.files.property_values import encode_property
from kgagent.graph.property_names import (
    NODE_EMBEDDINGS,
    OLD_EMBEDDINGS,
    STATEMENTS_HASH,
)
from kgagent.graph.records import ontology_label
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.store import Row
from kgagent.ontology import Ontology

FORMAT: Literal["kgagent-export"] = "kgagent-export"
FORMAT_VERSION = 1
"""Of the lines of the file, and of the properties of the records."""

EMBEDDING_PROPERTIES = frozenset(
    {
        *NODE_EMBEDDINGS,
        "relationship_embedding",
        "embedding_hash",
        "embedding_model",
        *OLD_EMBEDDINGS,
    }
)
"""What a file without embeddings does not have."""

NOT_EXPORTED = (STATEMENTS_HASH,)
"""What says that the statements are indexed in this database."""


class _ExportLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EmbeddingFacts(_ExportLine):
    """The model that made the embeddings of a file."""

    model: str
    dimensions: int

    @classmethod
    def of(cls, embedder: Embedder) -> "EmbeddingFacts":
        """Those of an embedder."""
        return cls(model=embedder.model, dimensions=embedder.dimensions)


class Header(_ExportLine):
    """The first line.

    Attributes:
        user_id: whose records the file has; None for those of all users.
        embeddings: the embedder of the graph; None if the file has no embeddings.
        ontology: fingerprint of the graph's ontology.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Literal["header"] = "header"
    format: Literal["kgagent-export"] = FORMAT
    format_version: int = FORMAT_VERSION
    user_id: str | None
    embeddings: EmbeddingFacts | None
    ontology: str


class ExportedNode(_ExportLine):
    """A node; its key and its user are among its properties."""

    kind: Literal["node"] = "node"
    user_id: str
    labels: Annotated[tuple[str, ...], Field(min_length=1)]
    properties: dict[str, Any]

    @classmethod
    def of(cls, record: Row, user_id: str) -> "ExportedNode":
        """The line of a node."""
        return cls(
            user_id=user_id,
            labels=tuple(sorted(record["labels"])),
            properties=_encoded_properties(record),
        )

    @property
    def entity_key(self) -> str:
        """The key of the node."""
        return str(self.properties["entity_key"])

    @property
    def node_labels(self) -> Sequence[Sequence[str]]:
        """Labels of the node."""
        return (self.labels,)

    def __str__(self) -> str:
        """Labels and key."""
        return f"{':'.join(self.labels)} {self.entity_key}"


class ExportedRelationship(_ExportLine):
    """A relationship; each end is named by label and key."""

    kind: Literal["relationship"] = "relationship"
    user_id: str
    neo4j_type: str
    start: tuple[str, str]
    end: tuple[str, str]
    properties: dict[str, Any]

    @classmethod
    def of(cls, record: Row, user_id: str, ontology: Ontology) -> "ExportedRelationship":
        """The line of a relationship."""
        return cls(
            user_id=user_id,
            neo4j_type=record["neo4j_type"],
            start=(ontology_label(record["from_labels"], ontology), record["from_entity_key"]),
            end=(ontology_label(record["to_labels"], ontology), record["to_entity_key"]),
            properties=_encoded_properties(record),
        )

    @property
    def key(self) -> object:
        """The key of the relationship; None if it has none."""
        return self.properties.get("relationship_key")

    @property
    def node_labels(self) -> Sequence[Sequence[str]]:
        """Labels of both nodes."""
        return self.start[:1], self.end[:1]

    def __str__(self) -> str:
        """Type and keys of both ends."""
        return f"{self.neo4j_type} {self.start[1]} -> {self.end[1]}"


class ExportedDeletion(_ExportLine):
    """What is stored of a deleted node or relationship."""

    kind: Literal["deleted"] = "deleted"
    user_id: str
    label: str
    properties: dict[str, Any]

    @classmethod
    def of(cls, record: Row, user_id: str) -> "ExportedDeletion":
        """The line of a deleted record."""
        [label] = {DELETED_NODE, DELETED_RELATIONSHIP} & set(record["labels"])
        return cls(user_id=user_id, label=label, properties=_encoded_properties(record))

    def __str__(self) -> str:
        """Its key."""
        return (
            f"deleted {self.properties.get('relationship_key', self.properties.get('entity_key'))}"
        )


class Footer(_ExportLine):
    """The last line.

    Attributes:
        sha256: of all lines before it, with their line ends.
    """

    kind: Literal["footer"] = "footer"
    nodes: int
    relationships: int
    deleted: int
    sha256: str

    @classmethod
    def of(cls, counts: Mapping[str, int], sha256: str) -> "Footer":
        """The footer of a file with so many records of each kind."""
        nodes, relationships, deleted = (
            counts.get(kind, 0) for kind in ("node", "relationship", "deleted")
        )
        return cls(nodes=nodes, relationships=relationships, deleted=deleted, sha256=sha256)

    @property
    def total(self) -> int:
        """Number of all records."""
        return self.nodes + self.relationships + self.deleted


ExportedRecord = ExportedNode | ExportedRelationship | ExportedDeletion

_LINES: Mapping[str, type[ExportedRecord | Footer]] = {
    "node": ExportedNode,
    "relationship": ExportedRelationship,
    "deleted": ExportedDeletion,
    "footer": Footer,
}


class ExportWriter:
    """Writes a file line by line, and counts and hashes what it writes."""

    def __init__(self, stream: BinaryIO, header: Header) -> None:
        self._stream = stream
        self._counts = Counter[str]()
        self._hash = hashlib.sha256()
        self._write(dump_line(header))

    def records(self, kind: str, lines: list[bytes]) -> None:
        """Write lines of records of one kind."""
        for line in lines:
            self._write(line)
        self._counts[kind] += len(lines)

    def finish(self) -> Footer:
        """Write the footer."""
        footer = Footer.of(self._counts, self._hash.hexdigest())
        self._stream.write(dump_line(footer))
        return footer

    def _write(self, line: bytes) -> None:
        self._hash.update(line)
        self._stream.write(line)


def ontology_fingerprint(ontology: Ontology) -> str:
    """A hash of what an ontology says, whatever the order in its file."""
    content = ontology.model_dump(mode="json")
    content = {
        name: sorted(value) if isinstance(value, list) else value for name, value in content.items()
    }
    return hashlib.sha256(dump_json(content).encode()).hexdigest()


def check_export(
    path: Path, check: Callable[[Header, ExportedRecord], None]
) -> tuple[Header, Footer]:
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
    for line in read_lines(path):
        if header is None:
            header = _read_header(path, line)
        elif footer is not None:
            raise InputError(
                f"{path}, line {line.number}: nothing may follow the footer. Export again"
            )
        else:
            try:
                record = parse_line(line, _LINES)
                if isinstance(record, Footer):
                    footer = record
                    continue
                check(header, record)
            except InputError as error:
                raise InputError(
                    f"{path}, line {line.number}: {error}. Nothing was imported"
                ) from None
            counts[record.kind] += 1
        digest.update(line.content)
    if header is None:
        raise InputError(f"{path} is empty; it must be a file that `kgagent export` wrote")
    if footer is None:
        raise InputError(
            f"{path} ends without its footer: it was cut off. Nothing was imported; export again"
        )
    if footer != Footer.of(counts, digest.hexdigest()):
        raise InputError(
            f"{path} was changed after it was exported: its content does not have the hash and the "
            f"counts of its "
            "footer. Nothing was imported; export again, or use an unchanged copy"
        )
    return header, footer


def exported_lines(path: Path) -> Iterator[LineItem[ExportedRecord]]:
    """Read the records of a checked file.

    Raises:
        InputError: the file cannot be read any more, or has been changed.
    """
    lines = read_lines(path)
    next(lines, None)
    for line in lines:
        record = parse_line(line, _LINES)
        if not isinstance(record, Footer):
            yield LineItem(line.number, len(line.content), record)


def _read_header(path: Path, line: FileLine) -> Header:
    try:
        fields = from_json(line.content)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise InputError(
            f"{path} is not a file that `kgagent export` wrote; `kgagent load` reads other JSON "
            f"Lines"
        )
    if (version := fields.get("format_version")) != FORMAT_VERSION:
        raise InputError(
            f"{path} has format_version {version!r}, but this kgagent reads {FORMAT_VERSION}; use "
            f"the version that wrote it"
        )
    try:
        return parse_line(line, {"header": Header})
    except InputError as error:
        raise InputError(f"{path}, line {line.number}: {error}") from None


def _encoded_properties(record: Row) -> dict[str, Any]:
    return {name: encode_property(name, kind, value) for name, kind, value in record["properties"]}
