"""The file that export writes and import reads: a header, one record a line, and a footer with
counts and a hash.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from kgagent.errors import InputError
from kgagent.files.batch_writing import LineItem
from kgagent.files.json_lines import FileLine, dump_line, parse_line, read_lines
from kgagent.files.property_values import decode_property, encode_property
from kgagent.graph.property_names import NODE_EMBEDDINGS, OLD_EMBEDDINGS, STATEMENTS_HASH
from kgagent.graph.records import as_text, ontology_label
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.store import Row
from kgagent.ontology import Ontology
from kgagent.validation import check_user_id

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


class Header(_ExportLine):
    """The first line.

    Attributes:
        user_id: whose records the file has; None for those of all users.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Literal["header"] = "header"
    format: Literal["kgagent-export"] = FORMAT
    format_version: int = FORMAT_VERSION
    user_id: str | None


class _RecordLine(_ExportLine):
    user_id: str
    properties: dict[str, Any]

    def decoded(self) -> dict[str, Any]:
        """The properties as values of the database.

        Raises:
            InputError: one of them is not a value that export writes.
        """
        decoded = {}
        for name, value in self.properties.items():
            try:
                decoded[name] = decode_property(value)
            except InputError as error:
                raise InputError(f"property {name!r} is {error}") from None
        return decoded


class ExportedNode(_RecordLine):
    """A node; its key and its user are among its properties."""

    kind: Literal["node"] = "node"
    labels: Annotated[tuple[str, ...], Field(min_length=1)]

    @property
    def entity_key(self) -> str:
        """The key of the node."""
        return as_text(self.properties.get("entity_key"))

    def __str__(self) -> str:
        """Labels and key."""
        return f"{':'.join(self.labels)} {self.entity_key}"


class ExportedRelationship(_RecordLine):
    """A relationship; each end is named by label and key."""

    kind: Literal["relationship"] = "relationship"
    neo4j_type: str
    start: tuple[str, str]
    end: tuple[str, str]

    @property
    def key(self) -> object:
        """The key of the relationship; None if it has none."""
        return self.properties.get("relationship_key")

    def __str__(self) -> str:
        """Type and keys of both ends."""
        return f"{self.neo4j_type} {self.start[1]} -> {self.end[1]}"


class ExportedDeletion(_RecordLine):
    """What is stored of a deleted node or relationship."""

    kind: Literal["deleted"] = "deleted"
    label: Literal["KgagentDeletedNode", "KgagentDeletedRelationship"]

    def __str__(self) -> str:
        """Its key."""
        key = self.properties.get("relationship_key", self.properties.get("entity_key"))
        return f"deleted {key}"


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


ExportedRecord = ExportedNode | ExportedRelationship | ExportedDeletion

_LINES: Mapping[str, type[ExportedRecord | Footer]] = {
    "node": ExportedNode,
    "relationship": ExportedRelationship,
    "deleted": ExportedDeletion,
    "footer": Footer,
}


def exported_record(row: Row, user_id: str, ontology: Ontology) -> ExportedRecord:
    """The line of a record, as the fragments `_exported_node` and `_exported_relationship` return
    it.
    """
    fields: dict[str, Any] = {
        "user_id": user_id,
        "properties": {
            name: encode_property(name, kind, value) for name, kind, value in row["properties"]
        },
    }
    if "neo4j_type" in row:
        return ExportedRelationship(
            neo4j_type=row["neo4j_type"],
            start=(ontology_label(row["from_labels"], ontology), row["from_entity_key"]),
            end=(ontology_label(row["to_labels"], ontology), row["to_entity_key"]),
            **fields,
        )
    if deleted := {DELETED_NODE, DELETED_RELATIONSHIP}.intersection(row["labels"]):
        return ExportedDeletion(label=min(deleted), **fields)
    return ExportedNode(labels=tuple(sorted(row["labels"])), **fields)


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


def check_export(path: Path, ontology: Ontology) -> tuple[Header, int]:
    """Read a file to its end, and check its header, its hash, its counts and each line.

    Args:
        path: the file.
        ontology: labels of the nodes.

    Returns:
        The header, and the number of records.

    Raises:
        InputError: the file cannot be read, was changed or cut, was written by a later version, or
            has a record that this graph cannot have.
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
                _check_record(record, header.user_id, ontology)
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
    return header, counts.total()


def _check_record(record: ExportedRecord, user_id: str | None, ontology: Ontology) -> None:
    check_user_id(record.user_id)
    record.decoded()
    # A relationship of an old graph has no user_id.
    for owner in (record.user_id, record.properties.get("user_id", record.user_id)):
        if owner != (user_id or record.user_id):
            raise InputError(f"the record of user {user_id or record.user_id!r} names {owner!r}")
    if isinstance(record, ExportedNode):
        if not record.entity_key:
            raise InputError("a node must have an entity_key")
        if not ontology.labels.keys() & record.labels:
            raise InputError(
                f"the ontology has none of the labels {', '.join(map(repr, record.labels))}; it "
                f"has {', '.join(ontology.labels)}"
            )


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
