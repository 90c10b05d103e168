"""Embeddings from a small model that runs on this machine, without an API key."""

import asyncio
import os
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from kgagent.bounded_map import bounded_map
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.local_models import BGE_SMALL, Pooling, find_model
from kgagent.embedding.validation import validate_embeddings
from kgagent.embedding.wrapper import with_prefix
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError
from kgagent.extras import require_extra
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

PACKAGES = ("jgo", "onnxruntime", "tokenizers")
"""Packages of the `local` extra that load and run the model."""

_ERRORS_ONLY = 3


def missing_packages() -> list[str]:
    """The packages that the local model needs and that are not installed."""
    return [package for package in PACKAGES if find_spec(package) is None]


class LocalEmbedder(Embedder):
    """Runs a model in ONNX format; bge-small-en-v1.5 (English, quantized, 24 MB) unless another is
    chosen.

    Each text is a separate run of the model, in a thread pool: in a batch, the vector of a
    quantized model depends on the other texts, and an embedding must depend on its text only. One
    single-threaded run per core had the highest throughput. Embeddings are scaled to length 1.

    With the default model, unrelated texts have a cosine of 0.4 to 0.5 on average; docs/concepts.md
    says what to expect from a threshold.
    """

    provider: ClassVar[str] = "local"

    def __init__(
        self,
        *,
        model: str = BGE_SMALL.name,
        cache: Path | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Create the embedder; the first call imports packages and downloads and loads the model.

        Args:
            model: name of a model that is downloaded, or the path of a folder; see
                `kgagent.embedding.local_models.find_model`.
            cache: folder of downloaded files; None uses the user's cache folder.
            threads: number of threads, from 1; None uses one for each core available to this
                process.
            progress: reports the download.

        Raises:
            ConfigurationError: `threads` is below 1, or there is no such model.
        """
        if threads is not None and threads < 1:
            raise ConfigurationError(f"threads must be 1 or more, got {threads}")
        self._model = find_model(model)
        self._cache = cache
        self._threads = threads or _cores()
        self._progress = progress or SilentProgress()
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="kgagent-embedding")
        self._loading = Lock()
        self._loaded: _Model | None = None

    @property
    def model(self) -> str:
        """Name of the model and its quantization, which changes the vectors; of a folder, with part
        of its hash.
        """
        return self._model.name

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._model.dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; only the first tokens of a text count, with the default model 512.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            ConfigurationError: the packages of the `local` extra are not installed, or the folder
                of the model is not complete.
            DownloadError: the model could not be downloaded, or its file is damaged.
        """
        return await self._embed(with_prefix(self._model.passage_prefix, texts))

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; see `embed`."""
        return await self._embed(with_prefix(self._model.query_prefix, texts))

    async def _embed(self, texts: Sequence[str]) -> list[Embedding]:
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        model = self._loaded
        if model is None:
            model = await loop.run_in_executor(self._pool, self._load)

        async def embed_one(text: str) -> Embedding:
            return await loop.run_in_executor(self._pool, model.embed, text)

        # Two for each thread, so that no thread waits for the event loop between texts.
        vectors = await bounded_map(embed_one, texts, limit=2 * self._threads)
        return validate_embeddings(
            vectors, count=len(texts), dimensions=self.dimensions, model=self.model
        )

    def preload(self) -> None:
        """Begin to load the model in a thread, without waiting; a failure is left for the first
        call to report.
        """
        self._pool.submit(self._load)

    async def ready(self, timeout: float) -> None:
        """Wait until the model is loaded; a failure is left for the first call to report.

        Args:
            timeout: seconds.

        Raises:
            EmbeddingUnavailableError: it is still being loaded.
        """
        if self._loaded is not None:
            return
        loading = asyncio.get_running_loop().run_in_executor(self._pool, self._load)
        # Otherwise a failure that nobody waits for is logged.
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait([loading], timeout=timeout)
        if not done:
            raise EmbeddingUnavailableError(
                f"The embedding model {self.model} is still being loaded, which includes its "
                f"download the first time; "
                "try again in a moment"
            )

    async def aclose(self) -> None:
        """Stop the threads and release the model."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._loaded = None

    def _load(self) -> "_Model":
        with self._loading:
            if self._loaded is None:
                tokenizer, onnx = self._model.read(self._cache, self._progress)
                session = _session(onnx)
                self._loaded = _Model(
                    tokenizer=_tokenizer(tokenizer, self._model.max_tokens),
                    session=session,
                    inputs=frozenset(node.name for node in session.get_inputs()),
                    pooling=self._model.pooling,
                )
            return self._loaded


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: "Tokenizer"
    session: "InferenceSession"
    inputs: frozenset[str]
    pooling: Pooling

    def embed(self, text: str) -> Embedding:
        import numpy as np

        ids = np.array([self.tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        # Of the outputs, the first has a vector for each token.
        tokens = self.session.run(
            None, {name: value for name, value in inputs.items() if name in self.inputs}
        )[0][0]
        vector = tokens[0] if self.pooling == "cls" else tokens.mean(axis=0)
        return array("f", (vector / np.linalg.norm(vector)).astype(np.float32).tobytes())


def _tokenizer(definition: str, max_tokens: int) -> "Tokenizer":
    with require_extra("local"):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(definition)
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer


def _session(model: bytes | str) -> "InferenceSession":
    with require_extra("local"):
        from onnxruntime import InferenceSession, SessionOptions
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _cores() -> int:
    # A process in a container or under taskset may use fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
