"""What was written is found by the very next search, by every way of searching and through every
kind of address.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest
from neo4j import AsyncGraphDatabase

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.models.hybrid import HybridSearchRequest
from tests.conftest import DIMENSIONS, Server
from tests.support.payloads import succeeded
from tests.support.people import person, relate


@pytest.fixture(params=["bolt", "neo4j"])
async def addressed(
    request: pytest.FixtureRequest, settings: Settings
) -> AsyncIterator[KnowledgeGraph]:
    """The graph through an address of either kind, every search from the indexes."""
    uri = f"{request.param}://{(settings.neo4j_uri or '').partition('://')[2]}"
    indexed = settings.model_copy(update={"neo4j_uri": uri, "exact_scan_limit": 0})
    async with KnowledgeGraph.connect(
        settings=indexed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        yield graph


async def test_a_write_is_found_by_the_next_search(addressed: KnowledgeGraph, user_id: str) -> None:
    tools, retrieval = addressed.tools(user_id=user_id), addressed.retrieval
    first = await person(tools, "Ada")
    for number in range(2):
        other = await person(tools, f"Friend {number}")
        await relate(tools, first, other, f"kind{number}", description=f"word{number}")
        [near, *_] = await retrieval.relationship_vector_search(
            f"word{number} kind{number}", 0.5, user_id=user_id
        )
        assert near.to_entity_key == other
        found = await retrieval.hybrid_search(
            HybridSearchRequest(query=f"word{number}", threshold=0.2), user_id=user_id
        )
        assert found.relationships is not None
        assert found.relationships[0].found_by == ("statement_vector", "statement_fulltext")
        succeeded(
            await tools.update_relationship(
                from_entity_key=first, to_entity_key=other, description=f"news{number}"
            )
        )
        gone = HybridSearchRequest(query=f"word{number}", threshold=0.9)
        found = await retrieval.hybrid_search(gone, user_id=user_id)
        assert f"word{number}" not in {one.description for one in found.items}
        alone = HybridSearchRequest(query=f"news{number}", threshold=0.9, expand_hops=0)
        [news] = (await retrieval.hybrid_search(alone, user_id=user_id)).relationships or ()
        assert news.description == f"news{number}"


async def test_all_statements_of_a_connection_share_their_bookmarks(
    server: Server, addressed: KnowledgeGraph, user_id: str
) -> None:
    login = AsyncGraphDatabase.driver(
        str(addressed.settings.neo4j_uri), auth=(server.username, server.password)
    )
    async with (
        login as driver,
        KnowledgeGraph.connect(driver=driver, embedder=HashingEmbedder(DIMENSIONS)) as graph,
    ):
        bookmarks, store = driver.execute_query_bookmark_manager, services_of(graph).store
        text, values = (
            "MATCH (n:Person|Concept {user_id: $user}) RETURN n.name AS name",
            {"user": user_id},
        )

        async def stream() -> list[dict[str, object]]:
            async with store.stream(text, values) as rows:
                return [row async for row in rows]

        before = await bookmarks.get_bookmarks()
        readings: Sequence[Callable[[], Awaitable[object]]] = (
            lambda: store.read(text, values),
            stream,
            lambda: store.run_schema("RETURN 1"),
        )
        for number, reading in enumerate(readings):
            await person(addressed.tools(user_id=user_id), f"Person {number}")
            await reading()
            after = await bookmarks.get_bookmarks()
            assert after != before
            before = after
        await person(graph.tools(user_id=user_id), "Ada")
        assert await bookmarks.get_bookmarks() != before
