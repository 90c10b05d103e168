"""Embedding the texts of a migration by OpenAI's Batch API, resumable at any time."""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from kgagent.batches import batched, split_by_size
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.embedding.openai_batch import (
    LIMIT_REACHED,
    MAX_BYTES,
    MAX_ENQUEUED,
    MAX_INPUTS,
    BatchResult,
    BatchStatus,
    OpenAIBatches,
)
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import (
    ConfigurationError,
    EmbeddingResponseError,
    EmbeddingUnavailableError,
    InputError,
)
from kgagent.graph.record_saver import embedding_hash
from kgagent.migration.batch_state import BatchState, OpenBatch
from kgagent.migration.prepared import Preparation
from kgagent.progress import Progress

FEWEST_INPUTS = 500
"""A batch of this size that exceeds the account's limit of tokens is not made smaller."""

_ADDED_AT_ONCE = 1_000

_UNDONE = {
    "expired": "OpenAI's batch {} expired before it embedded this text; run the migration again",
    "cancelled": "OpenAI's batch {} was cancelled before it embedded this text; run the migration again",
}
_NO_RESULT = "OpenAI's batch {} has no result for this text; run the migration again"
_UNDONE_CODES = {"batch_expired": "expired", "batch_cancelled": "cancelled"}

_log = logging.getLogger(__name__)

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, kw_only=True)
class BatchEngine:
    """Has the texts of a migration embedded by OpenAI's Batch API: at half the price, within 24 hours.

    Attributes:
        state: file that keeps the texts, the ids of the batches and the embeddings until the migration is complete. A
            run with the same file continues with the same batches.
        poll: seconds between two looks at the batches that are under way.
        inputs: maximum number of texts of a batch.
        size: maximum bytes of the file of a batch.
        enqueued: maximum number of texts of all batches that are under way.
    """

    state: str | PathLike[str]
    poll: float = 60.0
    inputs: int = MAX_INPUTS
    size: int = MAX_BYTES
    enqueued: int = MAX_ENQUEUED

    def __post_init__(self) -> None:
        """Reject limits that are not OpenAI's."""
        if not 1 <= self.inputs <= MAX_INPUTS or not 1 <= self.size <= MAX_BYTES:
            raise InputError(
                f"A batch may have 1 to {MAX_INPUTS:,} texts and {MAX_BYTES:,} bytes, got {self.inputs:,} and "
                f"{self.size:,}"
            )
        if self.enqueued < self.inputs or self.poll <= 0:
            raise InputError(
                f"enqueued must be at least inputs, and poll above 0, got {self.enqueued:,} and {self.poll:g}"
            )

    @asynccontextmanager
    async def open(self, embedder: Embedder) -> AsyncIterator["BatchEmbedding"]:
        """Open the state file for a block; it is deleted if the block ends without an error.

        Raises:
            ConfigurationError: the embedder is not OpenAI's.
            InputError: the state file cannot be used.
        """
        openai = embedder.wrapped if isinstance(embedder, WrapperEmbedder) else embedder
        if not isinstance(openai, OpenAIEmbedder):
            raise ConfigurationError(
                f"Batches need OpenAI's embeddings, and the graph's embedder is {embedder}; set "
                "KGAGENT_EMBEDDER=openai and OPENAI_API_KEY, or migrate without batches"
            )
        with BatchState.open(Path(self.state), model=embedder.model, dimensions=embedder.dimensions) as state:
            yield BatchEmbedding(self, state, embedder, OpenAIBatches(openai))
            state.delete()


