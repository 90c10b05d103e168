"""While the embedder is being loaded, searches wait for it, and tools say so if it takes too
long.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kgagent import ExploreRequest, FindPathsRequest, GraphQuery, KnowledgeGraph
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import EmbeddingUnavailableError
from kgagent.knowledge_graph import services_of
from tests.conftest import DIMENSIONS
from tests.support.payloads import error_of, succeeded
from tests.support.people import two_friends

STEP = {
    "source_label": "Person",
    "relation_type": "has_relationship_with",
    "target_label": "Person",
}


class Loading(HashingEmbedder):
    """Not ready until it is told so, or until somebody waits for it if it is loaded fast."""

    is_loaded = False
    is_fast = False

    async def ready(self, timeout: float) -> None:
        assert timeout > 0
        self.is_loaded = self.is_loaded or self.is_fast
        if not self.is_loaded:
            raise EmbeddingUnavailableError(
                "The model is still being loaded; try again in a moment"
            )

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        assert self.is_loaded
        return await super().embed_queries(texts)


@pytest.fixture
def loading() -> Loading:
    return Loading(DIMENSIONS)


async def test_searches_say_that_the_model_is_being_loaded(
    opened: KnowledgeGraph, loading: Loading, user_id: str
) -> None:
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, loading, opened.settings)
    tools = graph.tools(user_id=user_id)
    ends = await two_friends(opened.tools(user_id=user_id))
    calls: dict[str, dict[str, Any]] = {
        "explore": {"queries": [{"query": "who rows?"}]},
        "hybrid_search": {"query": "who rows?"},
        "query_patterns": {"query": "who rows?", "patterns": [{"steps": [STEP]}]},
        "find_paths": {**ends, "query": "rows"},
    }
    for name, arguments in calls.items():
        assert (
            error_of(await tools[name](**arguments))
            == "The model is still being loaded; try again in a moment"
        )
    succeeded(await tools.explore(text_matches=["Ada"]))
    succeeded(await tools.find_paths(**ends))
    loading.is_loaded = True
    succeeded(await tools.hybrid_search(**calls["hybrid_search"]))


async def test_direct_searches_wait_for_the_model(
    opened: KnowledgeGraph, loading: Loading, user_id: str
) -> None:
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, loading, opened.settings)
    ends = await two_friends(opened.tools(user_id=user_id))
    without = await graph.search("Ada", user_id=user_id)
    assert without.objects
    [missing] = without.warnings
    assert missing.startswith("Skipped semantic search of statements: ")
    loading.is_fast = True
    assert not (await graph.search("who rows?", user_id=user_id)).warnings
    loading.is_loaded = False
    assert not (await graph.explore("who sails?", user_id=user_id)).warnings
    loading.is_loaded = loading.is_fast = False
    assert not (
        await graph.explore(ExploreRequest(text_matches=("Ada",)), user_id=user_id)
    ).warnings
    loading.is_fast = True
    query = GraphQuery.model_validate({"query": "who rows?", "patterns": [{"steps": [STEP]}]})
    assert not (await graph.query_patterns(query, user_id=user_id)).warnings
    loading.is_loaded = False
    paths = FindPathsRequest(**ends, query="rows")
    assert (await graph.find_paths(paths, user_id=user_id)).paths


async def test_who_waits_for_the_model_does_not_keep_others_from_searching(
    opened: KnowledgeGraph, user_id: str
) -> None:
    loaded = asyncio.Event()

    class Slow(HashingEmbedder):
        async def ready(self, timeout: float) -> None:  # noqa: ARG002
            await loaded.wait()

    settings = opened.settings.model_copy(update={"max_reads": 1})
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, Slow(DIMENSIONS), settings)
    ends = await two_friends(opened.tools(user_id=user_id))
    tools = graph.tools(user_id=user_id)
    waiting = [
        asyncio.create_task(tools.hybrid_search(query="who rows?")),
        asyncio.create_task(tools.find_paths(**ends, query="rows")),
    ]
    await asyncio.sleep(0)
    others = graph.tools(user_id=f"{user_id}-other")
    succeeded(await asyncio.wait_for(others.explore(text_matches=["Ada"]), 60))
    assert not any(task.done() for task in waiting)
    loaded.set()
    for answer in await asyncio.gather(*waiting):
        succeeded(answer)
