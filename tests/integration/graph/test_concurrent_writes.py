"""Invariant 1 and 2: whatever writes at once, each embedding is that of its text, and nothing is
lost or half there.
"""

import asyncio
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingResponseError, EmbeddingUnavailableError
from kgagent.graph.store import Parameters, Row
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import Clock, Server
from tests.support import facts
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import person, two_friends
from tests.support.stored import (
    assert_embeddings_are_current,
    cypher,
    nodes_of,
    note_contents,
    relationships_of,
    the_relationship,
)
from tests.support.transactions import watch


async def test_concurrent_changes_and_notes_are_all_kept_and_the_embedding_is_that_of_the_last_state(
    agents: list[Toolset],
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
) -> None:
    ends = await two_friends(agents[0])
    back = {"from_entity_key": ends["to_entity_key"], "to_entity_key": ends["from_entity_key"]}
    notes = [f"note {number}" for number in range(4)]
    calls = [
        agent.add_note_to_relationship(**ends, content=note)
        for agent, note in zip(agents, notes, strict=True)
    ]
    calls += [
        agent.update_relationship(**back, attitude=level)
        for level, agent in enumerate(agents, start=1)
    ]
    calls += [agents[0].update_relationship(**ends, description="They row together")]
    answers = [succeeded(answer) for answer in await asyncio.gather(*calls)]
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert sorted(note_contents(stored)) == notes
    assert stored["description"] == "They row together"
    changed = sum("Nothing changed" not in answer["message"] for answer in answers)
    assert stored["version"] == 1 + changed


async def test_writers_of_the_same_records_write_them_in_one_order_and_so_do_not_deadlock(
    tools: Toolset, graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, list[list[str]]] = {}
    write = services_of(graph).store.write

    async def watched(
        text: str, parameters: Parameters, *, timeout: float | None = None
    ) -> list[Row]:
        for name, rows in parameters.items():
            if name.startswith(("created", "updated")):
                ends = ["entity_key"] if "nodes" in name else ["from_entity_key", "to_entity_key"]
                keys = ["".join(sorted(row[end] for end in ends)) for row in rows]
                written.setdefault(name, []).append(keys)
        return await write(text, parameters, timeout=timeout)

    monkeypatch.setattr(services_of(graph).store, "write", watched)
    names = [f"Topic {number}" for number in range(8)]
    for order in (names, names[::-1], names[::2] + names[1::2]):
        described = {"description": f"As {order[0]} and {order[1]} say"}
        nodes = [{"label": "Concept", "name": name, **described} for name in order]
        relationships = [{"from": order[0], "to": name, **described} for name in order[1:]]
        typed = [
            {**relationship, "relationship_type": "close to"} for relationship in relationships
        ]
        succeeded(await tools.remember(nodes=nodes, relationships=typed))
    assert written.keys() >= {
        "created_nodes",
        "updated_nodes",
        "created_relationships",
        "updated_relationships",
    }
    assert all(keys == sorted(keys) for lists in written.values() for keys in lists)


async def test_concurrent_creations_make_one_relationship_and_the_others_fail(
    agents: list[Toolset],
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
) -> None:
    first, second = await person(agents[0], "Ada"), await person(agents[0], "Bo")
    embedder.forget()
    embedder.gate.clear()
    tasks = [
        asyncio.create_task(
            agent.create_relationship(
                from_entity_key=ends[0],
                to_entity_key=ends[1],
                relationship_type="friend",
                notes=[f"by {number}"],
            )
        )
        for number, agent in enumerate(agents)
        for ends in ((first, second), (second, first))
    ]
    await embedder.asked_for(len(tasks))
    embedder.gate.set()
    answers = await asyncio.gather(*tasks)
    assert sum(answer["success"] for answer in answers) == 1
    for refused in (answer for answer in answers if not answer["success"]):
        assert "Use update_relationship tool to modify existing relationships" in error_of(refused)
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert stored["version"] == 1


