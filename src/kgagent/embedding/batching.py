"""Truncates and groups texts so that each request stays within the limits of OpenAI's embeddings endpoint.

The number of tokens is bounded without a tokenizer: a byte-pair encoding never produces more tokens than the text
has UTF-8 bytes. The bound holds for any text, but requests are smaller than they could be (English text has about
four bytes a token).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kgagent.batches import split_by_size

TOKENS_PER_INPUT = 8_191
"""Maximum tokens of a text (OpenAI's embeddings guide)."""

_CONTINUATION_MASK = 0b1100_0000
_CONTINUATION_BYTE = 0b1000_0000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request (OpenAI's API reference of the embeddings endpoint).

    Attributes:
        inputs: maximum number of texts, from 1.
        tokens: maximum total tokens, at least `TOKENS_PER_INPUT`.
    """

    inputs: int = 2_048
    tokens: int = 300_000


def max_tokens(text: str) -> int:
    """Upper bound of the tokens of a text: its UTF-8 bytes."""
    return len(text.encode())


def truncate(text: str, *, tokens: int = TOKENS_PER_INPUT) -> str:
    """Return the longest prefix of whole characters that is certain to fit.

    Args:
        text: any text; a text that fits is returned unchanged.
        tokens: maximum number of tokens, at least 4, the bytes of the longest character.
    """
    encoded = text.encode()
    if len(encoded) <= tokens:
        return text
    end = tokens
    while encoded[end] & _CONTINUATION_MASK == _CONTINUATION_BYTE:
        end -= 1
    return encoded[:end].decode()


def split_batches(texts: Iterable[str], limits: RequestLimits) -> Iterator[list[str]]:
    """Group texts into requests as large as the limits allow, in order; each text must fit by itself."""
    return split_by_size(texts, max_tokens, max_size=limits.tokens, max_items=limits.inputs)
