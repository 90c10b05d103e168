"""Validation that embedders share: of the texts that they get, and of the embeddings that a model
returns.
"""

import math
from array import array
from collections.abc import Iterable, Sequence

from kgagent.embedding.base import Embedding
from kgagent.errors import EmbeddingResponseError, InputError
from kgagent.formatting import has_unpaired_surrogates

SHORTEST, LONGEST = 1e-15, 1e15
"""Length of a vector whose square is a number as float32, with which a database compares
vectors.
"""


def validate_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list if each can be embedded.

    Raises:
        InputError: `texts` is a single string, or a text is empty or contains an unpaired
            surrogate.
    """
    if isinstance(texts, str):
        raise InputError("texts must be a list of texts, got one string; put it in a list")
    for position, text in enumerate(texts, start=1):
        if not text.strip():
            raise InputError(f"text {position} of {len(texts)} is empty; remove it")
        if has_unpaired_surrogates(text):
            raise InputError(
                f"text {position} of {len(texts)} contains an unpaired surrogate, which is not a "
                f"character; remove it"
            )
    return list(texts)


def validate_embeddings(
    vectors: Iterable[Sequence[float]], *, count: int, dimensions: int, model: str
) -> list[Embedding]:
    """Validate a model's response and convert it to embeddings.

    Args:
        vectors: the response, one vector for each text.
        count: number of texts.
        dimensions: expected length of each vector.
        model: name of the model, for errors.

    Raises:
        EmbeddingResponseError: wrong number of vectors, wrong length, or values that are not finite
            or all zero.
    """
    embeddings = [_as_embedding(vector, model) for vector in vectors]
    if len(embeddings) != count:
        raise EmbeddingResponseError(
            f"{model} returned {len(embeddings)} embeddings for {count} texts"
        )
    for position, embedding in enumerate(embeddings, start=1):
        if len(embedding) != dimensions:
            raise EmbeddingResponseError(
                f"{model} returned an embedding of length {len(embedding)}, expected {dimensions} "
                f"(text {position} of {count}); set KGAGENT_EMBEDDING_DIMENSIONS to the model's "
                f"length"
            )
        norm = math.hypot(*embedding)
        if not SHORTEST <= norm <= LONGEST:
            raise EmbeddingResponseError(
                f"{model} returned an embedding that is zero or not finite (text {position} of "
                f"{count}): "
                f"its length must be {SHORTEST:g} to {LONGEST:g}"
            )
    return embeddings


def _as_embedding(vector: Sequence[float], model: str) -> Embedding:
    if isinstance(vector, array) and vector.typecode == "f":
        return vector
    try:
        return array("f", vector)
    except (TypeError, OverflowError):
        raise EmbeddingResponseError(
            f"{model} returned an embedding that is not a list of numbers"
        ) from None
