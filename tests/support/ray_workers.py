"""What worker processes of Ray import from the tests, and Ray itself for a module of tests."""

import logging
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import EmbeddingUnavailableError

RAYS_OWN_WARNINGS = r"ignore:.use_\w+. is deprecated:DeprecationWarning"
"""Ray Data gives them when it creates its settings."""


def noon() -> datetime:
    """A clock that stands still in every process."""
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


class FaultyEmbedder(HashingEmbedder):
    """Embeds until a text has a word.

    Args:
        word: part of the text.
        died: a file; the first worker that has the text creates it and is killed. None is
            unavailable instead.
    """

    def __init__(self, word: str, died: Path | None) -> None:
        super().__init__(384)
        self._word = word
        self._died = died

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store."""
        if any(self._word in text for text in texts):
            if self._died is None:
                raise EmbeddingUnavailableError("The model is gone")
            if not self._died.exists():
                self._died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return await super().embed(texts)


@contextmanager
def running_ray() -> Iterator[Path]:
    """Run Ray with two CPUs; yields the folder of its logs, which is deleted."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    started: Any = ray.init(
        "local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=100 * 2**20,
    )
    session = Path(started.address_info["session_dir"])
    try:
        yield session / "logs"
    finally:
        ray.shutdown()
        shutil.rmtree(session, ignore_errors=True)
