"""Files of other programs: whatever they contain, there are lines to load and reasons, and no other
error.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.errors import InputError
from kgagent.files.conversion import Target
from kgagent.files.line_source import LineSource
from kgagent.files.load_reader import LoadReader
from kgagent.ontology import default_ontology

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ENTITY = {"type": "entity", "name": "Ada_Berg", "entityType": "person", "observations": ["Rows"]}
FIELDS = (
    *(
        "entityType",
        "relationType",
        "name",
        "observations",
        "from",
        "to",
        "memory",
        "user_id",
        "created_at",
    ),
    *("source", "relationship", "target", "uuid", "labels", "summary", "content", "attributes"),
    *("source_node_uuid", "target_node_uuid", "fact", "valid_at", "invalid_at"),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=8,
)
cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
columns = st.sampled_from(
    [":ID", ":ID(x)", ":LABEL", ":START_ID", ":END_ID", ":TYPE", "name", "n:int", "b:boolean[]"]
)


def read_all(path: Path) -> None:
    """Read a file as a load does."""
    source = LineSource([path], Target(default_ontology(), "me", label="Entity"))
    reader = LoadReader(source, now=NOW)
    try:
        reader.check()
    except InputError:
        return
    writes = [*reader.intents("nodes"), *reader.intents("relationships")]
    assert len(writes) + len(reader.problems) >= reader.counts.total()


@given(items=st.lists(values, max_size=6), in_lines=st.booleans())
def test_any_json_of_other_programs(
    items: list[object], in_lines: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "items.json"
    given = [ENTITY, *items]
    path.write_text(
        "\n".join(map(json.dumps, given)) if in_lines else json.dumps(given, indent=1), "utf-8"
    )
    read_all(path)


@given(
    header=st.lists(columns, min_size=1, max_size=4),
    rows=st.lists(st.lists(cells, max_size=4), max_size=4),
)
def test_any_table(
    header: list[str], rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_text("\n".join(",".join(row) for row in [[":ID"], header, *rows]), "utf-8")
    read_all(path)
    path.write_text("\n".join(",".join(row) for row in [header, *rows]), "utf-8")
    read_all(path)
