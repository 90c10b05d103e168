"""Searches and tools that read run up to a limit at once; beyond it, they wait or are refused."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from kgagent import (
    BusyError,
    FindPathsRequest,
    GraphQuery,
    KnowledgeGraph,
    Settings,
    TraverseRequest,
)
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from tests.conftest import DIMENSIONS
from tests.support.payloads import error_of, succeeded

ONE_PERSON = {"targets": [{"description": "Ada"}]}


@pytest.fixture
async def narrow(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph that answers one call at a time."""
    limits = {"max_reads": 1, "max_reads_per_user": 1, "longest_wait": 60.0}
    changed = settings.model_copy(update=limits)
    async with KnowledgeGraph.connect(
        settings=changed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        yield graph


async def test_calls_that_search_several_times_need_one_place_and_all_are_answered(
    narrow: KnowledgeGraph, user_id: str
) -> None:
    tools = narrow.tools(user_id=user_id)
    queries = [{"query": text} for text in ("mentors", "friends", "sailing")]
    answers = await asyncio.gather(
        *(tools.explore(queries=queries, text_matches=["Ada"]) for _ in range(8))
    )
    assert [succeeded(answer)["success"] for answer in answers] == [True] * 8


async def test_a_call_that_finds_no_place_says_when_to_try_again_and_writes_go_on(
    settings: Settings, user_id: str
) -> None:
    limits = {"max_reads": 1, "max_reads_per_user": 1, "longest_wait": 0.3}
    changed = settings.model_copy(update=limits)
    async with KnowledgeGraph.connect(
        settings=changed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        tools = graph.tools(user_id=user_id)
        async with services_of(graph).admission.admitted("somebody else"):
            assert error_of(await tools.describe_graph()).startswith(
                "The graph is busy: 1 running and 0 waiting calls. Try"
            )
            succeeded(await tools.remember(nodes=[{"label": "Concept", "name": "Sailing"}]))
        succeeded(await tools.describe_graph())


async def test_searches_without_tools_wait_for_their_turn_too(
    settings: Settings, user_id: str
) -> None:
    limits = {"max_reads": 1, "max_reads_per_user": 1, "longest_wait": 0.3}
    changed = settings.model_copy(update=limits)
    async with KnowledgeGraph.connect(
        settings=changed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        key = succeeded(await graph.tools(user_id=user_id).create_node(label="Person", name="Ada"))[
            "entity_key"
        ]
        searches: list[Callable[[], Awaitable[object]]] = [
            lambda: graph.search("Ada", user_id=user_id),
            lambda: graph.explore("Ada", user_id=user_id),
            lambda: graph.traverse(TraverseRequest(entity_key=key), user_id=user_id),
            lambda: graph.find_paths(
                FindPathsRequest(from_entity_key=key, to_entity_key="unknown"), user_id=user_id
            ),
            lambda: graph.query_patterns(GraphQuery.model_validate(ONE_PERSON), user_id=user_id),
        ]
        async with services_of(graph).admission.admitted("somebody else"):
            refused = await asyncio.gather(
                *(search() for search in searches), return_exceptions=True
            )
        assert [type(error) for error in refused] == [BusyError] * len(searches)
        for search in searches[:3]:
            await search()