class BatchEmbedding:
    """Embeds texts by batches, and gives the migration the results."""

    def __init__(self, engine: BatchEngine, state: BatchState, embedder: Embedder, batches: OpenAIBatches) -> None:
        self._engine = engine
        self._state = state
        self._embedder = embedder
        self._batches = batches
        self._inputs = engine.inputs
        self._most_open = max(engine.enqueued // engine.inputs, 1)
        self.preparation = BatchPreparation(embedder, state)
        self.embedder = BatchedEmbedder(embedder, self.preparation)

    async def embed(self, texts: AsyncIterable[str], progress: Progress) -> None:
        """Embed texts that have no result yet, and wait until all batches have ended.

        Args:
            texts: non-empty texts.
            progress: reports the texts.

        Raises:
            EmbeddingError: a batch was refused, or OpenAI could not be reached; the next run continues.
            ConfigurationError: the key is rejected, or the account has no such batch.
        """
        await self._collect(texts)
        total = self._state.waiting + self._state.enqueued
        if not total:
            return
        with progress.task("Embedding by OpenAI's Batch API", total) as advance:
            processed: dict[int, int] = {}
            while True:
                await self._submit()
                if not (under_way := self._state.open_batches()):
                    return
                has_ended = False
                for batch in under_way:
                    status = await self._batches.status(str(batch.batch_id))
                    if await self._handle(batch, status):
                        has_ended = True
                    if not status.error:
                        advance(status.processed - processed.get(batch.number, 0))
                        processed[batch.number] = status.processed
                if not has_ended:
                    await asyncio.sleep(self._engine.poll)

    async def _collect(self, texts: AsyncIterable[str]) -> None:
        async for some in batched(texts, _ADDED_AT_ONCE):
            self._state.add([(embedding_hash(self._embedder, text), self._embedder.sent_text(text)) for text in some])

    async def _submit(self) -> None:
        """Create batches until all texts are in one, or as many are under way as are allowed."""
        for batch in self._state.open_batches():
            if batch.batch_id is None:
                await self._create(batch, since=batch.since)
        while self._state.waiting and len(self._state.open_batches()) < self._most_open:
            await self._create(await asyncio.to_thread(self._begin))

    def _begin(self) -> OpenBatch:
        """Put as many of the texts as the limits allow into a batch."""
        lines = (
            (one, len(self._batches.line(one, text))) for one, text in islice(self._state.texts_waiting(), self._inputs)
        )
        chosen = next(split_by_size(lines, lambda line: line[1], max_size=self._engine.size))
        return self._state.begin([one for one, _ in chosen])

    async def _create(self, batch: OpenBatch, *, since: int | None = None) -> None:
        with TemporaryDirectory(prefix="kgagent-") as folder:
            file = Path(folder) / f"kgagent-{batch.number}.jsonl"
            await asyncio.to_thread(self._write, batch.number, file)
            batch_id = await self._batches.submit(file, f"{self._state.run}-{batch.number}", since=since)
        self._state.created(batch.number, batch_id)
        _log.info("Batch %s is under way", batch_id)

    def _write(self, number: int, file: Path) -> None:
        with file.open("wb") as out:
            out.writelines(self._batches.line(one, text) for one, text in self._state.texts_of(number))

    async def _handle(self, batch: OpenBatch, status: BatchStatus) -> bool:
        """Read the results of a batch that has ended; return whether it has."""
        if not status.has_ended:
            return False
        if status.status == "failed":
            others = len(self._state.open_batches()) - 1
            self._state.release(batch.number)
            self._make_smaller(status, others)
            return True
        with TemporaryDirectory(prefix="kgagent-") as folder:
            files = [Path(folder) / str(number) for number, _ in enumerate(status.result_files)]
            for file_id, file in zip(status.result_files, files, strict=True):
                await self._batches.download(file_id, file)
            otherwise = _UNDONE.get(status.status, _NO_RESULT).format(status.batch_id)
            results = self._results(files, status.batch_id)
            await asyncio.to_thread(self._state.finish, batch.number, results, otherwise=otherwise)
        await self._batches.delete_files(status.files)
        return True

    def _make_smaller(self, status: BatchStatus, others: int) -> None:
        """Adapt to the account's limit of enqueued tokens.

        Raises:
            EmbeddingUnavailableError: not even a small batch fits.
            EmbeddingResponseError: the batch was refused for another reason.
        """
        if LIMIT_REACHED not in status.error_codes:
            raise EmbeddingResponseError(f"OpenAI refused batch {status.batch_id}: {status.error or 'no reason given'}")
        if others:
            self._most_open = others
        elif self._inputs > FEWEST_INPUTS:
            self._inputs = max(self._inputs // 2, FEWEST_INPUTS)
        else:
            raise EmbeddingUnavailableError(f"OpenAI's Batch API accepts no further texts now: {status.error}")
        _log.info("Batch %s was refused, and is made smaller or waits: %s", status.batch_id, status.error)

    def _results(self, files: Sequence[Path], batch_id: str) -> Iterator[BatchResult]:
        for path in files:
            with path.open("rb") as file:
                for line in filter(bytes.strip, file):
                    yield _explained(self._batches.read_result(line), batch_id)


class BatchPreparation(Preparation):
    """Gives the results of batches, and embeds texts without one, such as those that have changed meanwhile."""

    def __init__(self, embedder: Embedder, state: BatchState) -> None:
        super().__init__(embedder)
        self._model = embedder
        self._state = state

    async def embed(self, texts: Sequence[str]) -> tuple[dict[str, Embedding], dict[str, str]]:
        """Embed texts; see `Preparation.embed`."""
        hashes = {text: embedding_hash(self._model, text) for text in texts}
        embeddings, reasons = self._state.results(list(hashes.values()))
        known, refused = _by_text(hashes, embeddings), _by_text(hashes, reasons)
        made, more_refused = await super().embed([text for text in texts if text not in known and text not in refused])
        return known | made, refused | more_refused


class BatchedEmbedder(WrapperEmbedder):
    """An embedder that has the results of batches."""

    def __init__(self, embedder: Embedder, preparation: BatchPreparation) -> None:
        super().__init__(embedder)
        self._preparation = preparation

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; see `Embedder.embed`."""
        known, refused = await self._preparation.embed(list(dict.fromkeys(texts)))
        if refused:
            raise EmbeddingResponseError(next(iter(refused.values())))
        return [known[text] for text in texts]


def _by_text(hashes: Mapping[str, str], found: Mapping[str, ItemT]) -> dict[str, ItemT]:
    return {text: found[one] for text, one in hashes.items() if one in found}


def _explained(result: BatchResult, batch_id: str) -> BatchResult:
    if result.embedding is not None:
        return result
    undone = _UNDONE.get(_UNDONE_CODES.get(result.code, ""))
    reason = undone.format(batch_id) if undone else f"OpenAI's batch {batch_id}: {result.reason}"
    return BatchResult(result.custom_id, None, reason, result.code)
