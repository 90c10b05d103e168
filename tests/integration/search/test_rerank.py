import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.search.rerank import decay_by_age, maximal_marginal_relevance, written_at
from kgagent.search.rerank.stored_embeddings import node_embeddings, relationship_embeddings
from kgagent.search.scope import SearchScope
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.people import person, persons, relate
from tests.support.stored import cypher, nodes_of, relationships_of


@pytest.fixture
async def scope(graph: KnowledgeGraph, user_id: str) -> SearchScope:
    return services_of(graph).retrieval.scope.of(user_id)


async def test_the_embeddings_of_nodes_and_relationships_are_those_that_are_stored(
    graph: KnowledgeGraph, scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    ada, bo = await persons(tools, "Ada", "Bo")
    await relate(tools, ada, bo, "mentor")
    nodes = await node_embeddings(scope, [bo, ada, ada, "no such key"])
    assert {key: list(vector) for key, vector in nodes.items()} == {
        node["entity_key"]: node["embedding"] for node in await nodes_of(graph, user_id)
    }
    [relationship] = await graph.retrieval.relationship_vector_search(
        "mentor", -1.0, user_id=user_id
    )
    kind, first, last = relationship.pair
    asked = [
        relationship.pair,
        (kind, last, first),
        (kind, first, "no such key"),
        ("engages_with", first, last),
    ]
    found = await relationship_embeddings(scope, asked)
    [expected] = [one["relationship_embedding"] for one in await relationships_of(graph, user_id)]
    assert {pair: list(vector) for pair, vector in found.items()} == dict.fromkeys(
        asked[:2], expected
    )


async def test_embeddings_that_cannot_be_compared_are_omitted(
    graph: KnowledgeGraph, scope: SearchScope, tools: Toolset
) -> None:
    keys = await persons(tools, "short", "foreign", "none", "sound")
    for key in keys[:3]:
        await relate(tools, key, keys[3])
    for key, properties in zip(
        keys, ({"vector": [0.5]}, {"model": "another model"}, {"vector": None}), strict=False
    ):
        for match, field in (
            ("(x:Person|Concept {entity_key: $key})", "embedding"),
            ("(:Person|Concept {entity_key: $key})-[x]-()", "relationship_embedding"),
        ):
            await cypher(
                graph,
                f"MATCH {match} SET x.{field} = CASE WHEN 'vector' IN keys($new) THEN $new.vector "
                f"ELSE x.{field} END, "
                "x.embedding_model = coalesce($new.model, x.embedding_model)",
                key=key,
                new=properties,
            )
    assert list(await node_embeddings(scope, keys)) == [keys[3]]
    pairs = [("has_relationship_with", key, keys[3]) for key in keys[:3]]
    assert await relationship_embeddings(scope, pairs) == {}


async def test_nothing_of_another_user_is_read(
    graph: KnowledgeGraph, scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    others = graph.tools(user_id=f"{user_id}-other")
    [mine], [theirs, also] = await persons(tools, "Ada"), await persons(others, "Bo", "Cy")
    await relate(others, theirs, also)
    assert await node_embeddings(scope, [theirs]) == {}
    assert await relationship_embeddings(scope, [("has_relationship_with", theirs, also)]) == {}
    await cypher(
        graph,
        "MATCH (a:Person|Concept {entity_key: $mine}), (b:Person|Concept {entity_key: $theirs}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user, relationship_embedding: "
        "$vector}]->(b)",
        mine=mine,
        theirs=theirs,
        user=user_id,
        vector=[1.0] + [0.0] * 383,
    )
    assert await relationship_embeddings(scope, [("has_relationship_with", mine, theirs)]) == {}


async def test_stored_embeddings_identify_duplicates_among_results(
    graph: KnowledgeGraph, scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    for name, description in (
        ("Ada", "chess club"),
        ("Ada", "chess club"),
        ("Eve", "chess violin"),
    ):
        await person(tools, name, description)
    matches = await graph.retrieval.node_vector_search("Ada chess club", -1.0, user_id=user_id)
    assert [match.node.name for match in matches] == ["Ada", "Ada", "Eve"]
    vectors = await node_embeddings(scope, [match.node.entity_key for match in matches])
    chosen = maximal_marginal_relevance(
        matches,
        relevance=lambda match: match.similarity,
        vector=lambda match: vectors.get(match.node.entity_key),
        k=2,
    )
    assert [match.node.name for match in chosen] == ["Ada", "Eve"]


async def test_nodes_and_relationships_of_a_search_decay_by_when_they_were_written(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, clock: Clock
) -> None:
    ada, bo = await person(tools, "chess club Ada"), await person(tools, "Bo")
    await relate(tools, ada, bo, "chess rival")
    clock.forward(days=90)
    eve = await person(tools, "chess Eve")
    await relate(tools, eve, bo, "rival")
    nodes = await graph.retrieval.node_vector_search("chess club", -1.0, user_id=user_id)
    relationships = await graph.retrieval.relationship_vector_search(
        "chess rival", -1.0, user_id=user_id
    )
    assert [match.node.name for match in nodes][:2] == ["chess club Ada", "chess Eve"]
    assert [match.from_name for match in relationships] == ["chess club Ada", "chess Eve"]
    decayed = decay_by_age(
        nodes,
        score=lambda match: match.similarity,
        timestamp=lambda match: written_at(match.node),
        now=clock.now,
    )
    assert decayed[0].item.node.name == "chess Eve"
    assert decayed[0].score == decayed[0].item.similarity
    half = decay_by_age(
        relationships, score=lambda match: match.score, timestamp=written_at, now=clock.now
    )
    by_name = {one.item.from_name: one.score / one.item.score for one in half}
    assert by_name == pytest.approx({"chess club Ada": 0.5, "chess Eve": 1.0})
