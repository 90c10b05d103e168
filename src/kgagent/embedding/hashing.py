"""A deterministic embedder without a model, for tests."""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import ClassVar

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.errors import ConfigurationError

_WORD = re.compile(r"\w+")
_NGRAM = 3
_WORD_WEIGHT = 1.0
_NGRAM_WEIGHT = 0.3


class HashingEmbedder(Embedder):
    """Embeds texts by their words and parts of words; texts with similar meaning but other words
    are not similar.

    For tests and experiments: no download, no key, the same embedding on every machine. It cannot
    relate "mentor" to "teacher", so it does not replace a real model.

    Each word and each character trigram of a word is added to, or subtracted from, the component
    that its hash selects (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning",
    ICML 2009).
    """

    provider: ClassVar[str] = "hashing"

    def __init__(self, dimensions: int = 256) -> None:
        """Create the embedder.

        Args:
            dimensions: length of each embedding, from 1; below about 64, unrelated texts often
                collide.

        Raises:
            ConfigurationError: `dimensions` is below 1.
        """
        if dimensions < 1:
            raise ConfigurationError(f"dimensions must be 1 or more, got {dimensions}")
        self._dimensions = dimensions

    @property
    def model(self) -> str:
        """Name of the method; the same for every length."""
        return "blake2b-words"

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
        """
        return [hash_embedding(text, self._dimensions) for text in validate_texts(texts)]


def hash_embedding(text: str, dimensions: int) -> Embedding:
    """Hash the words and character trigrams of a text into a unit vector.

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
        # No words, or features that cancel out: the hash of the whole text selects the direction.
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
