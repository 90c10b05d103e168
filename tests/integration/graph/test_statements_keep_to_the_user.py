"""Statements that are given the database's own ids answer only what is the user's, whichever ids
they are given.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.graph.statements import Fragment, statement
from kgagent.knowledge_graph import services_of
from kgagent.upkeep.scan import Scan
from tests.conftest import DIMENSIONS
from tests.support.people import person, relate
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5

COMMON = {"weight_property": "weight", "dimensions": DIMENSIONS, "model": "any"}


@pytest.fixture
async def ids(graph: KnowledgeGraph, user_id: str) -> AsyncIterator[dict[str, str]]:
    """Ids of Ada, Bo and another user's Zed; of what joins the user's own, and what leads to and
    from Zed.
    """
    tools = graph.tools(user_id=user_id)
    ada, bo = await person(tools, "Ada"), await person(tools, "Bo")
    await relate(tools, ada, bo)
    [found] = await cypher(
        graph,
        "MATCH (a:Person {entity_key: $ada})-[own]-(b:Person {entity_key: $bo}) "
        "SET a.embedding = $vector, b.embedding = $vector, b.text = 'mine', b.embedding_model = "
        "'any', a.text = null, "
        "  own.embedding_model = 'any' "
        "CREATE (z:Person {entity_key: $user + '-z', user_id: $user + '-other', name: 'Zed', text: "
        "'theirs'}) "
        "CREATE (a)-[to:has_relationship_with {relationship_type: 'x', relationship_embedding: "
        "$vector}]->(z) "
        "CREATE (z)-[from:has_relationship_with {relationship_type: 'x', user_id: $user}]->(b) "
        "RETURN elementId(a) AS ada, elementId(b) AS bo, elementId(z) AS zed, "
        "  elementId(own) AS own, elementId(to) AS to, elementId(from) AS from",
        ada=ada,
        bo=bo,
        user=user_id,
        vector=vector(),
    )
    yield found
    await cypher(graph, "MATCH (n) WHERE elementId(n) = $id DETACH DELETE n", id=found["zed"])


def vector() -> list[float]:
    return [1.0] + [0.0] * (DIMENSIONS - 1)


async def answer(graph: KnowledgeGraph, name: str, **parameters: Any) -> list[dict[str, Any]]:
    text = statement(
        name,
        types=services_of(graph).relationships.names["types"],
        relationship=Fragment("_ranked_relationship"),
    )
    store, asked = services_of(graph).store, {**COMMON, **parameters}
    rows = [dict(row) for row in await store.read(text, asked)]
    # With another owner beside the user, what is of a third one stays as hidden.
    user_id = str(parameters["user_id"])
    shared = await store.shared((user_id, f"{user_id}-team")).read(text, asked)
    without_owner = str([dict(row) for row in shared]).replace(", ['kgagent_owner', None]", "")
    assert without_owner == str(rows)
    return rows


@pytest.mark.parametrize("vector_given", [True, False])
async def test_counts_of_relationships_include_only_those_of_the_user(
    graph: KnowledgeGraph, user_id: str, ids: dict[str, str], *, vector_given: bool
) -> None:
    asked = [ids["own"], ids["to"], ids["from"]]
    given = services_of(graph).store.vector(vector()) if vector_given else None
    [row] = await answer(
        graph, "score_path_relationships", user_id=user_id, ids=asked, vector=given
    )
    assert [asked[position] for position, *_ in row["scores"]] == [ids["own"]]


async def test_paths_contain_only_relationships_with_both_ends_of_the_user(
    graph: KnowledgeGraph, user_id: str, ids: dict[str, str]
) -> None:
    asked = [ids["own"], ids["to"], ids["from"]]
    rows = await answer(graph, "read_matched_relationships", user_id=user_id, ids=asked)
    assert [row["relationship"]["id"] for row in rows] == [ids["own"]]


async def test_chunks_are_not_found_through_another_users_node(
    graph: KnowledgeGraph, user_id: str, ids: dict[str, str]
) -> None:
    searched = {
        **{"user_id": user_id, "vector": services_of(graph).store.vector(vector())},
        **{"text_properties": ["text"], "neighbors": 10, "limit": 10},
    }
    assert await answer(graph, "find_chunks", ids=[ids["zed"]], **searched) == []
    [row] = await answer(graph, "find_chunks", ids=[ids["ada"], ids["zed"]], **searched)
    assert (row["text"], row["linked_to"]) == ("mine", [ids["ada"]])


async def test_expansion_does_not_reach_another_users_node(
    graph: KnowledgeGraph, user_id: str, ids: dict[str, str]
) -> None:
    ends = await cypher(
        graph,
        "MATCH (n) WHERE elementId(n) IN $ids RETURN n.entity_key AS key",
        ids=[ids["ada"], ids["bo"]],
    )
    await cypher(
        graph,
        "MATCH ()-[r]->() WHERE elementId(r) IN $ids SET r.embedding_model = 'any' WITH r "
        "CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', $vector)",
        ids=[ids["own"], ids["to"], ids["from"]],
        vector=vector(),
    )
    step = {"query": 0, "score": 1.0, "path": [], "through": [end["key"] for end in ends]}
    asked = {
        **dict.fromkeys(("temperature", "overlap_weight", "doubt_weight"), 0.1),
        **dict.fromkeys(("hub_limit", "limit"), 10),
        "relationship_types": None,
        "user_id": user_id,
        "vectors": [services_of(graph).store.vector(vector())],
        "frontier": [
            {**step, "position": at, "element_id": ids[name]}
            for at, name in enumerate(("own", "to", "from"))
        ],
    }
    rows = await answer(graph, "expand_hop", **asked)
    assert [reached for row in rows for reached in row["reached"]] == []
    await cypher(
        graph,
        "MATCH (n) WHERE elementId(n) = $id SET n.user_id = $user",
        id=ids["zed"],
        user=user_id,
    )
    rows = await answer(graph, "expand_hop", **asked)
    assert [reached for row in rows for reached in row["reached"]] != []


async def test_a_scan_of_given_records_reads_only_those_that_are_or_start_at_nodes_of_the_user(
    graph: KnowledgeGraph, user_id: str, ids: dict[str, str]
) -> None:
    services, element_ids = services_of(graph), list(ids.values())
    async with Scan(services, "nodes", user_id, element_ids=element_ids).ids() as nodes:
        assert {element_id async for element_id in nodes} == {ids["ada"], ids["bo"]}
    async with Scan(
        services, "relationships", user_id, element_ids=element_ids
    ).ids() as relationships:
        assert {element_id async for element_id in relationships} == {ids["own"], ids["to"]}
