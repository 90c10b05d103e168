import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.base import Embedding
from kgagent.embedding.cache import QueryCache
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.errors import EmbeddingUnavailableError

LENGTH = 8


class _Counted(HashingEmbedder):
    """Records its calls; each waits for the gate, and fails on request."""

    def __init__(self) -> None:
        super().__init__(LENGTH)
        self.queries: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        self.failure: Exception | None = None

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        self.queries.append(list(texts))
        self.asked.set()
        await self.gate.wait()
        if self.failure:
            raise self.failure
        return await super().embed(texts)


@pytest.fixture
def embedder() -> _Counted:
    return _Counted()


def expected(*texts: str) -> list[Embedding]:
    return [hash_embedding(text, LENGTH) for text in texts]


async def test_a_cached_query_makes_no_call(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    assert await cache.embed_queries(["a"]) == await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"]]


async def test_uncached_queries_are_embedded_in_one_request(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    await cache.embed_queries(["b"])
    assert await cache.embed_queries(["a", "b", "c", "a"]) == expected("a", "b", "c", "a")
    assert embedder.queries == [["b"], ["a", "c"]]


async def test_the_least_recently_used_query_is_evicted(embedder: _Counted) -> None:
    cache = QueryCache(embedder, size=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        await cache.embed_queries([text])
    assert embedder.queries == [["a"], ["b"], ["c"], ["b"]]


async def test_an_error_is_not_cached(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.failure = EmbeddingUnavailableError("down")
    with pytest.raises(EmbeddingUnavailableError, match="down"):
        await cache.embed_queries(["a"])
    embedder.failure = None
    assert await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"], ["a"]]


@given(
    calls=st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12),
    size=st.integers(1, 4),
)
async def test_results_equal_those_of_the_embedder_whatever_was_cached(
    calls: list[list[str]], size: int
) -> None:
    cache = QueryCache(_Counted(), size=size)
    answers = await asyncio.gather(*(cache.embed_queries(call) for call in calls))
    assert answers == [expected(*call) for call in calls]


async def test_a_query_that_is_pending_during_an_eviction_is_answered_but_not_cached(
    embedder: _Counted,
) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    call = asyncio.create_task(cache.embed_queries(["a"]))
    await embedder.asked.wait()
    cache.evict()
    embedder.gate.set()
    assert await call == expected("a")
    await cache.embed_queries(["a"])
    assert embedder.queries == [["a"], ["a"]]