async def test_a_concurrent_write_is_detected(
    agents: list[Toolset],
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
) -> None:
    ends = await two_friends(agents[0], description="They row together")
    embedder.forget()
    embedder.asked.clear()
    embedder.gate.clear()
    slow = asyncio.create_task(agents[0].update_relationship(**ends, attitude=5))
    await embedder.asked.wait()
    succeeded(await agents[1].update_relationship(**ends, confidence=0.1))
    await cypher(
        graph,
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.description = 'They quarrel', "
        "r.version = 7",
        user=user_id,
    )
    embedder.gate.set()
    succeeded(await slow)
    assert embedder.stored == [["They row together friend close"], ["They quarrel friend close"]]
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert (stored["description"], stored["attitude"], stored["version"]) == ("They quarrel", 5, 8)


async def test_a_node_deleted_during_a_create_is_reported(
    agents: list[Toolset], graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    first, second = await person(agents[0], "Ada"), await person(agents[0], "Bo")
    embedder.asked.clear()
    embedder.gate.clear()
    slow = asyncio.create_task(
        agents[0].create_relationship(
            from_entity_key=first, to_entity_key=second, relationship_type="friend"
        )
    )
    await embedder.asked.wait()
    await cypher(graph, "MATCH (n:Person|Concept {entity_key: $key}) DELETE n", key=second)
    embedder.gate.set()
    assert error_of(await slow) == f"Node not found: {second}" + WHERE_KEYS_ARE
    assert await relationships_of(graph, user_id) == []


@pytest.mark.neo4j_5
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        (
            "update_relationship",
            {"from_entity_key": "Ada", "to_entity_key": "Bo", "attitude": 5},
            "not found between",
        ),
        (
            "add_note_to_relationship",
            {"from_entity_key": "Bo", "to_entity_key": "Ada", "content": "x"},
            "not found",
        ),
        ("delete_node", {"entity_key": "Ada"}, None),
        ("merge_nodes", {"keep_entity_key": "Bo", "drop_entity_key": "Ada"}, None),
        ("merge_nodes", {"keep_entity_key": "Cy", "drop_entity_key": "Ada"}, None),
    ],
)
async def test_a_relationship_deleted_while_a_write_waits_for_its_lock_does_not_exist(
    tools: Toolset,
    server: Server,
    user_id: str,
    tool: str,
    arguments: dict[str, Any],
    expected: str | None,
) -> None:
    await two_friends(tools)
    await person(tools, "Cy")
    async with watch(server, user_id) as transactions:
        answer = await transactions.answer_beside_deletion(
            "(:Person {user_id: $user_id})-[gone]->(:Person)", getattr(tools, tool)(**arguments)
        )
    if expected is None:
        succeeded(answer)
    else:
        assert expected in error_of(answer)


@pytest.mark.neo4j_5
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("update_node", {"entity_key": "Ada", "description": "A rower"}, "Node not found"),
        ("delete_node", {"entity_key": "Ada"}, "Node not found"),
        ("merge_nodes", {"keep_entity_key": "Bo", "drop_entity_key": "Ada"}, "Node not found"),
        ("merge_nodes", {"keep_entity_key": "Ada", "drop_entity_key": "Bo"}, "Node not found"),
    ],
)
async def test_a_node_deleted_while_a_write_waits_for_its_lock_does_not_exist(
    tools: Toolset,
    server: Server,
    user_id: str,
    tool: str,
    arguments: dict[str, Any],
    expected: str,
) -> None:
    await person(tools, "Ada")
    await person(tools, "Bo")
    async with watch(server, user_id) as transactions:
        answer = await transactions.answer_beside_deletion(
            "(gone:Person {user_id: $user_id, name: 'Ada'})", getattr(tools, tool)(**arguments)
        )
    assert expected in error_of(answer)


