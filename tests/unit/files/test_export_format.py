"""A file that nobody could import to its end is refused before anything is written, with the number
of the line.
"""

from pathlib import Path
from typing import Any

import pytest

from kgagent import InputError
from kgagent.files.export_format import Header, check_export
from kgagent.files.import_rows import check_record
from kgagent.files.json_lines import dump_json, dump_line
from kgagent.ontology import default_ontology

DEEP = b"[" * 100_000


def node(
    user_id: str = "iris", labels: tuple[str, ...] = ("Person",), name: str = "x"
) -> dict[str, Any]:
    stored = {"user_id": user_id, "entity_key": "k", name: 0}
    return {"kind": "node", "user_id": user_id, "labels": labels, "properties": stored}


def relationship(**properties: Any) -> dict[str, Any]:
    ends = {"start": ("Person", "a"), "end": ("Person", "b")}
    return {
        "kind": "relationship",
        "user_id": "iris",
        "neo4j_type": "has_relationship_with",
        **ends,
        "properties": properties,
    }


def deleted(label: str, **properties: Any) -> dict[str, Any]:
    return {
        "kind": "deleted",
        "user_id": "iris",
        "label": label,
        "properties": {"user_id": "iris", **properties},
    }


def with_text(text: bytes) -> bytes:
    return dump_json(node()).encode().replace(b'"x":0', b'"x":' + text)


def check(file: Path, line: bytes | dict[str, Any], user_id: str | None = "iris") -> None:
    header = Header(user_id=user_id, embeddings=None, ontology="")
    content = line if isinstance(line, bytes) else dump_json(line).encode()
    file.write_bytes(dump_line(header) + content + b"\n")
    check_export(
        file, lambda header, record: check_record(record, header.user_id, default_ontology())
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (relationship(user_id="mallory"), "its properties have user_id 'mallory'"),
        (node("mallory"), "but this record belongs to 'mallory'"),
        (node(labels=("Alien",)), "the ontology has none of the labels 'Alien'"),
        (node(labels=("Person", "KgagentDeletedNode")), "cannot be a KgagentDeletedNode"),
        (deleted("Person"), "cannot have the label 'Person'"),
        (node(name="a\0"), "cannot be the name of a property"),
        (with_text(b"NaN"), "property 'x' is not a value that export writes"),
        (with_text(b"[" * 150 + b"]" * 150), "property 'x' is not a value that export writes"),
        (with_text(DEEP), "not JSON: recursion limit exceeded"),
        (b"\xff", "not UTF-8: byte 0xff at column 1"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_its_line(
    tmp_path: Path, line: bytes | dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"line 2: .*{message}"):
        check(tmp_path / "file", line)


@pytest.mark.parametrize("user_id", ["", "mallory"])
def test_in_a_file_of_all_users_each_record_has_a_user(tmp_path: Path, user_id: str) -> None:
    message = "user_id must not be empty" if not user_id else "ends without its footer"
    with pytest.raises(InputError, match=message):
        check(tmp_path / "file", node(user_id), user_id=None)


@pytest.mark.parametrize("content", [DEEP, b"\xff"])
def test_a_header_that_python_cannot_read_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is not a file that `kgagent export` wrote"):
        check_export(file, lambda _header, _record: None)
