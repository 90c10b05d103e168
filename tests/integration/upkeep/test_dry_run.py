"""A dry run counts what a run would do."""

from kgagent import KnowledgeGraph
from tests.integration.upkeep.old_graph import EVERY_FORM, many_old, old_relationships, run
from tests.support.embedders import WatchedEmbedder
from tests.support.stored import cypher, nodes_of, relationships_of


async def test_a_dry_run_changes_nothing_and_counts_what_a_run_does(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await old_relationships(graph, user_id, EVERY_FORM)
    await many_old(graph, user_id, 4)
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $user + '-0'})-[r]->(b:Person {entity_key: $user + '-1'}) "
        "CREATE (b)-[twin:has_relationship_with]->(a) SET twin = properties(r)",
        user=user_id,
    )
    before = [await relationships_of(graph, user_id), await nodes_of(graph, user_id)]
    dry = await run(graph, user_id, dry_run=True)
    assert [await relationships_of(graph, user_id), await nodes_of(graph, user_id)] == before
    assert embedder.calls == 0
    wet = await run(graph, user_id)
    assert {**dry.to_dict(), "seconds": 0.0, "dry_run": False} == {**wet.to_dict(), "seconds": 0.0}
    assert dry.dry_run
    assert wet.relationships.skipped == 1
