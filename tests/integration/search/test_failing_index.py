"""An index that fails is no reason for a search to fail."""

from collections.abc import Callable
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import StatementTimeoutError, StoreError
from kgagent.knowledge_graph import services_of
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.tools import Toolset
from tests.support.drawn import QUERY, Drawing
from tests.support.people import person, two_friends
from tests.support.stored import cypher


def failing(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Have every statement that asks a vector index fail."""
    read = services_of(graph).store.read

    async def fail(
        text: str, parameters: dict[str, Any], *, timeout: float | None = None
    ) -> list[dict[str, Any]]:
        if "VECTOR INDEX" in text or "db.index.vector" in text:
            raise error
        return await read(text, parameters, timeout=timeout)

    monkeypatch.setattr(services_of(graph).store, "read", fail)


async def test_if_an_index_fails_vectors_are_compared_exactly(
    searching: Callable[[str], KnowledgeGraph],
    tools: Toolset,
    user_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await two_friends(tools, relationship_type="mentor")
    graph = searching("index")
    failing(graph, monkeypatch, StoreError("Index 33554431 out of bounds for length 1"))
    retrieval = graph.retrieval
    assert [
        match.node.name for match in await retrieval.node_vector_search("Ada", 0.5, user_id=user_id)
    ] == ["Ada"]
    for types in (None, ["mentor"]):
        [found] = await retrieval.relationship_vector_search(
            "mentor", 0.1, user_id=user_id, relationship_types=types
        )
        assert found.relationship_type == "mentor"
    hybrid = await retrieval.hybrid_search(
        HybridSearchRequest(query="mentor", threshold=0.1), user_id=user_id
    )
    assert [item.found_by for item in hybrid.relationships or ()] == [
        ("statement_vector", "statement_fulltext")
    ]
    assert not any(warning.startswith("Skipped") for warning in hybrid.warnings)


async def test_an_index_that_takes_too_long_ends_the_search(
    searching: Callable[[str], KnowledgeGraph],
    tools: Toolset,
    user_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await person(tools, "Ada")
    graph = searching("index")
    failing(graph, monkeypatch, StatementTimeoutError("too long"))
    with pytest.raises(StatementTimeoutError):
        await graph.retrieval.node_vector_search("Ada", 0.5, user_id=user_id)


async def test_what_another_user_deletes_breaks_no_search(
    searched: KnowledgeGraph, graph: KnowledgeGraph, user_id: str
) -> None:
    mine, theirs = Drawing(graph, user_id), Drawing(graph, f"{user_id}-other")
    await theirs.nodes(similar={"first": 1.0})
    await mine.nodes(similar={"a": 0.9, "b": 0.8})
    await theirs.nodes(similar={"second": 0.9, "third": 0.8})
    await cypher(graph, "MATCH (n:Person {entity_key: $key}) DELETE n", key=theirs.key("second"))
    found = await searched.retrieval.node_vector_search(None, -1.0, user_id=user_id, vector=QUERY)
    assert [match.node.name for match in found] == ["a", "b"]
