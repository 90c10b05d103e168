"""The retriever: documents of one user's nodes and relationships."""

import asyncio

import pytest
from pydantic import ValidationError

from kgagent import HybridSearchRequest, KnowledgeGraph
from kgagent.adapters.langchain import KnowledgeGraphRetriever
from kgagent.errors import ConfigurationError, InputError
from kgagent.tools import Toolset
from tests.support.payloads import assert_nothing_hidden
from tests.support.people import person, relate

QUERY = "Ruth mentor"


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Ruth mentors Iris; the keys by name."""
    ruth = await person(tools, "Ruth", "Naval architect in Bergen.", notes=["Sails on Sundays"])
    iris = await person(tools, "Iris")
    await relate(
        tools,
        ruth,
        iris,
        "mentor",
        description="Ruth mentor of Iris.",
        attitude=5,
        notes=["Met in 2019"],
    )
    return {"Ruth": ruth, "Iris": iris}


async def test_relationships_are_triplets_and_nodes_are_named(
    graph: KnowledgeGraph, keys: dict[str, str], user_id: str
) -> None:
    documents = await KnowledgeGraphRetriever(graph=graph, user_id=user_id).ainvoke(QUERY)
    by_type = {document.metadata["type"]: document for document in reversed(documents)}
    relationship, node = by_type["relationship"], by_type["object"]
    assert relationship.page_content.splitlines()[:2] == [
        "Ruth mentor Iris",
        "Ruth mentor of Iris.",
    ]
    assert node.page_content.splitlines()[:2] == ["Ruth", "Naval architect in Bergen."]
    assert (relationship.metadata["from_entity_key"], relationship.metadata["to_entity_key"]) == (
        keys["Ruth"],
        keys["Iris"],
    )
    assert relationship.metadata["notes"][0]["content"] == "Met in 2019"
    assert -1 <= relationship.metadata["similarity"] <= 1
    assert relationship.metadata["attitude_word"] == "close"
    assert node.metadata["entity_key"] == keys["Ruth"]
    assert [document.metadata["rank"] for document in documents] == list(
        range(1, len(documents) + 1)
    )
    assert_nothing_hidden({"documents": [document.metadata for document in documents]})
    for document in (relationship, node):
        assert document.metadata["found_by"]
        assert document.metadata["score"] > 0


async def test_options_are_those_of_hybrid_search(
    graph: KnowledgeGraph, keys: dict[str, str], user_id: str
) -> None:
    assert keys
    options = HybridSearchRequest(search_relationships=False, limit=1, threshold=-1.0)
    retriever = KnowledgeGraphRetriever(graph=graph, user_id=user_id, options=options, k=5)
    documents = await retriever.ainvoke("Ruth Iris")
    assert {document.metadata["name"] for document in documents} == {"Ruth", "Iris"}


async def test_wrong_values_are_refused(graph: KnowledgeGraph, user_id: str) -> None:
    with pytest.raises(ValidationError, match="user_id must not be empty"):
        KnowledgeGraphRetriever(graph=graph, user_id="")
    with pytest.raises(ValidationError, match="less than or equal to 100"):
        KnowledgeGraphRetriever(graph=graph, user_id=user_id, k=101)
    with pytest.raises(InputError, match="k must be 1 to 100, got 0"):
        await KnowledgeGraphRetriever(graph=graph, user_id=user_id).ainvoke(QUERY, k=0)


async def test_invoke_works_from_another_thread_and_says_what_to_do_on_the_graphs_own_loop(
    graph: KnowledgeGraph, keys: dict[str, str], user_id: str
) -> None:
    assert keys
    retriever = KnowledgeGraphRetriever(graph=graph, user_id=user_id)
    assert await asyncio.to_thread(retriever.invoke, QUERY) == await retriever.ainvoke(QUERY)
    with pytest.raises(ConfigurationError, match="use ainvoke"):
        retriever.invoke(QUERY)
