"""Embeddings from OpenAI, or from a server that speaks its protocol."""

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

from kgagent.concurrency import bounded_map
from kgagent.embedding.base import Embedder, Embedding, checked, require_texts
from kgagent.embedding.batching import TOKENS_PER_INPUT, RequestLimits, batches, cut_to_fit
from kgagent.embedding.openai_errors import translated
from kgagent.embedding.retrying import Sleep, with_retries
from kgagent.errors import ConfigurationError, EmbeddingResponseError

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CreateEmbeddingResponse

_log = logging.getLogger(__name__)

# Given by name, as the SDK takes an OPENAI_BASE_URL that is set but empty for an address.
_OPENAI = "https://api.openai.com/v1"
_DIMENSIONS_CAN_BE_ASKED_FOR = "text-embedding-3"


class OpenAIEmbedder(Embedder):
    """Asks OpenAI's embeddings endpoint, many texts in a request and several requests side by side.

    A text of more than 8,191 UTF-8 bytes is cut there, on a character's boundary: that much surely holds no
    more than the 8,191 tokens that the models take. The cut depends on the text alone, so a text embeds the
    same each time.

    A request is tried again after 408, 429, 5xx, a connection that failed and a time-out, waiting as long as
    the server asks; never after another refusal, nor once the account's quota is used up.

    It belongs to the event loop of its first call, as the SDK's connections do.
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
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Prepare; nothing is imported or sent before the first texts come.

        Args:
            api_key: OpenAI's key; never in an error nor in `repr`.
            base_url: where the API is, `/v1` included; where it is not given, OPENAI_BASE_URL, else OpenAI's own.
            model: OpenAI's name of the model.
            dimensions: length of each embedding; asked for where the model can shorten its embeddings
                (`text-embedding-3-…`), checked in the answer of every model.
            timeout: seconds that one try of one request may take, above 0.
            attempts: tries of one request, the first included, from 1.
            concurrency: requests of one call under way at once, from 1.
            limits: what one request may carry; OpenAI's own limits by default.
            sleep: waits the given seconds between tries; tests replace it.

        Raises:
            ConfigurationError: the key or the address cannot be one.
        """
        self._api_key = _usable_key(api_key)
        self._base_url = _usable_address(base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI)
        self._model = model
        self._dimensions = dimensions
        self._timeout = timeout
        self._attempts = attempts
        self._concurrency = concurrency
        self._limits = limits or RequestLimits()
        self._sleep = sleep
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
        """Embed texts, as many in a request as the limits allow.

        Raises:
            InputError: a text is empty or not UTF-8.
            ConfigurationError: the key is refused or the model unknown.
            EmbeddingUnavailableError: the server could not be reached, the tries used up, or no quota left.
            EmbeddingResponseError: the server refused the texts, or its answer does not fit them.
        """
        fitting = [self._fitting(text) for text in require_texts(texts)]
        answers = await bounded_map(self._embed_batch, batches(fitting, self._limits), limit=self._concurrency)
        return [embedding for answer in answers for embedding in answer]

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _fitting(self, text: str) -> str:
        fitting = cut_to_fit(text)
        if len(fitting) < len(text):
            _log.info("A text of %d characters was cut to %d (%d bytes)", len(text), len(fitting), TOKENS_PER_INPUT)
        return fitting

    async def _embed_batch(self, batch: list[str]) -> list[Embedding]:
        async def request() -> "CreateEmbeddingResponse":
            return await self._request(batch)

        answer = await with_retries(request, attempts=self._attempts, sleep=self._sleep)
        return checked(
            _vectors(answer, count=len(batch), model=self._model),
            count=len(batch),
            dimensions=self._dimensions,
            model=self._model,
        )

    async def _request(self, batch: list[str]) -> "CreateEmbeddingResponse":
        client = await self._connected()
        from openai import omit

        asks_dimensions = self._model.startswith(_DIMENSIONS_CAN_BE_ASKED_FOR)
        with translated(model=self._model, secret=self._api_key, timeout=self._timeout):
            async with asyncio.timeout(self._timeout):
                # Asked for by name, base64 comes back as it is; left to itself the SDK decodes it to lists.
                return await client.embeddings.create(
                    model=self._model,
                    input=batch,
                    encoding_format="base64",
                    dimensions=self._dimensions if asks_dimensions else omit,
                )

    async def _connected(self) -> "AsyncOpenAI":
        if self._client is None:
            # The import takes long enough to hold up whatever else runs on the loop.
            openai = await asyncio.to_thread(importlib.import_module, "openai")
            if self._client is None:
                self._client = openai.AsyncOpenAI(
                    api_key=self._api_key, base_url=self._base_url, timeout=self._timeout, max_retries=0
                )
        return self._client


def _usable_key(api_key: str) -> str:
    key = api_key.strip()
    if not key:
        raise ConfigurationError("The OpenAI API key is empty; set OPENAI_API_KEY or KGAGENT_EMBEDDER=local")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError("OPENAI_API_KEY holds characters that no key has; copy the key anew")
    return key


def _usable_address(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(f"OPENAI_BASE_URL must be an http or https address, got {base_url}")
    return base_url


def _vectors(answer: "CreateEmbeddingResponse", *, count: int, model: str) -> list[Sequence[float]]:
    """Take the vectors out of an answer, in the order of the texts."""
    items = getattr(answer, "data", None)
    if not isinstance(items, list):
        raise EmbeddingResponseError(f"{model} answered something that is not a list of embeddings")
    if len(items) != count:
        raise EmbeddingResponseError(f"{model} was asked for {count} embeddings and answered {len(items)}")
    by_index = {getattr(item, "index", None): getattr(item, "embedding", None) for item in items}
    if by_index.keys() != set(range(count)):
        raise EmbeddingResponseError(f"{model} answered embeddings that are not numbered 0 to {count - 1}")
    return [_decoded(by_index[position], model) for position in range(count)]


def _decoded(vector: object, model: str) -> Sequence[float]:
    """Read one vector: base64 of little-endian float32, or numbers from servers that know no base64."""
    if isinstance(vector, list):
        return vector
    try:
        embedding = array("f", base64.b64decode(str(vector), validate=True))
    except (binascii.Error, ValueError):
        raise EmbeddingResponseError(f"{model} answered an embedding that is neither numbers nor base64") from None
    if sys.byteorder == "big":
        embedding.byteswap()
    return embedding
