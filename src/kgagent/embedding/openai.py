"""Embeddings from OpenAI, or from a server with a compatible API."""

import asyncio
import base64
import binascii
import importlib
import logging
import os
import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from kgagent.bounded_map import bounded_map
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.batching import TOKENS_PER_INPUT, RequestLimits, split_batches, truncate
from kgagent.embedding.openai_errors import translate_errors
from kgagent.embedding.validation import validate_embeddings, validate_texts
from kgagent.errors import ConfigurationError, EmbeddingResponseError
from kgagent.formatting import without_credentials

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CreateEmbeddingResponse, EmbeddingCreateParams

_log = logging.getLogger(__name__)

# Passed explicitly, because the SDK uses OPENAI_BASE_URL even if it is empty.
_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_MODELS_WITH_DIMENSIONS = "text-embedding-3"


class OpenAIEmbedder(Embedder):
    """Embeds with OpenAI's embeddings endpoint: many texts per request, several concurrent requests.

    A text of more than 8,191 UTF-8 bytes is truncated at a character boundary, so that it never exceeds the
    8,191 tokens that the models accept. The truncation depends only on the text, so its embedding never changes.

    The SDK repeats a request after HTTP 408, 409, 429 or 5xx, a failed connection or a timeout, after the wait that
    the server asks for, else after 0.5 s, doubled up to 8 s. Other errors are not retried.

    Use it from one event loop only, because the SDK's connections belong to the loop of the first call.
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
            base_url: address of the API including `/v1`; by default OPENAI_BASE_URL, else OpenAI's own address.
            model: OpenAI's name of the model.
            dimensions: length of each embedding; requested from models that can shorten their embeddings
                (`text-embedding-3-…`), and checked in every response.
            timeout: maximum seconds that an attempt of a request waits for the server, above 0.
            attempts: maximum attempts of one request, from 1.
            concurrency: maximum number of concurrent requests of one call, from 1.
            limits: limits of one request; OpenAI's limits by default.

        Raises:
            ConfigurationError: the key or the address is invalid.
        """
        self._api_key = _usable_key(api_key)
        self._base_url = _usable_address(base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_BASE_URL)
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
            EmbeddingResponseError: the server rejected the texts, or its response does not match them.
        """
        truncated = [self._truncate(text) for text in validate_texts(texts)]
        responses = await bounded_map(
            self._embed_batch, split_batches(truncated, self._limits), limit=self._concurrency
        )
        return [embedding for response in responses for embedding in response]

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _truncate(self, text: str) -> str:
        truncated = truncate(text)
        if len(truncated) < len(text):
            _log.info("Truncated a text of %d characters to %d (%d bytes)", len(text), len(truncated), TOKENS_PER_INPUT)
        return truncated

    async def _embed_batch(self, batch: list[str]) -> list[Embedding]:
        response = await self._request(batch)
        return validate_embeddings(
            _vectors(response, count=len(batch), model=self._model),
            count=len(batch),
            dimensions=self._dimensions,
            model=self._model,
        )

    async def _request(self, texts: list[str]) -> "CreateEmbeddingResponse":
        # With an explicit format the SDK returns base64 unchanged; by default it decodes it to lists.
        body: EmbeddingCreateParams = {"model": self._model, "input": texts, "encoding_format": "base64"}
        if self._model.startswith(_MODELS_WITH_DIMENSIONS):
            body["dimensions"] = self._dimensions
        client = await self._connected()
        with translate_errors(model=self._model, secret=self._api_key, timeout=self._timeout):
            return await client.embeddings.create(**body)

    async def _connected(self) -> "AsyncOpenAI":
        if self._client is None:
            # The import is slow and would block the event loop.
            openai = await asyncio.to_thread(importlib.import_module, "openai")
            if self._client is None:
                self._client = openai.AsyncOpenAI(
                    api_key=self._api_key,
                    base_url=self._base_url,
                    timeout=self._timeout,
                    max_retries=self._attempts - 1,
                )
        return self._client


def _usable_key(api_key: str) -> str:
    key = api_key.strip()
    if not key:
        raise ConfigurationError("The OpenAI API key is empty; set OPENAI_API_KEY or KGAGENT_EMBEDDER=local")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError("OPENAI_API_KEY contains characters that are not allowed in a key; copy the key again")
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


def _vectors(response: "CreateEmbeddingResponse", *, count: int, model: str) -> list[Sequence[float]]:
    """Extract the vectors of a response, in the order of the texts."""
    items = getattr(response, "data", None)
    if not isinstance(items, list):
        raise EmbeddingResponseError(f"{model} returned something that is not a list of embeddings")
    if len(items) != count:
        raise EmbeddingResponseError(f"{model} returned {len(items)} embeddings for {count} texts")
    by_index = {getattr(item, "index", None): getattr(item, "embedding", None) for item in items}
    if by_index.keys() != set(range(count)):
        raise EmbeddingResponseError(f"{model} returned embeddings that are not numbered 0 to {count - 1}")
    return [_decode_vector(by_index[position], model) for position in range(count)]


def _decode_vector(vector: object, model: str) -> Sequence[float]:
    """Decode one vector: base64 of little-endian float32, or numbers from servers without base64 support.

    Raises:
        EmbeddingResponseError: it is neither.
    """
    if isinstance(vector, list):
        return vector
    try:
        embedding = array("f", base64.b64decode(str(vector), validate=True))
    except (binascii.Error, ValueError):
        raise EmbeddingResponseError(f"{model} returned an embedding that is neither numbers nor base64") from None
    if sys.byteorder == "big":
        embedding.byteswap()
    return embedding
