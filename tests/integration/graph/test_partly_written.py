"""The database fails between the transactions of one call: what was written counts as written."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.support.failing import fail_at
from tests.support.stored import nodes_of, relationships_of

ADA = {"label": "Person", "name": "Ada", "description": "Rows"}
BO = {"label": "Person", "name": "Bo", "description": "Sails"}
FRIENDS = {"from": "Ada", "to": "Bo", "relationship_type": "friend"}


async def test_what_was_written_before_the_failure_is_reported_as_written(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tools.remember(nodes=[ADA])
    fail_at(monkeypatch, services_of(graph).store, "write", "write_relationships")
    answer = await tools.remember(nodes=[ADA | {"description": "Sings"}, BO], relationships=[FRIENDS])
    assert answer["message"].startswith("Nodes: 1 created, 1 updated. Relationships: 1 failed")
    [failure] = answer["failures"]
    assert (failure["name"], failure["error"]) == ("Ada to Bo", "The disk is full")
    assert {str(node["name"]): node["description"] for node in await nodes_of(graph, user_id)} == {
        "Ada": "Sings",
        "Bo": "Sails",
    }
    assert await relationships_of(graph, user_id) == []


async def test_nothing_counts_as_written_if_the_first_transaction_fails(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, services_of(graph).store, "write", "write_nodes")
    answer = await tools.remember(nodes=[ADA, BO], relationships=[FRIENDS])
    assert (answer["nodes"]["failed"], answer["relationships"]["failed"]) == (2, 1)
    assert await nodes_of(graph, user_id) == []
