"""A relationship between two nodes of a user that names another owner: no tool reads or changes
it.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.integration.upkeep.old_graph import run
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, two_friends
from tests.support.stored import Database


@pytest.fixture
async def ends(database: Database, tools: Toolset) -> dict[str, str]:
    """Two friends whose relationship names another owner."""
    ends = await two_friends(tools, description="They row", notes=["Won a race"])
    await database.run(
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.user_id = 'someone else'"
    )
    return ends


async def test_tools_reject_it_with_advice_and_leave_it_unchanged(
    database: Database, tools: Toolset, ends: dict[str, str]
) -> None:
    before = await database.relationship()
    for tool, arguments in (
        ("get_relationship", {}),
        ("update_relationship", {"attitude": 5}),
        ("add_note_to_relationship", {"content": "New"}),
        ("create_relationship", {"relationship_type": "friend"}),
        ("delete_relationship", {}),
        ("restore", {}),
    ):
        error = error_of(await tools[tool](**ends, **arguments))
        assert "names another user as its owner" in error
        assert "kgagent migrate" in error
        assert "They row" not in error
    assert await database.relationship() == before


async def test_nodes_are_not_merged_into_it(tools: Toolset, ends: dict[str, str]) -> None:
    double = await person(tools, "Ada Byron")
    succeeded(
        await tools.create_relationship(
            from_entity_key=double, to_entity_key=ends["to_entity_key"], relationship_type="friend"
        )
    )
    error = error_of(
        await tools.merge_nodes(keep_entity_key=ends["from_entity_key"], drop_entity_key=double)
    )
    assert "names another user as its owner" in error


async def test_the_migration_gives_it_to_the_owner_of_its_nodes(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, ends: dict[str, str]
) -> None:
    assert (await run(graph, user_id)).relationships.updated == 1
    assert (
        succeeded(await tools.get_relationship(**ends))["relationship"]["description"] == "They row"
    )
