"""The database fails while a call writes: nothing of the call is written."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.support.failing import fail_at
from tests.support.stored import nodes_of, relationships_of

ADA = {"label": "Person", "name": "Ada", "description": "Rows"}
BO = {"label": "Person", "name": "Bo", "description": "Sails"}
FRIENDS = {"from": "Ada", "to": "Bo", "relationship_type": "friend"}


async def test_nothing_of_a_call_is_written_if_the_database_fails(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tools.remember(nodes=[ADA])
    fail_at(monkeypatch, services_of(graph).store, "write", "write_records")
    answer = await tools.remember(
        nodes=[ADA | {"description": "Sings"}, BO], relationships=[FRIENDS]
    )
    assert (answer["nodes"]["failed"], answer["relationships"]["failed"]) == (2, 1)
    assert [failure["error"] for failure in answer["failures"][:2]] == ["The disk is full"] * 2
    assert [(node["name"], node["description"]) for node in await nodes_of(graph, user_id)] == [
        ("Ada", "Rows")
    ]
    assert await relationships_of(graph, user_id) == []