async def test_a_citing_node_deleted_while_a_merge_waits_for_its_lock_is_left_out(
    tools: Toolset, server: Server, user_id: str
) -> None:
    ada = await person(tools, "Ada")
    await person(tools, "Bo")
    await person(tools, "Cy", notes=[{"content": "Rows", "source_entity_key": ada}])
    async with watch(server, user_id) as transactions:
        answer = await transactions.answer_beside_deletion(
            "(gone:Person {user_id: $user_id, name: 'Cy'})",
            tools.merge_nodes(keep_entity_key="Bo", drop_entity_key="Ada"),
        )
    succeeded(answer)


@pytest.mark.parametrize(
    "error", [EmbeddingUnavailableError("down"), EmbeddingResponseError("nonsense")]
)
async def test_an_embedder_that_fails_leaves_everything_as_it_was(
    tools: Toolset, graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, error: Exception
) -> None:
    ends = await two_friends(tools, description="They row together")
    before = (await the_relationship(graph, user_id), await nodes_of(graph, user_id))
    embedder.failure = error
    assert error_of(await tools.update_relationship(**ends, attitude=1)) == str(error)
    assert error_of(await tools.add_note_to_relationship(**ends, content="x")) == str(error)
    assert error_of(await tools.create_node(label="Person", name="Cy")) == str(error)
    assert (await the_relationship(graph, user_id), await nodes_of(graph, user_id)) == before
    embedder.failure = None
    succeeded(await tools.update_relationship(**ends, attitude=1))


async def test_calls_cancelled_at_any_moment_leave_nothing_half_written(
    tools: Toolset, graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, clock: Clock
) -> None:
    ends = await two_friends(tools)
    for turns in range(0, 60, 3):
        task = asyncio.create_task(
            tools.update_relationship(**ends, description=f"state {turns}", attitude=1 + turns % 5)
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # The driver drops the connection of a cancelled call; a new one is opened here, where
        # nothing is cancelled.
        await the_relationship(graph, user_id)
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    if stored.get("description"):
        state = int(stored["description"].removeprefix("state "))
        assert stored["attitude"] == 1 + state % 5
    succeeded(await tools.update_relationship(**ends, description="still works"))


async def test_duplicate_relationships_do_not_prevent_a_write(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    first, second = await person(tools, "Ada"), await person(tools, "Bo")
    await cypher(
        graph,
        "MATCH (a:Person|Concept {entity_key: $first}), (b:Person|Concept {entity_key: $second}) "
        "CREATE (a)-[:has_relationship_with {relationship_type: 'friend', relation_embedding: "
        "[0.1]}]->(b) "
        "CREATE (b)-[:has_relationship_with {relationship_type: 'friend', relation_embedding: "
        "[0.1]}]->(a)",
        first=first,
        second=second,
    )
    ends = {"from_entity_key": first, "to_entity_key": second}
    for level in (1, 2, 3):
        succeeded(await tools.update_relationship(**ends, attitude=level))
    stored = await relationships_of(graph, user_id)
    written = [item for item in stored if item.get("version")]
    assert [(item["attitude"], item["version"]) for item in written] == [(3, 3)]
    assert not set(facts.OLD_FIELDS) & written[0].keys()


async def test_a_write_reads_no_record_in_the_middle_of_another_commit(
    tools: Toolset,
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
    server: Server,
) -> None:
    """Neo4j applies a commit property by property, so that a read without the record's lock can see
    half of it.
    """
    ends = await two_friends(tools, description="They row together")
    embedder.forget()
    driver = AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password))
    async with driver, driver.session() as session, watch(server, user_id) as transactions:
        other = await session.begin_transaction()
        await other.run(
            "MATCH (a:Person {entity_key: $from_entity_key})-[r]-(b:Person {entity_key: "
            "$to_entity_key}) "
            "SET r.description = 'They sail together', r.version = 2",
            ends,
        )
        change = asyncio.create_task(tools.update_relationship(**ends, attitude=5))
        await transactions.until_blocked()
        assert embedder.calls == 0
        await other.commit()
        succeeded(await change)
    assert embedder.calls == 1
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert (stored["description"], stored["attitude"], stored["version"]) == (
        "They sail together",
        5,
        3,
    )
