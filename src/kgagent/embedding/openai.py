"""Embeddings from OpenAI, or from a server with a compatible API."""

import asyncio
import importlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from kgagent.batches import split_by_size
from kgagent.bounded_map import bounded_map
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_embeddings, validate_texts
from kgagent.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
)
from kgagent.formatting import without_credentials

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types import EmbeddingCreateParams

_log = logging.getLogger(__name__)

TOKENS_PER_INPUT = 8_191
"""Maximum tokens of a text (OpenAI's embeddings guide)."""

# Passed explicitly, because the SDK uses OPENAI_BASE_URL even if it is empty.
_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_MODELS_WITH_DIMENSIONS = "text-embedding-3"

_CONTINUATION_MASK = 0b1100_0000
_CONTINUATION_BYTE = 0b1000_0000

_MAX_REASON_LENGTH = 300
_MAX_WAIT_LENGTH = 40
_TEMPORARY = frozenset({408, 409, 429})
_SERVER_ERRORS = 500


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request (OpenAI's API reference of the embeddings endpoint).

    Attributes:
        inputs: maximum number of texts, from 1.
        tokens: maximum total tokens, at least `TOKENS_PER_INPUT`.
    """

    inputs: int = 2_048
    tokens: int = 300_000


class OpenAIEmbedder(Embedder):
    """Embeds with OpenAI's embeddings endpoint: many texts per request, several concurrent
    requests.

    A text of more than 8,191 UTF-8 bytes is truncated at a character boundary, so that it never
    exceeds the 8,191 tokens that the models accept. The truncation depends only on the text, so its
    embedding never changes.

    The SDK repeats a request after HTTP 408, 409, 429 or 5xx, a failed connection or a timeout,
    after the wait that the server asks for, else after 0.5 s, doubled up to 8 s. Other errors are
    not retried.

    Use it from one event loop only, because the SDK's connections belong to the loop of the first
    call.
    """

    provider: ClassVar[str] = "openai"

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        model: str = "text-embedding-3-small",
        dimensions: int = 1536,
        timeout: float = 30.0,
        attempts: int = 5,
        concurrency: int = 4,
        limits: RequestLimits | None = None,
    ) -> None:
        """Create the embedder; the first call imports the SDK and connects.

        Args:
            api_key: API key; it never appears in errors or in `repr`.
            base_url: address of the API including `/v1`; by default OPENAI_BASE_URL, else OpenAI's
                own address.
            model: OpenAI's name of the model.
            dimensions: length of each embedding; requested from models that can shorten their
                embeddings (`text-embedding-3-…`), and checked in every response.
            timeout: maximum seconds that an attempt of a request waits for the server, above 0.
            attempts: maximum attempts of one request, from 1.
            concurrency: maximum number of concurrent requests of one call, from 1.
            limits: limits of one request; OpenAI's limits by default.

        Raises:
            ConfigurationError: the key or the address is invalid.
        """
        self._api_key = _usable_key(api_key)
        self._base_url = _usable_address(
            base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_BASE_URL
        )
        self._model = model
        self._dimensions = dimensions
        self._timeout = timeout
        self._attempts = attempts
        self._concurrency = concurrency
        self._limits = limits or RequestLimits()
        self._client: AsyncOpenAI | None = None

    @property
    def model(self) -> str:
        """OpenAI's name of the model."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts, as many per request as the limits allow.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            ConfigurationError: the server rejects the key or does not know the model.
            EmbeddingUnavailableError: all attempts failed, or no quota is left.
            EmbeddingResponseError: the server rejected the texts, or its response does not match
                them.
        """
        batches = split_batches(map(_truncated, validate_texts(texts)), self._limits)
        responses = await bounded_map(self._embed_batch, batches, limit=self._concurrency)
        return [embedding for response in responses for embedding in response]

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _embed_batch(self, batch: list[str]) -> list[Embedding]:
        # Without an explicit format, the SDK asks for base64 and decodes it.
        body: EmbeddingCreateParams = {"model": self._model, "input": batch}
        if self._model.startswith(_MODELS_WITH_DIMENSIONS):
            body["dimensions"] = self._dimensions
        client = await self._connected()
        with _translated_errors(model=self._model, secret=self._api_key, timeout=self._timeout):
            response = await client.embeddings.create(**body)
            by_index = {item.index: item.embedding for item in response.data}
            vectors = [by_index[position] for position in range(len(batch))]
        return validate_embeddings(
            vectors, count=len(batch), dimensions=self._dimensions, model=self._model
        )

    async def _connected(self) -> "AsyncOpenAI":
        if self._client is None:
            # The import is slow and would block the event loop.
            openai = await asyncio.to_thread(importlib.import_module, "openai")
            if self._client is None:
                try:
                    self._client = openai.AsyncOpenAI(
                        api_key=self._api_key,
                        base_url=self._base_url,
                        timeout=self._timeout,
                        max_retries=self._attempts - 1,
                    )
                except ImportError as error:
                    # The package for a SOCKS proxy.
                    raise ConfigurationError(f"{self._model} cannot be used: {error}") from error
        return self._client


def max_tokens(text: str) -> int:
    """Upper bound of the tokens of a text, without a tokenizer: its UTF-8 bytes.

    A byte-pair encoding never produces more tokens. English text has about four bytes a token, so
    requests are smaller than they could be.
    """
    return len(text.encode())


def truncate(text: str, *, tokens: int = TOKENS_PER_INPUT) -> str:
    """Return the longest prefix of whole characters that is certain to fit.

    Args:
        text: any text; a text that fits is returned unchanged.
        tokens: maximum number of tokens, at least 4, the bytes of the longest character.
    """
    encoded = text.encode()
    if len(encoded) <= tokens:
        return text
    end = tokens
    while encoded[end] & _CONTINUATION_MASK == _CONTINUATION_BYTE:
        end -= 1
    return encoded[:end].decode()


def split_batches(texts: Iterable[str], limits: RequestLimits) -> Iterator[list[str]]:
    """Group texts into requests as large as the limits allow, in order; each text must fit by
    itself.
    """
    return split_by_size(texts, max_tokens, max_size=limits.tokens, max_items=limits.inputs)


def _truncated(text: str) -> str:
    truncated = truncate(text)
    if len(truncated) < len(text):
        _log.info(
            "Truncated a text of %d characters to %d (%d bytes)",
            len(text),
            len(truncated),
            TOKENS_PER_INPUT,
        )
    return truncated


def _usable_key(api_key: str) -> str:
    key = api_key.strip()
    if not key:
        raise ConfigurationError(
            "The OpenAI API key is empty; set OPENAI_API_KEY or KGAGENT_EMBEDDER=local"
        )
    if not key.isascii():
        raise ConfigurationError(
            "OPENAI_API_KEY contains characters that are not allowed in a key; copy the key again"
        )
    return key


def _usable_address(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(
            f"OPENAI_BASE_URL must be an http or https address, got {without_credentials(base_url)}"
        )
    return base_url


@contextmanager
def _translated_errors(*, model: str, secret: str, timeout: float) -> Iterator[None]:
    """Translate exceptions of the SDK that are raised inside the block.

    Args:
        model: name of the model, for the message.
        secret: the API key, which is removed from the message if the server repeats it.
        timeout: seconds, for the message.
    """
    import openai

    try:
        yield
    except openai.APITimeoutError as error:
        raise EmbeddingUnavailableError(f"{model} did not respond within {timeout:g} s") from error
    except openai.APIConnectionError as error:
        reason = type(error.__cause__ or error).__name__
        raise EmbeddingUnavailableError(f"{model} could not be reached ({reason})") from error
    except openai.APIStatusError as error:
        # The cause would expose the headers of the request and the unfiltered message of the
        # server.
        raise _of_status(error, model, secret) from None
    except (openai.APIError, ValueError, TypeError, AttributeError, KeyError) as error:
        # The SDK does not check that a response has the form that it decodes.
        raise EmbeddingResponseError(f"{model} returned an invalid response") from error


def _of_status(
    error: "APIStatusError", model: str, secret: str
) -> ConfigurationError | EmbeddingError:
    status = error.status_code
    if status in {401, 403}:
        return ConfigurationError(
            f"The API key was rejected for {model} (HTTP {status}); check OPENAI_API_KEY, "
            f"OPENAI_BASE_URL "
            "and the key's permissions"
        )
    if status == 404:  # noqa: PLR2004
        return ConfigurationError(
            f"The server does not know {model} (HTTP 404); check KGAGENT_EMBEDDING_MODEL and "
            f"OPENAI_BASE_URL"
        )
    if "insufficient_quota" in {error.code, error.type}:
        return EmbeddingUnavailableError(
            f"The OpenAI account has no quota left for {model}; add credit or another key"
        )
    if status in _TEMPORARY or status >= _SERVER_ERRORS:
        wait = error.response.headers.get("retry-after")
        asked = f" and asks to wait (Retry-After: {wait[:_MAX_WAIT_LENGTH]})" if wait else ""
        return EmbeddingUnavailableError(f"{model} returned HTTP {status}{asked}")
    message = error.body.get("message") if isinstance(error.body, dict) else None
    reason = str(message or "no reason given").replace(secret, "[API key]")[:_MAX_REASON_LENGTH]
    return EmbeddingResponseError(f"{model} rejected the request (HTTP {status}): {reason}")
