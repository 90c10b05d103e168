"""OpenAI's Batch API: a file of requests that is answered within 24 hours, at half the price of single requests.

https://platform.openai.com/docs/guides/batch
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kgagent.embedding.base import Embedding
from kgagent.embedding.batching import truncate
from kgagent.embedding.openai import OpenAIEmbedder, decode_vector
from kgagent.embedding.validation import validate_embeddings
from kgagent.errors import ConfigurationError, EmbeddingResponseError, KgAgentError

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

MAX_INPUTS = 50_000
"""Maximum texts of a batch (OpenAI's API reference)."""

MAX_BYTES = 200_000_000
"""Maximum bytes of the file of a batch (OpenAI's API reference)."""

MAX_ENQUEUED = 1_000_000
"""Maximum texts of all batches of an account that are under way (OpenAI's Batch API FAQ)."""

LIMIT_REACHED = "token_limit_exceeded"
"""Code of a batch that was refused because too many tokens of the account are enqueued."""

_ENDPOINT: Final = "/v1/embeddings"
_TAG = "kgagent"
_TRANSFER_TIMEOUT = 900.0
_LIST_MARGIN = 3_600
_MAX_ERRORS = 3
_OK = 200
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class BatchStatus:
    """The status of a batch.

    Attributes:
        batch_id: id of the batch.
        status: OpenAI's word, such as "in_progress" or "completed".
        processed: number of requests that have a result or an error.
        error: why the batch as a whole failed; empty if it did not.
        error_codes: the codes of these errors.
        result_files: ids of the files with results and errors.
        files: ids of all files of the batch.
    """

    batch_id: str
    status: str
    processed: int
    error: str
    error_codes: frozenset[str]
    result_files: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def has_ended(self) -> bool:
        """Whether the status is final."""
        return self.status in _ENDED


@dataclass(frozen=True)
class BatchResult:
    """The result of one request.

    Attributes:
        custom_id: id that the request was given.
        embedding: float32, shape (dimensions,); None if the request failed.
        reason: why it failed.
        code: OpenAI's code of the failure, such as "batch_expired".
    """

    custom_id: str
    embedding: Embedding | None
    reason: str = ""
    code: str = ""


class OpenAIBatches:
    """Batches of embeddings with the account, the model and the limits of an embedder."""

    def __init__(self, embedder: OpenAIEmbedder) -> None:
        self._embedder = embedder

    def line(self, custom_id: str, text: str) -> bytes:
        """The line of the file for a request."""
        body = self._embedder.request_body([truncate(text)])
        request = {"custom_id": custom_id, "method": "POST", "url": _ENDPOINT, "body": body}
        return json.dumps(request, ensure_ascii=False).encode() + b"\n"

    async def submit(self, file: Path, tag: str, *, since: int | None = None) -> str:
        """Upload a file of requests and create its batch.

        Args:
            file: JSON Lines; see `line`.
            tag: unique name of the batch, at most 512 characters.
            since: Unix time after which a batch of this tag may have been created; None if there is none. It is
                used instead of a new one.

        Returns:
            The id of the batch.

        Raises:
            KgAgentError: OpenAI could not be reached, or refused.
        """
        if since is not None and (created := await self._find(tag, since)) is not None:
            return created
        uploaded = await self._embedder.call(
            lambda client: client.files.create(file=file, purpose="batch", timeout=_TRANSFER_TIMEOUT),
            timeout=_TRANSFER_TIMEOUT,
        )
        attempts = 0

        async def create(client: "AsyncOpenAI") -> str:
            nonlocal attempts
            attempts += 1
            # A reply that was lost does not mean that there is no batch.
            if attempts > 1 and (created := await _tagged(client, tag, uploaded.created_at)) is not None:
                return created
            batch = await client.batches.create(
                input_file_id=uploaded.id, endpoint=_ENDPOINT, completion_window="24h", metadata={_TAG: tag}
            )
            return batch.id

        return await self._embedder.call(create)

    async def status(self, batch_id: str) -> BatchStatus:
        """Read the status of a batch.

        Raises:
            ConfigurationError: the account has no such batch.
            KgAgentError: OpenAI could not be reached, or refused.
        """

        async def retrieve(client: "AsyncOpenAI") -> "Batch":
            from openai import NotFoundError

            try:
                return await client.batches.retrieve(batch_id)
            except NotFoundError:
                raise ConfigurationError(
                    f"OpenAI has no batch {batch_id} for this key; use the key and the OPENAI_BASE_URL with which it "
                    "was created, or choose another state file"
                ) from None

        return _status(await self._embedder.call(retrieve))

    async def download(self, file_id: str, path: Path) -> None:
        """Download a file of results.

        Raises:
            KgAgentError: OpenAI could not be reached, or refused.
        """

        async def stream(client: "AsyncOpenAI") -> None:
            async with client.files.with_streaming_response.content(file_id, timeout=_TRANSFER_TIMEOUT) as response:
                await response.stream_to_file(path)

        await self._embedder.call(stream, timeout=_TRANSFER_TIMEOUT)

    def read_result(self, line: bytes) -> BatchResult:
        """Read a line of a file of results.

        Raises:
            EmbeddingResponseError: the line is none.
        """
        model, dimensions = self._embedder.model, self._embedder.dimensions
        try:
            found = json.loads(line)
            custom_id = str(found["custom_id"])
            error, response = found.get("error") or {}, found.get("response") or {}
            body = response.get("body") or {}
            if error or response.get("status_code") != _OK:
                return _failure(custom_id, error or body.get("error") or {}, response.get("status_code"))
            [item] = body["data"]
            vector = decode_vector(item["embedding"], model)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EmbeddingResponseError(f"A file of results has an invalid line: {line[:200]!r}") from None
        except EmbeddingResponseError as wrong:
            return BatchResult(custom_id, None, str(wrong))
        try:
            [embedding] = validate_embeddings([vector], count=1, dimensions=dimensions, model=model)
        except EmbeddingResponseError as wrong:
            return BatchResult(custom_id, None, str(wrong))
        return BatchResult(custom_id, embedding)

    async def delete_files(self, file_ids: Sequence[str]) -> None:
        """Delete files of a batch; those that cannot be deleted expire by themselves, after 30 days."""

        async def delete(client: "AsyncOpenAI") -> None:
            for file_id in file_ids:
                await client.files.delete(file_id)

        with suppress(KgAgentError):
            await self._embedder.call(delete, attempts=1)

    async def _find(self, tag: str, since: int) -> str | None:
        return await self._embedder.call(lambda client: _tagged(client, tag, since))


async def _tagged(client: "AsyncOpenAI", tag: str, since: int) -> str | None:
    """The batch with a tag; they are listed newest first. The clock of this machine may differ from the server's."""
    async for batch in client.batches.list(limit=100):
        if (batch.metadata or {}).get(_TAG) == tag:
            return batch.id
        if batch.created_at < since - _LIST_MARGIN:
            return None
    return None


def _status(batch: "Batch") -> BatchStatus:
    errors = (batch.errors.data if batch.errors is not None else None) or []
    shown = "; ".join(
        f"line {error.line}: {error.message}" if error.line is not None else str(error.message)
        for error in errors[:_MAX_ERRORS]
    )
    counts = batch.request_counts
    results = tuple(filter(None, (batch.output_file_id, batch.error_file_id)))
    return BatchStatus(
        batch_id=batch.id,
        status=batch.status,
        processed=0 if counts is None else counts.completed + counts.failed,
        error=shown,
        error_codes=frozenset(str(error.code) for error in errors),
        result_files=results,
        files=(batch.input_file_id, *results),
    )


def _failure(custom_id: str, error: dict[str, Any], status_code: object) -> BatchResult:
    code = str(error.get("code") or "")
    reason = error.get("message") or (f"HTTP {status_code}" if status_code else "no reason given")
    return BatchResult(custom_id, None, str(reason), code)
