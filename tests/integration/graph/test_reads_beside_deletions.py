"""What reads return of records that other transactions delete while the reads run."""

import asyncio

import pytest

from kgagent import KnowledgeGraph
from kgagent.graph.statements import statement
from kgagent.tools import Toolset
from tests.conftest import Server
from tests.support.payloads import succeeded
from tests.support.people import person, relate
from tests.support.stored import cypher
from tests.support.transactions import watch

ROUNDS = 3

NODE = "(n:Person {user_id: $user_id, name: 'Ada'})"
RELATIONSHIP = "(:Person {user_id: $user_id})-[r]->(:Person)"


@pytest.mark.neo4j_5
@pytest.mark.parametrize(
    ("fragment", "pattern"),
    [
        ("_node", NODE),
        ("_found_node", NODE),
        ("_relationship", RELATIONSHIP),
        ("_found_relationship", RELATIONSHIP),
        ("_ranked_relationship", RELATIONSHIP),
    ],
)
async def test_a_record_that_is_deleted_after_it_was_matched_is_null(
    tools: Toolset, graph: KnowledgeGraph, server: Server, user_id: str, fragment: str, pattern: str
) -> None:
    await relate(tools, await person(tools, "Ada"), await person(tools, "Bo"), "friend")
    variable = "n" if pattern is NODE else "r"
    read = f"MATCH {pattern} SET {variable}.write_lock = true WITH {variable} RETURN {statement(fragment)} AS record"
    async with watch(server, user_id) as transactions:
        rows = await transactions.answer_beside_deletion(
            pattern.replace(f"({variable}:", "(gone:").replace(f"[{variable}]", "[gone]"),
            cypher(graph, read, user_id=user_id, dimensions=None),
        )
    assert rows == [{"record": None}]


async def test_reads_beside_deletions_and_restorations_succeed(tools: Toolset) -> None:
    hub = await person(tools, "Hub", "Rows on the lake")
    keys = [await person(tools, f"P{number}", "Rows on the lake") for number in range(4)]
    for key in keys:
        await relate(tools, hub, key, "friend", description="They row on the lake")

    async def delete_and_restore(key: str) -> None:
        for _ in range(ROUNDS):
            succeeded(await tools.delete_node(entity_key=key, delete_relationships=True))
            succeeded(await tools.restore(entity_key=key))

    changes = asyncio.gather(*(delete_and_restore(key) for key in keys[:2]))
    while not changes.done():
        answers = await asyncio.gather(
            tools.traverse(entity_key=hub),
            tools.hybrid_search(query="who rows on the lake?"),
            tools.explore(queries=["who rows on the lake?"]),
            tools.find_paths(from_entity_key=keys[2], to_entity_key=keys[3]),
            tools.describe_graph(),
        )
        for answer in answers:
            assert succeeded(answer).get("warnings", []) == []
    await changes
