"""Calls that a program repeats with one `idempotency_key` create each node once."""

import asyncio
from typing import Any

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.tools import Toolset
from tests.conftest import Clock, Server
from tests.support.payloads import succeeded
from tests.support.proxy import proxy_to
from tests.support.stored import Database, note_contents

RUTH: dict[str, Any] = {
    "label": "Person",
    "name": "Ruth",
    "description": "Naval architect",
    "notes": ["Rows."],
}
LOST = 4


async def test_a_repeated_call_returns_the_node_of_the_first(
    tools: Toolset, database: Database
) -> None:
    first = succeeded(await tools.create_node(**RUTH, idempotency_key="call-1"))
    again = succeeded(await tools.create_node(**RUTH, idempotency_key="call-1"))
    assert again["entity_key"] == first["entity_key"]
    assert again["node"] == first["node"]
    assert (first["message"], again["message"]) == (
        "Created Person Ruth",
        "Person Ruth exists already; unchanged",
    )
    [stored] = await database.nodes()
    assert note_contents(stored) == ["Rows."]
    succeeded(await tools.create_node(**RUTH, idempotency_key="call-2"))
    succeeded(await tools.create_node(**RUTH))
    assert len(await database.nodes()) == 3


async def test_concurrent_calls_with_one_key_create_one_node(
    tools: Toolset, database: Database
) -> None:
    answers = await asyncio.gather(
        *(tools.create_node(**RUTH, idempotency_key="call-1") for _ in range(6))
    )
    assert len({succeeded(answer)["entity_key"] for answer in answers}) == 1
    assert len(await database.nodes()) == 1


async def test_remember_with_one_key_creates_its_new_nodes_once(
    tools: Toolset, database: Database, clock: Clock
) -> None:
    given: dict[str, Any] = {
        "nodes": [{**RUTH, "new": True, "ref": "a"}, {**RUTH, "new": True, "ref": "b"}],
        "relationships": [
            {"from": "a", "to": "b", "relationship_type": "cousin", "notes": ["They row."]}
        ],
    }
    first = succeeded(await tools.remember(**given, idempotency_key="call-1"))
    clock.forward(minutes=1)
    again = succeeded(await tools.remember(**given, idempotency_key="call-1"))
    assert (first["nodes"]["created"], again["nodes"]["created"], again["nodes"]["unchanged"]) == (
        2,
        0,
        2,
    )
    assert (first["relationships"]["created"], again["relationships"]["unchanged"]) == (1, 1)
    assert len(await database.nodes()) == 2


async def test_new_sources_with_one_description_are_refused(
    tools: Toolset, database: Database
) -> None:
    sources = [
        {"label": "Source", "name": name, "description": "Chat"} for name in ("Chat 1", "Chat 2")
    ]
    payload = await tools.remember(nodes=sources)
    errors = [failure["error"] for failure in payload["failures"]]
    assert len(errors) == 2
    assert all(
        "would be one Source" in error and "Give different descriptions" in error
        for error in errors
    )
    assert await database.nodes() == []


async def test_a_call_repeated_after_its_commits_reply_was_lost_creates_one_person(
    server: Server, settings: Settings, database: Database, embedder: HashingEmbedder, user_id: str
) -> None:
    async with proxy_to(server.uri) as proxy:
        cut_off = settings.model_copy(update={"neo4j_uri": proxy.uri})
        async with KnowledgeGraph.connect(settings=cut_off, embedder=embedder) as behind:
            tools = behind.tools(user_id=user_id)
            failed = 0
            for number in range(LOST):
                # The first commit of a call ends the reading under locks; that of the second one is
                # the creation.
                proxy.lose_replies_to_commits(1 + number % 2)
                for _ in range(5):
                    answer = await tools.create_node(**RUTH, idempotency_key=f"call-{number}")
                    if answer["success"]:
                        break
                    failed += 1
                assert answer["success"], answer
    assert failed
    assert len(await database.nodes()) == LOST
