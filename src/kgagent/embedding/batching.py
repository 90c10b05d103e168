"""Texts cut and grouped so that each request stays within the limits of OpenAI's embeddings endpoint.

Tokens are bounded without a tokenizer: the models' byte-pair encoding never makes more tokens than the text
has UTF-8 bytes. The bound holds for every language and for the strangest text, at the price of requests that
are smaller than they could be (English has about four bytes a token).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

TOKENS_PER_INPUT = 8_191
"""Tokens that a text may have (OpenAI's embeddings guide)."""

_CONTINUATION_MASK = 0b1100_0000
_CONTINUATION_BYTE = 0b1000_0000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may carry (OpenAI's API reference of the embeddings endpoint).

    Attributes:
        inputs: texts, from 1.
        tokens: tokens of all texts together, not below `TOKENS_PER_INPUT`.
    """

    inputs: int = 2_048
    tokens: int = 300_000


def most_tokens(text: str) -> int:
    """How many tokens a text can have at the most: its UTF-8 bytes."""
    return len(text.encode())


def cut_to_fit(text: str, *, tokens: int = TOKENS_PER_INPUT) -> str:
    """Keep the longest beginning of a text that surely fits, whole characters only.

    Args:
        text: any text; one that fits comes back as it is.
        tokens: the most that it may have; not below 4, the longest character.
    """
    encoded = text.encode()
    if len(encoded) <= tokens:
        return text
    end = tokens
    while encoded[end] & _CONTINUATION_MASK == _CONTINUATION_BYTE:
        end -= 1
    return encoded[:end].decode()


def batches(texts: Iterable[str], limits: RequestLimits) -> Iterator[list[str]]:
    """Group texts that each fit, in their order, into requests as large as the limits allow."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        more = most_tokens(text)
        if batch and (len(batch) == limits.inputs or tokens + more > limits.tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += more
    if batch:
        yield batch
