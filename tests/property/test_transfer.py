"""Whatever is stored comes back from a file as it was."""

import uuid
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from tests.support.examples import examples
from tests.support.stored import cypher
from tests.support.varied_graph import forget_by_hand, snapshot

NAMES = st.text("abcdefg_ é`$", min_size=1, max_size=6)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
VALUES = st.one_of(
    *(
        one
        for kind in (TEXTS, INTEGERS, st.floats(), st.booleans())
        for one in (kind, st.lists(kind, max_size=3))
    ),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.binary(max_size=10),
)
PROPERTIES = st.dictionaries(NAMES, VALUES, max_size=8)


@examples(6)
@given(properties=st.lists(PROPERTIES, min_size=2, max_size=2), joined=PROPERTIES)
async def test_any_properties_come_back(
    graph: KnowledgeGraph, tmp_path: Path, properties: list[dict[str, Any]], joined: dict[str, Any]
) -> None:
    user_id, file = f"user-{uuid.uuid4()}", tmp_path / "records.jsonl"
    await cypher(
        graph,
        "CREATE (a:Person), (b:Person), (a)-[r:has_relationship_with]->(b) SET a = $first, b = "
        "$second, r = $joined "
        "SET a.user_id = $user, b.user_id = $user, a.entity_key = 'one', b.entity_key = 'two'",
        first=properties[0],
        second=properties[1],
        joined=joined,
        user=user_id,
    )
    before = await snapshot(graph, user_id)
    await graph.export(file, user_id=user_id)
    await forget_by_hand(graph, user_id)
    report = await graph.import_records(file)
    assert (report.nodes.created, report.relationships.created) == (2, 1)
    assert await snapshot(graph, user_id) == before
    await forget_by_hand(graph, user_id)
