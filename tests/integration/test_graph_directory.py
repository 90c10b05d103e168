"""Users whose graphs are in several places, each opened when it is first needed."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from kgagent import Connecting, GraphDirectory, InputError, KnowledgeGraph, Settings, StoreError
from kgagent.adapters.mcp import AccessTokens, HttpOptions, http_server
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS, Server
from tests.support.mcp_clients import call, over_http
from tests.support.payloads import succeeded
from tests.support.proxy import Proxy, proxy_to


@dataclass(frozen=True)
class Places:
    """Two addresses of Neo4j, and who is where.

    Attributes:
        proxies: the address of each place.
        place_of: the place of each user.
        opened: places in the order in which they were opened.
    """

    proxies: Mapping[str, Proxy]
    place_of: Mapping[str, str]
    opened: list[str]


def user() -> str:
    return f"user-{uuid.uuid4()}"


@pytest.fixture
async def places(server: Server) -> AsyncIterator[Places]:
    async with AsyncExitStack() as stack:
        proxies = {
            place: await stack.enter_async_context(proxy_to(server.uri))
            for place in ("north", "south")
        }
        yield Places(
            proxies, {user(): "north", user(): "north", user(): "south", user(): "nowhere"}, []
        )


@pytest.fixture
async def directory(places: Places, settings: Settings) -> AsyncIterator[GraphDirectory]:
    async def connect(place: str) -> KnowledgeGraph:
        places.opened.append(place)
        uri = places.proxies[place].uri if place in places.proxies else "bolt://127.0.0.1:1"
        near = settings.model_copy(update={"neo4j_uri": uri})
        return await KnowledgeGraph.connect(
            settings=near, embedder=HashingEmbedder(DIMENSIONS), ensure_schema=False
        )

    async with GraphDirectory(places.place_of.__getitem__, connect) as opened:
        yield opened


async def test_each_user_gets_the_graph_of_their_place_which_is_opened_once(
    directory: GraphDirectory, places: Places
) -> None:
    first, second, third, _ = places.place_of
    assert places.opened == []
    one, other, south = await asyncio.gather(*map(directory.graph_of, (first, second, third)))
    assert one is other is await directory.graph_of(first)
    assert one is not south
    assert sorted(places.opened) == ["north", "south"]
    for proxy in places.proxies.values():
        proxy.requests.clear()
    succeeded(await one.tools(user_id=first).create_node(label="Concept", name="Rowing"))
    assert b"Rowing" in places.proxies["north"].requests
    assert bytes(places.proxies["south"].requests) == b""


async def test_a_user_without_a_place_and_a_place_that_is_away_are_errors_of_their_own(
    directory: GraphDirectory, places: Places
) -> None:
    *_, lost = places.place_of
    with pytest.raises(InputError, match="There is no graph for user 'stranger'"):
        await directory.graph_of("stranger")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"bolt://127\.0\.0\.1:1 cannot be used"):
            await directory.graph_of(lost)
    assert places.opened == ["nowhere", "nowhere"]


async def test_a_caller_that_is_cancelled_does_not_cancel_another(
    directory: GraphDirectory, places: Places
) -> None:
    first, second, *_ = places.place_of
    tasks = [asyncio.create_task(directory.graph_of(each)) for each in (first, second)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    assert isinstance(await tasks[1], KnowledgeGraph)
    assert tasks[0].cancelled()
    assert places.opened == ["north"]


async def test_closing_closes_all_graphs_and_the_place_may_be_found_asynchronously(
    places: Places, settings: Settings
) -> None:
    async def place_of(user_id: str) -> str:
        return places.place_of[user_id]

    def connect(place: str) -> Connecting:
        near = settings.model_copy(update={"neo4j_uri": places.proxies[place].uri})
        return KnowledgeGraph.connect(
            settings=near, embedder=HashingEmbedder(DIMENSIONS), ensure_schema=False
        )

    directory = GraphDirectory(place_of, connect)
    first, _, third, _ = places.place_of
    graphs = [await directory.graph_of(each) for each in (first, third)]
    await directory.close()
    await directory.close()
    for graph in graphs:
        with pytest.raises(StoreError, match=r"(?i)closed"):
            await graph.live_schema(user_id=first, refresh=True)
    with pytest.raises(StoreError, match="The graphs are closed"):
        await directory.graph_of(first)


async def test_the_mcp_server_serves_each_user_from_their_place(
    directory: GraphDirectory, places: Places, graph: KnowledgeGraph
) -> None:
    tokens = {each: uuid.uuid4().hex * 2 for each in (*places.place_of, "stranger")}
    options = HttpOptions(
        tokens=AccessTokens({SecretStr(token): each for each, token in tokens.items()}),
        graph_of=directory.graph_of,
        toolsets="all",
        structured=True,
    )
    _, _, southern, lost = places.place_of
    async with http_server(graph, options) as running:
        async with over_http(running.url, token=tokens[southern]) as client:
            succeeded(await call(client, "create_node", label="Concept", name="Rowing"))
            [_] = succeeded(await call(client, "explore", text_matches=["Rowing"]))["nodes"]
        assert b"Rowing" in places.proxies["south"].requests
        async with over_http(running.url, token=tokens["stranger"]) as client:
            refused = await call(client, "create_node", label="Concept", name="Rowing")
            assert refused == {"success": False, "error": "There is no graph for user 'stranger'"}
        async with over_http(running.url, token=tokens[lost]) as client:
            assert "cannot be used" in (await call(client, "describe_graph"))["error"]
    assert places.opened == ["south", "nowhere"]
