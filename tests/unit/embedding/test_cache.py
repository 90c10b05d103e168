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
        self.stored: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        self.failure: Exception | None = None
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.stored.append(list(texts))
        return await super().embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        self.queries.append(list(texts))
        self.asked.set()
        await self.gate.wait()
        if self.failure:
            raise self.failure
        return await super().embed(texts)

    async def aclose(self) -> None:
        self.closed = True


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


async def test_concurrent_callers_share_a_call(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    answers = await asyncio.gather(cache.embed_queries(["a", "b"]), cache.embed_queries(["b", "c"]))
    assert list(answers) == [expected("a", "b"), expected("b", "c")]
    assert embedder.queries == [["a", "b"], ["c"]]


async def test_a_cancelled_caller_does_not_break_the_other(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    calls = [asyncio.create_task(cache.embed_queries(["a"])) for _ in range(2)]
    await embedder.asked.wait()
    calls[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[0]
    embedder.gate.set()
    assert await calls[1] == expected("a")
    assert embedder.queries == [["a"]]


async def test_an_error_reaches_all_waiting_callers_and_is_not_cached(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.failure = EmbeddingUnavailableError("down")
    answers = await asyncio.gather(*(cache.embed_queries(["a"]) for _ in range(2)), return_exceptions=True)
    assert answers == [embedder.failure] * 2
    embedder.failure = None
    assert await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"], ["a"]]


async def test_closing_cancels_pending_requests(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    call = asyncio.create_task(cache.embed_queries(["a"]))
    await embedder.asked.wait()
    await cache.aclose()
    with pytest.raises(EmbeddingUnavailableError, match="closed"):
        await call
    assert embedder.closed


@given(calls=st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12), size=st.integers(1, 4))
async def test_results_equal_those_of_the_embedder_whatever_was_cached(calls: list[list[str]], size: int) -> None:
    cache = QueryCache(_Counted(), size=size)
    answers = await asyncio.gather(*(cache.embed_queries(call) for call in calls))
    assert answers == [expected(*call) for call in calls]


async def test_a_query_that_is_pending_during_an_eviction_is_answered_but_not_cached(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    call = asyncio.create_task(cache.embed_queries(["a"]))
    await embedder.asked.wait()
    cache.evict()
    embedder.gate.set()
    assert await call == expected("a")
    await cache.embed_queries(["a"])
    assert embedder.queries == [["a"], ["a"]]
