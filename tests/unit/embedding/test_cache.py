import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.base import Embedding
from kgagent.embedding.cache import QueryCache
from kgagent.embedding.hashing import HashingEmbedder, hashed
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError, InputError

LENGTH = 8


class _Counted(HashingEmbedder):
    """Notes its calls; each waits for the gate, and fails while told to."""

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
    return [hashed(text, LENGTH) for text in texts]


async def test_a_query_asked_before_makes_no_call(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    assert await cache.embed_queries(["a"]) == await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"]]


async def test_what_a_call_lacks_is_asked_in_one_request(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    await cache.embed_queries(["b"])
    assert await cache.embed_queries(["a", "b", "c", "a"]) == expected("a", "b", "c", "a")
    assert embedder.queries == [["b"], ["a", "c"]]


async def test_stored_texts_pass_through(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    await cache.embed(["a"])
    await cache.embed(["a"])
    assert embedder.stored == [["a"], ["a"]]


async def test_no_texts_make_no_call(embedder: _Counted) -> None:
    assert await QueryCache(embedder).embed_queries([]) == []
    assert embedder.queries == []


async def test_the_query_unused_for_longest_makes_room(embedder: _Counted) -> None:
    cache = QueryCache(embedder, size=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        await cache.embed_queries([text])
    assert embedder.queries == [["a"], ["b"], ["c"], ["b"]]


async def test_more_queries_than_there_is_room_for_are_answered(embedder: _Counted) -> None:
    assert await QueryCache(embedder, size=1).embed_queries(["a", "b", "c"]) == expected("a", "b", "c")


async def test_callers_at_the_same_time_share_a_call(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    answers = await asyncio.gather(cache.embed_queries(["a", "b"]), cache.embed_queries(["b", "c"]))
    assert list(answers) == [expected("a", "b"), expected("b", "c")]
    assert embedder.queries == [["a", "b"], ["c"]]


@pytest.mark.parametrize("cancelled", [0, 1])
async def test_a_cancelled_caller_does_not_break_the_other(embedder: _Counted, cancelled: int) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    calls = [asyncio.create_task(cache.embed_queries(["a"])) for _ in range(2)]
    await embedder.asked.wait()
    calls[cancelled].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[cancelled]
    embedder.gate.set()
    assert await calls[1 - cancelled] == expected("a")
    assert embedder.queries == [["a"]]


async def test_a_call_that_all_gave_up_is_kept_all_the_same(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    call = asyncio.create_task(cache.embed_queries(["a"]))
    await embedder.asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    embedder.gate.set()
    assert await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"]]


async def test_an_error_reaches_all_who_wait_and_is_not_kept(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.failure = EmbeddingUnavailableError("down")
    answers = await asyncio.gather(*(cache.embed_queries(["a"]) for _ in range(2)), return_exceptions=True)
    assert answers == [embedder.failure] * 2
    embedder.failure = None
    assert await cache.embed_queries(["a"]) == expected("a")
    assert embedder.queries == [["a"], ["a"]]


async def test_an_error_leaves_what_is_kept(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    await cache.embed_queries(["a"])
    embedder.failure = EmbeddingUnavailableError("down")
    with pytest.raises(EmbeddingUnavailableError):
        await cache.embed_queries(["a", "b"])
    assert await cache.embed_queries(["a"]) == expected("a")


async def test_changing_an_answer_changes_nothing_kept(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    (first,) = await cache.embed_queries(["a"])
    first[0] = 9.0
    assert await cache.embed_queries(["a"]) == expected("a")


async def test_closing_gives_up_what_is_under_way(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    embedder.gate.clear()
    call = asyncio.create_task(cache.embed_queries(["a"]))
    await embedder.asked.wait()
    await cache.aclose()
    with pytest.raises(EmbeddingUnavailableError, match="closed"):
        await call
    assert embedder.closed


async def test_an_empty_query_is_an_error(embedder: _Counted) -> None:
    with pytest.raises(InputError):
        await QueryCache(embedder).embed_queries([" "])


def test_it_says_what_it_wraps(embedder: _Counted) -> None:
    cache = QueryCache(embedder)
    assert str(cache) == str(embedder)
    assert (cache.model, cache.dimensions) == (embedder.model, embedder.dimensions)


def test_no_room_at_all_is_an_error(embedder: _Counted) -> None:
    with pytest.raises(ConfigurationError, match="got 0"):
        QueryCache(embedder, size=0)


@given(calls=st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12), size=st.integers(1, 4))
async def test_answers_are_those_of_the_embedder_whatever_was_asked_before(calls: list[list[str]], size: int) -> None:
    cache = QueryCache(_Counted(), size=size)
    answers = await asyncio.gather(*(cache.embed_queries(call) for call in calls))
    assert answers == [expected(*call) for call in calls]
