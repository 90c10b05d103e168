"""Stored vectors and query vectors: embeddings of real text, or synthetic ones."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _made_graph import RELATIONSHIPS_PER_CLUSTER, ClusteredVectors, Vectors

from kgagent.embedding.local import LocalEmbedder
from kgagent.embedding.local_models import BGE_SMALL

TRIPLES, QUESTIONS = "kb.txt", "questions.jsonl"
SAME = 0.999
MIN_CLUSTERS = 20


@dataclass(frozen=True)
class Corpus:
    """Stored vectors and query vectors.

    Attributes:
        source: "real text" or "synthetic".
        vectors: vectors of the relationships, float32, shape (count, dimensions), each of length 1.
        questions: float32, shape (questions, dimensions), each of length 1.
        texts: texts of the relationships; empty for synthetic vectors.
    """

    source: str
    vectors: Vectors
    questions: Vectors
    texts: Sequence[str] = ()


def made(seed: int, dimensions: int, count: int, questions: int) -> Corpus:
    """Generate dense clusters of vectors."""
    clusters = ClusteredVectors(
        np.random.default_rng(seed),
        dimensions,
        max(MIN_CLUSTERS, count // RELATIONSHIPS_PER_CLUSTER),
    )
    return Corpus("synthetic", clusters.draw(count), clusters.draw(questions))


class MetaQA:
    """The triples and questions of MetaQA, embedded by the local model.

    Questions on odd lines (from 0) are the test set; the defaults were tuned on those on even
    lines.
    """

    def __init__(self, folder: Path, cache: Path | None) -> None:
        """Read the files; embed the triples, or read their embeddings from `cache`."""
        lines = (folder / TRIPLES).read_text(encoding="utf-8").splitlines()
        self.texts = [" ".join(line.split("|")).replace("_", " ") for line in lines]
        asked = [
            json.loads(line)
            for line in (folder / QUESTIONS).read_text(encoding="utf-8").splitlines()
        ]
        self._questions = [item["question"].replace("[", "").replace("]", "") for item in asked]
        self._vectors = _cached(self.texts, cache)

    def __len__(self) -> int:
        """Number of triples."""
        return len(self.texts)

    def corpus(self, seed: int, count: int, questions: int, *, judging: bool = True) -> Corpus:
        """Sample triples and questions."""
        generator = np.random.default_rng(seed)
        chosen = generator.permutation(len(self.texts))[:count]
        half = self._questions[1 if judging else 0 :: 2]
        asked = [half[i] for i in generator.permutation(len(half))[:questions]]
        return Corpus(
            "real text", self._vectors[chosen], embed(asked), [self.texts[i] for i in chosen]
        )


def embed(texts: Sequence[str]) -> Vectors:
    """Embed texts with the local model: float32, shape (len(texts), dimensions), each of length
    1.
    """

    async def work() -> Vectors:
        embedder = LocalEmbedder()
        try:
            return np.array(await embedder.embed(texts), np.float32)
        finally:
            await embedder.aclose()

    return asyncio.run(work())


def _cached(texts: Sequence[str], cache: Path | None) -> Vectors:
    if cache is not None and cache.exists():
        vectors: Vectors = np.load(cache)
        if vectors.shape != (len(texts), BGE_SMALL.dimensions):
            raise SystemExit(
                f"{cache} contains {vectors.shape}, expected {(len(texts), BGE_SMALL.dimensions)}: "
                f"delete it"
            )
        ends = [0, len(texts) - 1]
        fresh = embed([texts[i] for i in ends])
        if np.min(np.sum(fresh * vectors[ends], axis=1)) < SAME:
            raise SystemExit(
                f"{cache} contains embeddings of other texts or of another model: delete it"
            )
        return vectors
    vectors = embed(texts)
    if cache is not None:
        np.save(cache, vectors)
    return vectors
