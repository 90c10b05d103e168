"""Graphs that have the index of notes of earlier versions instead of the index of statements."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.integration.upkeep.damaged import problems
from tests.support.embedders import WatchedEmbedder
from tests.support.people import person, relate, two_friends
from tests.support.stored import Database

OLD_INDEXES = (
    "CREATE CONSTRAINT kgagent_KgagentNote_unique FOR (n:KgagentNote) REQUIRE (n.user_id, "
    "n.entity_key) IS UNIQUE",
    "CREATE INDEX kgagent_notes_record FOR (n:KgagentNote) ON (n.user_id, n.record)",
    "CREATE VECTOR INDEX kgagent_KgagentNote_embedding FOR (n:KgagentNote) ON n.embedding",
)


async def make_old(database: Database) -> None:
    """Give the records of a user the form of earlier versions, and the entries of their notes."""
    await database.run("MATCH (n:KgagentStatement {user_id: $user}) DELETE n")
    for pattern in ("(x:Person {user_id: $user})", "(:Person {user_id: $user})-[x]->()"):
        await database.run(f"MATCH {pattern} SET x.notes_hash = 'old' REMOVE x.statements_hash")
    await database.run(
        "CREATE (:KgagentNote {user_id: $user, entity_key: $user, record: 'a', content: 'They "
        "sail.'})"
    )


async def old_notes(database: Database) -> int:
    [row] = await database.run("MATCH (n:KgagentNote {user_id: $user}) RETURN count(n) AS found")
    return int(row["found"])


async def test_a_migration_replaces_it_and_embeds_only_what_has_notes(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
) -> None:
    ends = await two_friends(tools, description="They row.", notes=["They sail."])
    await relate(
        tools, ends["from_entity_key"], await person(tools, "Cy"), description="They draw."
    )
    await make_old(database)
    assert (
        str(problems(await graph.diagnose(user_id=user_id))).count(
            "statements that searches miss, or still find"
        )
        == 2
    )
    embedder.forget()
    await graph.migrate(user_id=user_id)
    assert embedder.stored == [["They row. friend", "They sail."]]
    await database.assert_current()
    assert await old_notes(database) == 0
    assert "notes_hash" not in str(await database.all())
    assert problems(await graph.diagnose(user_id=user_id)) == []


async def test_a_dry_run_and_the_migration_of_another_user_leave_its_entries(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    await two_friends(tools)
    await make_old(database)
    await graph.migrate(user_id=user_id, dry_run=True)
    await graph.migrate(user_id=f"{user_id}-other")
    assert await old_notes(database) == 1
    await graph.forget(user_id=user_id)
    assert await old_notes(database) == 0


@pytest.mark.schema
async def test_a_migration_drops_its_constraint_and_its_indexes(
    graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    for statement in OLD_INDEXES:
        await database.run(statement)
    await graph.migrate(user_id=user_id)
    rows = await database.run(
        "SHOW INDEXES YIELD labelsOrTypes WHERE 'KgagentNote' IN labelsOrTypes RETURN *"
    )
    assert rows == []
