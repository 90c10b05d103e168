"""One user's graph, or all of them."""

import uuid

from kgagent import KnowledgeGraph
from tests.integration.upkeep.old_graph import many_old, run
from tests.support.embedders import WatchedEmbedder
from tests.support.own_ontology import names
from tests.support.stored import cypher, nodes_of, relationships_of


async def pairs(graph: KnowledgeGraph, users: int) -> list[str]:
    """Give each of some users two people and a relationship."""
    known = names(graph.ontology)
    ids = [f"user-{number}-{uuid.uuid4()}" for number in range(users)]
    await cypher(
        graph,
        f"UNWIND $ids AS id CREATE (a:{known['Person']} "
        f"{{entity_key: id + 'a', user_id: id, name: 'A'}})"
        f"-[:{known['knows']} {{description: 'Friends of ' + id}}]->"
        f"(:{known['Person']} {{entity_key: id + 'b', user_id: id, name: 'B'}})",
        ids=ids,
    )
    return ids


async def test_another_users_graph_is_not_touched(graph: KnowledgeGraph, user_id: str) -> None:
    other = f"{user_id}-other"
    await many_old(graph, user_id, 2)
    await many_old(graph, other, 2)
    before = [await relationships_of(graph, other), await nodes_of(graph, other)]
    report = await run(graph, user_id)
    assert report.total.examined == 5
    assert [await relationships_of(graph, other), await nodes_of(graph, other)] == before


async def test_without_a_user_every_users_graph_is_migrated(
    own: KnowledgeGraph, embedder: WatchedEmbedder
) -> None:
    ids = await pairs(own, 7)
    report = await run(own, None)
    assert (report.nodes.embedded, report.relationships.embedded) == (14, 7)
    assert [len(texts) for texts in embedder.stored] == [2, 7]
    for user_id in ids:
        [stored] = await relationships_of(own, user_id)
        [expected] = await embedder.embed([f"Friends of {user_id}"])
        assert stored["user_id"] == user_id
        assert stored["relationship_embedding"] == list(expected)
