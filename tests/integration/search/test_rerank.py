from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.models.hybrid import HybridObject, HybridSearchRequest
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.people import person, persons, relate
from tests.support.stored import cypher


async def names(graph: KnowledgeGraph, user_id: str, **options: object) -> list[str]:
    """The names of what a search for "Ada chess club" finds, best first."""
    asked = HybridSearchRequest(query="Ada chess club", threshold=-1.0, **options)
    result = await graph.retrieval.hybrid_search(asked, user_id=user_id)
    assert result.warnings == ()
    return [
        item.name if isinstance(item, HybridObject) else item.triplet_text for item in result.items
    ]


async def test_nodes_and_relationships_decay_by_when_they_were_written(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, clock: Clock
) -> None:
    old = await person(tools, "Ada", "chess club")
    bo = await person(tools, "Bo")
    await relate(tools, old, bo, "chess rival")
    clock.forward(days=900)
    await person(tools, "Eve", "chess")
    assert (await names(graph, user_id, limit=1)) == ["Ada"]
    assert (await names(graph, user_id, limit=1, half_life_days=90, now=clock.now)) == ["Eve"]


async def test_embeddings_that_cannot_be_compared_are_similar_to_none(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    short, none, sound = await persons(tools, "short", "none", "sound")
    await relate(tools, short, sound)
    for key, value in ((short, [0.5]), (none, None)):
        await cypher(
            graph,
            "MATCH (n:Person {entity_key: $key}) SET n.embedding = $value",
            key=key,
            value=value,
        )
    every = await names(graph, user_id)
    assert sorted(await names(graph, user_id, mmr_lambda=0.5)) == sorted(every)


async def test_no_embedding_of_another_user_is_read(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    others = graph.tools(user_id=f"{user_id}-other")
    [mine], [theirs, also] = await persons(tools, "Ada"), await persons(others, "Bo", "Cy")
    await relate(others, theirs, also)
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $mine}), (b:Person {entity_key: $theirs}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user, relationship_embedding: $vector}]->(b)",
        mine=mine,
        theirs=theirs,
        user=user_id,
        vector=[1.0] + [0.0] * 383,
    )
    relationships = await cypher(
        graph,
        "MATCH (:Person {entity_key: $theirs})-[r]-() RETURN elementId(r) AS id",
        theirs=theirs,
    )
    scope = services_of(graph).retrieval.scope.of(user_id)
    parameters = {"keys": [mine, theirs], "element_ids": [row["id"] for row in relationships]}
    rows = await scope.read(scope.statement("read_embeddings"), parameters)
    assert [row["id"] for row in rows] == [mine]
