"""Clusters: reads go to readers, writes to the writer, and reads see earlier writes, also of other
processes.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from kgagent import InputError, KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.observability import Recorder
from tests.conftest import DIMENSIONS, Server
from tests.support.payloads import succeeded
from tests.support.people import person, two_friends
from tests.support.proxy import Proxy, proxy_to, routing_table

READ_MODE = b"\x84mode\x81r"


@dataclass(frozen=True)
class Cluster:
    """Three addresses of one server, as if they were members of a cluster."""

    router: Proxy
    reader: Proxy
    writer: Proxy

    @property
    def uri(self) -> str:
        return f"neo4j://{self.router.address}"

    def forget(self) -> None:
        """Begin to note requests anew."""
        for proxy in (self.router, self.reader, self.writer):
            proxy.requests.clear()


@pytest.fixture
async def cluster(server: Server) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        router, reader, writer = [
            await stack.enter_async_context(proxy_to(server.uri)) for _ in range(3)
        ]
        router.routes = routing_table(
            readers=[reader.address], writers=[writer.address], routers=[router.address]
        )
        yield Cluster(router, reader, writer)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def clustered(
    cluster: Cluster, settings: Settings, recorder: Recorder
) -> AsyncIterator[KnowledgeGraph]:
    near = settings.model_copy(update={"neo4j_uri": cluster.uri})
    connecting = KnowledgeGraph.connect(
        settings=near, embedder=HashingEmbedder(DIMENSIONS), observer=recorder
    )
    async with connecting as opened:
        yield opened


async def test_a_single_server_is_used_by_its_routing_table(
    settings: Settings, server: Server, user_id: str
) -> None:
    routed = settings.model_copy(update={"neo4j_uri": server.uri.replace("bolt://", "neo4j://")})
    async with KnowledgeGraph.connect(
        settings=routed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        await two_friends(graph.tools(user_id=user_id), description="They row")
        result = await graph.search("They row", user_id=user_id)
        assert [one.description for one in result.relationships or ()] == ["They row"]


async def test_reads_go_to_the_reader_and_writes_to_the_writer(
    clustered: KnowledgeGraph, cluster: Cluster, recorder: Recorder, user_id: str
) -> None:
    tools = clustered.tools(user_id=user_id)
    await two_friends(tools, description="They row")
    recorder.clear()
    cluster.forget()
    assert (await clustered.search("They row", user_id=user_id)).relationships
    assert {statement.access for statement in recorder.statements} == {"read"}
    assert cluster.reader.requests.count(READ_MODE) == len(recorder.statements)
    assert (bytes(cluster.writer.requests), bytes(cluster.router.requests)) == (b"", b"")
    recorder.clear()
    cluster.forget()
    succeeded(await tools.create_node(label="Concept", name="Sailing"))
    reads = [statement for statement in recorder.statements if statement.access == "read"]
    assert cluster.reader.requests.count(READ_MODE) == len(reads)
    assert READ_MODE not in cluster.writer.requests
    assert b"Sailing" in cluster.writer.requests


async def test_a_read_after_a_write_waits_for_it(
    clustered: KnowledgeGraph, cluster: Cluster, user_id: str
) -> None:
    await person(clustered.tools(user_id=user_id), "Ada")
    [written] = await clustered.bookmarks()
    cluster.forget()
    await clustered.search("Ada", user_id=user_id)
    assert written.encode() in cluster.reader.requests


async def test_another_process_reads_what_was_written_with_its_bookmarks(
    clustered: KnowledgeGraph, cluster: Cluster, settings: Settings, user_id: str
) -> None:
    near = settings.model_copy(update={"neo4j_uri": cluster.uri})
    async with KnowledgeGraph.connect(settings=near, embedder=HashingEmbedder(DIMENSIONS)) as other:
        await person(clustered.tools(user_id=user_id), "Ada")
        [written] = await clustered.bookmarks()
        assert written not in await other.bookmarks()
        cluster.forget()
        await other.use_bookmarks([written])
        assert cluster.reader.requests.count(written.encode()) == 1
        cluster.forget()
        await services_of(other).store.read(
            "MATCH (n:Person {user_id: $user}) RETURN n.name", {"user": user_id}
        )
        assert written.encode() in cluster.reader.requests
        assert bytes(cluster.writer.requests) == b""


@pytest.mark.parametrize(
    ("wrong", "why"),
    [(["never"], "cannot be used: "), ("never", "cannot be used: "), ([7], "got 7")],
)
async def test_bookmarks_that_cannot_be_used_are_refused_and_harm_no_later_call(
    graph: KnowledgeGraph, user_id: str, wrong: list[str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        await graph.use_bookmarks(wrong)
    await graph.use_bookmarks([])
    assert "never" not in await graph.bookmarks()
    await graph.search("Ada", user_id=user_id)
