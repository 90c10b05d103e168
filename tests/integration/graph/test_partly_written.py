"""The database fails between the transactions of one batch: what was written counts as written."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgagent import KnowledgeGraph
from kgagent.errors import StoreError
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.knowledge_graph import services_of
from tests.support.stored import nodes_of

ADA = {"label": "Person", "name": "Ada", "description": "Rows"}
BO = {"label": "Person", "name": "Bo", "description": "Sails"}


class FailingStore(Store):
    """Fails at one statement."""

    fails_at = ""

    async def write(
        self, text: str, parameters: Mapping[str, Any], *, timeout: float | None = None
    ) -> list[dict[str, Any]]:
        if isinstance(text, Statement) and text.name == self.fails_at:
            raise StoreError("The disk is full")
        return await super().write(text, parameters, timeout=timeout)


async def remembered(opened: KnowledgeGraph, user_id: str, nodes: Sequence[Mapping[str, str]], fails_at: str) -> Any:
    store = services_of(opened).store
    failing = FailingStore.__new__(FailingStore)
    vars(failing).update(vars(store))
    failing.fails_at = fails_at
    graph = KnowledgeGraph(failing, opened.ontology, opened.embedder, opened.settings)
    return await graph.tools(user_id=user_id).remember(nodes=list(nodes))


async def test_what_was_created_before_the_failure_is_reported_as_created(opened: KnowledgeGraph, user_id: str) -> None:
    await opened.tools(user_id=user_id).remember(nodes=[ADA])
    answer = await remembered(opened, user_id, [ADA | {"description": "Sings"}, BO], "update_nodes")
    assert answer["message"].startswith("Nodes: 1 created, 1 failed")
    [failure] = answer["failures"]
    assert (failure["name"], failure["error"]) == ("Ada", "The disk is full")
    assert {str(node["name"]): node["description"] for node in await nodes_of(opened, user_id)} == {
        "Ada": "Rows",
        "Bo": "Sails",
    }


async def test_nothing_counts_as_written_if_the_first_transaction_fails(opened: KnowledgeGraph, user_id: str) -> None:
    answer = await remembered(opened, user_id, [ADA, BO], "create_nodes")
    assert answer["nodes"]["failed"] == 2
    assert await nodes_of(opened, user_id) == []
