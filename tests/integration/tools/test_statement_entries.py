"""The entries of the index of statements, and which writes embed them."""

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import person, relate, two_friends
from tests.support.stored import Database, indexed_statements, note_contents


async def names_by_text(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """The names in the entries of relationships, by their texts."""
    entries = await indexed_statements(graph, user_id)
    return {entry["text"]: entry["names"] for entry in entries if "to_entity_key" in entry}


async def test_renaming_a_node_changes_the_names_of_entries_of_its_relationships_without_embedding_them(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
) -> None:
    ends = await two_friends(tools, description="They row.", notes=["They sail."])
    cy = await person(tools, "Cy")
    await relate(tools, cy, ends["to_entity_key"], "mentor of", description="Cy taught.")
    embedder.forget()
    succeeded(await tools.update_node(entity_key=ends["to_entity_key"], name="Zoë"))
    assert embedder.stored == [["Zoë"]]
    friends = "Ada Zoë zoe"
    assert await names_by_text(graph, user_id) == {
        "They row.": friends,
        "They sail.": friends,
        "Cy taught.": "Cy Zoë zoe",
    }
    await database.assert_current()


async def test_a_write_without_a_new_name_leaves_the_entries_of_relationships(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    ends = await two_friends(tools, description="They row.")
    await database.run("MATCH (n:KgagentStatement {user_id: $user}) SET n.names = 'changed'")
    succeeded(await tools.update_node(entity_key=ends["to_entity_key"], description="A baker"))
    assert await names_by_text(graph, user_id) == {"They row.": "changed"}


async def test_migration_corrects_the_names_that_another_program_has_changed(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    await two_friends(tools, description="They row.")
    await database.run("MATCH (n:Person {user_id: $user, name: 'Bo'}) SET n.name = 'Bob'")
    await graph.migrate(user_id=user_id)
    assert await names_by_text(graph, user_id) == {"They row.": "Ada Bob"}
    await database.assert_current()


async def test_a_note_with_the_text_of_the_description_has_its_entry_and_both_times(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    note = {"content": "They row.", "when": "2021", "lifetime": "week"}
    await two_friends(tools, description="They row.", when="2019", notes=[note])
    assert note_contents(await database.relationship()) == ["They row."]
    [entry] = [one for one in await indexed_statements(graph, user_id) if one["text"]]
    assert (entry["when_earliest"], entry["when_latest"]) == (20190101, 20211231)
    assert "expires_at" not in entry
    await database.assert_current()


async def test_a_type_is_embedded_again_with_its_relationship_but_not_with_its_notes(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, description="They row.", notes=["They sail."])
    embedder.forget()
    succeeded(await tools.update_relationship(**ends, relationship_type="rival"))
    assert embedder.stored == [["They row. rival They sail.", "They row. rival"]]
    await database.assert_current()


async def test_what_is_restored_or_moved_gets_its_embedding_without_a_call_if_it_has_no_notes(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, description="They row.")
    succeeded(await tools.delete_relationship(**ends))
    embedder.forget()
    succeeded(await tools.restore(**ends))
    assert embedder.calls == 0
    await database.assert_current()
    bob = await person(tools, "Bob")
    embedder.forget()
    succeeded(await tools.merge_nodes(keep_entity_key=bob, drop_entity_key=ends["to_entity_key"]))
    assert embedder.calls == 0
    await database.assert_current()
