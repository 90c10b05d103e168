"""Tools that read open only transactions in which the server refuses to write."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kgagent import KnowledgeGraph, Settings, StoreError
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.observability import Recorder
from tests.conftest import DIMENSIONS, Server
from tests.support.payloads import succeeded
from tests.support.people import two_friends
from tests.support.proxy import Proxy, proxy_to

READ_MODE = b"\x84mode\x81r"
"""The entry `mode: "r"` of a message of the Bolt protocol that begins a transaction."""

BEGIN = b"\xb1\x11"
"""The start of a message that begins a transaction, rather than running one statement in a
transaction of its own.
"""

STEP = {
    "source_label": "Person",
    "relation_type": "has_relationship_with",
    "target_label": "Person",
}


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    async with proxy_to(server.uri) as running:
        yield running


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def graph(
    proxy: Proxy, settings: Settings, recorder: Recorder
) -> AsyncIterator[KnowledgeGraph]:
    """The graph behind a proxy that keeps what is sent to the server."""
    near = settings.model_copy(update={"neo4j_uri": proxy.uri})
    connecting = KnowledgeGraph.connect(
        settings=near, embedder=HashingEmbedder(DIMENSIONS), observer=recorder
    )
    async with connecting as opened:
        yield opened


async def test_every_statement_of_a_tool_that_reads_is_sent_in_read_mode(
    graph: KnowledgeGraph, proxy: Proxy, recorder: Recorder, user_id: str
) -> None:
    tools = graph.tools(user_id=user_id)
    ends = await two_friends(tools)
    await graph.add_source("Talk", "They talked about rowing.", user_id=user_id)
    calls: dict[str, dict[str, Any]] = {
        "explore": {"queries": [{"query": "a friend"}], "text_matches": ["Ada"], "format": "json"},
        "describe_graph": {},
        "hybrid_search": {"query": "a friend of a friend", "expand_hops": 2},
        "query_patterns": {"query": "a friend", "patterns": [{"steps": [STEP]}]},
        "get_relationship": ends,
        "traverse": {"entity_key": ends["from_entity_key"], "hops": 2},
        "find_duplicates": {},
        "read_source": {"entity_key": "Talk"},
        "find_paths": ends | {"query": "a friend"},
    }
    assert calls.keys() == {name for name, tool in tools.items() if tool.read_only}
    for name, arguments in calls.items():
        recorder.clear()
        proxy.requests.clear()
        succeeded(await tools[name](**arguments))
        assert {statement.access for statement in recorder.statements} == {"read"}, name
        assert proxy.requests.count(READ_MODE) == len(recorder.statements), name


async def test_a_tool_that_writes_is_not_sent_in_read_mode(
    graph: KnowledgeGraph, proxy: Proxy, recorder: Recorder, user_id: str
) -> None:
    tools = graph.tools(user_id=user_id)
    await two_friends(tools)
    recorder.clear()
    proxy.requests.clear()
    succeeded(await tools.create_node(label="Concept", name="Sailing"))
    written = [statement for statement in recorder.statements if statement.access == "write"]
    assert written
    assert proxy.requests.count(READ_MODE) == len(recorder.statements) - len(written)


async def test_the_server_refuses_to_write_where_tools_read(
    graph: KnowledgeGraph, proxy: Proxy, user_id: str
) -> None:
    store = services_of(graph).store
    create = "CREATE (n:Concept {user_id: $user_id}) RETURN n.user_id AS made"
    values = {"user_id": user_id}
    with pytest.raises(StoreError, match=r"(?i)writing in read access mode not allowed"):
        await store.read(create, values)
    with pytest.raises(StoreError, match=r"(?i)writing in read access mode not allowed"):
        async with store.stream(create, values) as rows:
            assert [row async for row in rows] == []

    # A read whose connection breaks is repeated in another kind of transaction.
    proxy.requests.clear()
    proxy.lose_replies_to(READ_MODE, 1)
    with pytest.raises(StoreError, match=r"(?i)writing in read access mode not allowed"):
        await store.read(create, values)
    assert BEGIN in proxy.requests

    found = "MATCH (n:Concept {user_id: $user_id}) RETURN count(n) AS count"
    assert await store.read(found, values) == [{"count": 0}]
