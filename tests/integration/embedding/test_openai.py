"""The OpenAI embedder: the real SDK against a real HTTP server."""

import asyncio
import socket

import pytest

from kgagent.embedding.hashing import hash_embedding
from kgagent.embedding.openai import RequestLimits
from kgagent.errors import (
    ConfigurationError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
    KgAgentError,
)
from tests.integration.embedding.conftest import MakeEmbedder
from tests.support.openai_server import (
    API_KEY,
    Fault,
    OpenAIServer,
    altered,
    cut_off,
    dropped,
    held,
    raw,
    status,
    together,
    with_vector,
)

LENGTH = 64


async def test_embeddings_come_in_the_order_of_the_texts(make: MakeEmbedder) -> None:
    texts = [f"relationship number {n}" for n in range(5)]
    assert await make().embed(texts) == [hash_embedding(text, LENGTH) for text in texts]


async def test_a_request_asks_for_base64_and_for_the_dimensions(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    await make().embed(["mentor"])
    (request,) = server.requests
    assert (request.encoding_format, request.dimensions) == ("base64", LENGTH)


async def test_a_model_of_one_length_is_not_asked_for_dimensions(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    (embedding,) = await make(model="text-embedding-ada-002", dimensions=1536).embed(["mentor"])
    assert len(embedding) == 1536
    assert server.requests[0].dimensions is None


async def test_responses_out_of_order_are_sorted(make: MakeEmbedder, server: OpenAIServer) -> None:
    server.fail_next(altered(lambda items: items[::-1]))
    assert await make().embed(["a", "b", "c"]) == [hash_embedding(text, LENGTH) for text in "abc"]


async def test_many_texts_are_split_into_concurrent_requests(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    texts = [f"text {n}" for n in range(16)]
    server.fail_next(together(4), times=8)
    embedder = make(limits=RequestLimits(inputs=2), concurrency=4)
    assert await embedder.embed(texts) == [hash_embedding(text, LENGTH) for text in texts]
    assert [len(request.inputs) for request in server.requests] == [2] * 8
    assert server.most_at_once == 4


async def test_a_long_text_is_truncated_and_embeds_the_same_among_others(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    embedder = make()
    long = "é" * 10_000
    (alone,) = await embedder.embed([long])
    assert (await embedder.embed(["mentor", long]))[1] == alone
    assert server.inputs[0] == "é" * 4095


@pytest.mark.parametrize(
    "fault",
    [status(429), dropped, cut_off],
    ids=["429", "dropped", "cut_off"],
)
async def test_a_transient_error_is_retried(
    make: MakeEmbedder, server: OpenAIServer, fault: Fault
) -> None:
    server.fail_next(fault, times=2)
    assert await make().embed(["mentor"]) == [hash_embedding("mentor", LENGTH)]
    assert len(server.requests) == 3


async def test_lasting_failures_end_after_the_attempts(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    server.fail_next(status(503), times=2)
    with pytest.raises(EmbeddingUnavailableError, match="returned HTTP 503"):
        await make(attempts=2).embed(["mentor"])
    assert len(server.requests) == 2
    server.fail_next(held)
    with pytest.raises(EmbeddingUnavailableError, match=r"did not respond within 0\.2 s"):
        await make(timeout=0.2, attempts=1).embed(["mentor"])


async def test_an_unreachable_server_is_unavailable(make: MakeEmbedder) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        embedder = make(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1", attempts=2)
        with pytest.raises(EmbeddingUnavailableError, match=r"could not be reached \(.*\)"):
            await embedder.embed(["mentor"])


async def test_too_long_a_wait_is_an_error_at_once(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    server.fail_next(status(429, headers={"Retry-After": "3600"}))
    with pytest.raises(
        EmbeddingUnavailableError, match=r"HTTP 429 and asks to wait \(Retry-After: 3600\)"
    ):
        await make().embed(["mentor"])
    assert len(server.requests) == 1


async def test_an_exhausted_quota_is_said(make: MakeEmbedder, server: OpenAIServer) -> None:
    server.fail_next(status(429, error_code="insufficient_quota"), times=2)
    with pytest.raises(EmbeddingUnavailableError, match="no quota left"):
        await make(attempts=2).embed(["mentor"])


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        (400, EmbeddingResponseError, r"rejected the request \(HTTP 400\): the reason"),
        (401, ConfigurationError, "API key was rejected"),
        (404, ConfigurationError, "does not know text-embedding-3-small"),
    ],
)
async def test_a_rejected_request_is_not_retried(
    make: MakeEmbedder, server: OpenAIServer, code: int, error: type[KgAgentError], text: str
) -> None:
    server.fail_next(status(code, message="the reason"))
    with pytest.raises(error, match=text):
        await make().embed(["mentor"])
    assert len(server.requests) == 1


async def test_a_wrong_key_never_shows(make: MakeEmbedder) -> None:
    secret = "sk-secret-1234"
    embedder = make(api_key=secret)
    with pytest.raises(ConfigurationError) as caught:
        await embedder.embed(["mentor"])
    assert secret not in str(caught.value)
    assert secret not in repr(embedder)


async def test_a_key_that_the_server_repeats_never_shows(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    server.fail_next(status(400, message=f"bad request with {API_KEY}"))
    with pytest.raises(EmbeddingResponseError) as caught:
        await make().embed(["mentor"])
    assert API_KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (altered(lambda items: items[:-1]), "an invalid response"),
        (altered(lambda items: [items[0], items[0]]), "an invalid response"),
        (altered(lambda items: [items[0], {"index": 1}]), "not a list of numbers"),
        (
            altered(lambda items: [items[0], items[1] | {"embedding": ["x"]}]),
            "not a list of numbers",
        ),
        (with_vector([0.5] * (LENGTH - 1)), f"length {LENGTH - 1}, expected {LENGTH}"),
        (raw("{not json"), "an invalid response"),
        (raw("{}"), "an invalid response"),
        (raw("<html>", content_type="text/html"), "an invalid response"),
    ],
)
async def test_an_invalid_response_is_an_error(
    make: MakeEmbedder, server: OpenAIServer, fault: Fault, text: str
) -> None:
    server.fail_next(fault)
    with pytest.raises(EmbeddingResponseError, match=text):
        await make().embed(["mentor", "friend"])
    assert len(server.requests) == 1


async def test_a_cancelled_call_leaves_the_embedder_usable(
    make: MakeEmbedder, server: OpenAIServer
) -> None:
    embedder = make()
    server.fail_next(held)
    call = asyncio.create_task(embedder.embed(["mentor"]))
    await asyncio.to_thread(server.wait_for, 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await embedder.embed(["mentor"]) == [hash_embedding("mentor", LENGTH)]


@pytest.mark.parametrize("key", ["", "sk-é"])
def test_an_invalid_key_is_rejected(make: MakeEmbedder, key: str) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        make(api_key=key)
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize("address", [None, ""])
async def test_the_default_address_is_that_of_the_environment(
    make: MakeEmbedder, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    await make(base_url=address).embed(["mentor"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("address", ["localhost:1234/v1", "http://host:port/v1"])
def test_an_invalid_address_is_rejected(make: MakeEmbedder, address: str) -> None:
    with pytest.raises(
        ConfigurationError, match="OPENAI_BASE_URL must be an http or https address"
    ):
        make(base_url=address)
