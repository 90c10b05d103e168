"""Records that have no entries in the index of statements, as those of old versions, are found by
their record.
"""

import pytest

from kgagent import ExploreRequest, KnowledgeGraph, VectorQuery
from kgagent.embedding.hashing import hash_embedding
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.tools import Toolset
from tests.support.people import person, persons, relate
from tests.support.stored import cypher

QUERY = "who is a sailing mentor?"
OF_NODES, OF_RELATIONSHIPS = (
    ("node_vector", "node_fulltext"),
    ("relationship_vector", "relationship_fulltext"),
)


@pytest.fixture(autouse=True)
async def old(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    """Ruth and her mentor as an old version wrote them; and Cy and his friend Di, who are in the
    index.
    """
    await relate(
        tools,
        await person(tools, "Ruth", "A sailing teacher"),
        await person(tools, "Bo"),
        "sailing mentor",
    )
    await cypher(
        graph,
        "MATCH (entry:KgagentStatement {user_id: $user}) DELETE entry WITH count(*) AS deleted "
        "MATCH (n:Person {user_id: $user}) OPTIONAL MATCH (n)-[r]->() REMOVE n.statements_hash, "
        "r.statements_hash",
        user=user_id,
    )
    cy, di = await persons(tools, "Cy", "Di")
    await relate(tools, cy, di, "friend", description="Sailing to the isles")


async def test_they_are_found_by_their_record_beside_the_statements_of_others(
    searched: KnowledgeGraph, user_id: str
) -> None:
    request = HybridSearchRequest(query=QUERY, threshold=0.1)
    found = await searched.retrieval.hybrid_search(request, user_id=user_id)
    mentor, friend = found.relationships or ()
    assert (mentor.triplet_text, mentor.found_by) == ("Ruth sailing mentor Bo", OF_RELATIONSHIPS)
    assert friend.triplet_text == "Cy friend Di"
    assert "statement_vector" in friend.found_by
    [ruth] = [item for item in found.objects if item.name == "Ruth"]
    assert ruth.found_by == (*OF_NODES, "via_relationship")
    for item in (mentor, ruth):
        [statement] = item.statements
        assert statement.note is None
        assert statement.similarity is not None
        assert statement.similarity > 0.1
        assert sum(item.contributions.values()) == pytest.approx(item.score)
    assert found.warnings == ()


async def test_they_are_found_by_a_vector_alone(graph: KnowledgeGraph, user_id: str) -> None:
    vector = hash_embedding("sailing mentor", 384)
    found = await graph.retrieval.hybrid_search(
        HybridSearchRequest(threshold=0.3), user_id=user_id, vector=vector
    )
    [mentor] = [
        item for item in found.relationships or () if item.relationship_type == "sailing mentor"
    ]
    assert mentor.found_by == ("relationship_vector",)


async def test_explore_finds_them(graph: KnowledgeGraph, user_id: str) -> None:
    request = ExploreRequest(queries=(VectorQuery(query=QUERY, threshold=0.1),))
    found = await graph.retrieval.explore(request, user_id=user_id)
    assert found.relationships[0].triplet == "Ruth sailing mentor Bo"
    assert {"Ruth", "Bo"} <= {one.node.name for one in found.nodes}
