"""Invariant 3: no tool or search finds, reads, changes or reveals anything of another user."""

import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import hash_embedding
from kgagent.tools import Toolset
from tests.support.crowd import plant_people, plant_relationships
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5


@pytest.fixture
def other_id(user_id: str) -> str:
    return f"{user_id}-other"


@pytest.fixture
async def mine(tools: Toolset) -> list[str]:
    keys = [await person(tools, "Ada", "Plays chess"), await person(tools, "Bo", "Plays chess")]
    await relate(tools, keys[0], keys[1], "chess partner", description="Mine")
    return keys


@pytest.fixture
async def theirs(graph: KnowledgeGraph, other_id: str) -> list[str]:
    others = graph.tools(user_id=other_id)
    keys = [
        await person(others, "Ada", "Plays chess secretly"),
        await node(others, "Concept", "Chess secret"),
    ]
    await relate(
        others, keys[0], keys[1], "chess partner", description="Theirs secret", notes=["secret"]
    )
    return keys


def assert_tells_nothing(payload: dict[str, Any], keys: list[str]) -> None:
    text = json.dumps(payload)
    assert "secret" not in text
    assert not any(key in text for key in keys)


@pytest.mark.usefixtures("mine")
async def test_searches_find_nothing_of_another_user(
    searched: KnowledgeGraph, user_id: str, theirs: list[str]
) -> None:
    retrieval = searched.retrieval
    relationships = await retrieval.relationship_vector_search(
        "chess secret", -1.0, user_id=user_id, limit=100
    )
    assert [match.description for match in relationships] == ["Mine"]
    typed = await retrieval.relationship_vector_search(
        "chess", -1.0, user_id=user_id, relationship_types=["chess partner"], limit=100
    )
    assert [match.description for match in typed] == ["Mine"]
    nodes = await retrieval.node_vector_search("chess secret", -1.0, user_id=user_id, limit=100)
    assert {match.node.description for match in nodes} == {"Plays chess"}
    assert not set(theirs) & {
        match.node.entity_key
        for match in await retrieval.text_match("chess secret", user_id=user_id)
    }
    assert await retrieval.nodes(theirs, user_id=user_id) == []
    expansion = await retrieval.expand_graph(theirs, user_id=user_id)
    assert (expansion.neighbors, expansion.relationships) == ((), ())
    explored = await searched.tools(user_id=user_id).explore(
        queries=[{"query": "chess secret", "threshold": -1}], text_matches=["Ada", "Chess"]
    )
    assert succeeded(explored)["message"] == "Found 2 nodes and 1 relationship"
    assert_tells_nothing(explored, theirs)


async def test_many_records_of_another_user_hide_nothing(
    searched: KnowledgeGraph, user_id: str, other_id: str, mine: list[str]
) -> None:
    assert mine
    keys = await plant_people(searched, other_id, 121, embedding=list(hash_embedding("chess", 384)))
    nearer = {
        "relationship_embedding": list(hash_embedding("chess", 384)),
        "relationship_type": "chess partner",
    }
    await plant_relationships(
        searched,
        other_id,
        [{"first": keys[0], "second": key, "properties": nearer} for key in keys[1:]],
    )
    for types in (None, ["chess partner"]):
        found = await searched.retrieval.relationship_vector_search(
            "chess", -1.0, user_id=user_id, relationship_types=types, limit=1
        )
        assert [match.description for match in found] == ["Mine"]
    assert (
        len(await searched.retrieval.node_vector_search("chess", -1.0, user_id=user_id, limit=2))
        == 2
    )


async def test_a_relationship_across_users_reveals_nothing(
    searched: KnowledgeGraph, user_id: str, mine: list[str], theirs: list[str]
) -> None:
    for owner in (user_id, None):
        await cypher(
            searched,
            "MATCH (a:Person {entity_key: $mine}), (b:Person {entity_key: $theirs}) "
            "MERGE (a)-[r:has_relationship_with]->(b) "
            "MERGE (b)-[s:has_relationship_with]->(a) SET r += $properties, s += $properties",
            mine=mine[0],
            theirs=theirs[0],
            properties={
                "user_id": owner,
                "relationship_type": "chess partner",
                "description": "secret",
                "relationship_embedding": list(hash_embedding("chess", 384)),
            },
        )
        found = await searched.retrieval.relationship_vector_search("chess", -1.0, user_id=user_id)
        assert [match.description for match in found] == ["Mine"]
        payload = succeeded(
            await searched.tools(user_id=user_id).explore(queries=[{"query": "chess"}])
        )
        assert_tells_nothing(payload, theirs)


async def test_users_with_similar_ids_are_distinguished(
    graph: KnowledgeGraph, user_id: str
) -> None:
    ids = [user_id, user_id.upper(), f"{user_id} ", f"{user_id}*", f"{user_id}' OR true //"]
    for number, one in enumerate(ids):
        await person(graph.tools(user_id=one), f"Owner {number}")
    for number, one in enumerate(ids):
        found = await graph.retrieval.text_match("Owner", user_id=one)
        assert [match.node.name for match in found] == [f"Owner {number}"]
