"""A deterministic embedder without a model, for tests."""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import ClassVar

from kgagent.embedding.base import Embedder, Embedding, require_texts
from kgagent.errors import ConfigurationError

_WORD = re.compile(r"\w+")
_NGRAM = 3
_WORD_WEIGHT = 1.0
_NGRAM_WEIGHT = 0.3


class HashingEmbedder(Embedder):
    """Puts texts that share words, or parts of words, near each other; it knows nothing of their meaning.

    For tests and trials: no download, no key, the same embedding on every machine. "mentor" and "teacher" are
    strangers to it, so it is no substitute for a real model.

    Each word and each run of three characters within a word adds to, or takes from, one component that its
    hash picks (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009).
    """

    provider: ClassVar[str] = "hashing"

    def __init__(self, dimensions: int = 256) -> None:
        """Prepare.

        Args:
            dimensions: length of each embedding, from 1; under about 64, unrelated texts collide often.

        Raises:
            ConfigurationError: no dimension at all.
        """
        if dimensions < 1:
            raise ConfigurationError(f"dimensions must be 1 or more, got {dimensions}")
        self._dimensions = dimensions

    @property
    def model(self) -> str:
        """The same for every length; vectors of another length are told apart by it."""
        return "blake2b-words"

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts.

        Raises:
            InputError: a text is empty or not UTF-8.
        """
        return [hashed(text, self._dimensions) for text in require_texts(texts)]


def hashed(text: str, dimensions: int) -> Embedding:
    """Hash a text's words and parts of words into a unit vector.

    Args:
        text: any text.
        dimensions: length of the vector, from 1.

    Returns:
        float32, shape (dimensions,), length 1.
    """
    sums = [0.0] * dimensions
    for feature, weight in _features(text).items():
        position, sign = _slot(feature, dimensions)
        sums[position] += sign * weight
    norm = math.hypot(*sums)
    if norm == 0.0:
        # No words at all, or features that cancel each other: the text as a whole picks the direction.
        position, sign = _slot(text, dimensions)
        sums[position], norm = sign, 1.0
    return array("f", (value / norm for value in sums))


def _features(text: str) -> dict[str, float]:
    features: defaultdict[str, float] = defaultdict(float)
    for word in _WORD.findall(text.casefold()):
        features[word] += _WORD_WEIGHT
        for part in _parts(word):
            features[part] += _NGRAM_WEIGHT
    return features


def _parts(word: str) -> Iterator[str]:
    bounded = f"<{word}>"
    return (bounded[start : start + _NGRAM] for start in range(len(bounded) - _NGRAM + 1))


def _slot(feature: str, dimensions: int) -> tuple[int, float]:
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0
