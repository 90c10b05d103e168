"""Splits a source into parts that a model reads one at a time."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgagent.answers.token_budget import estimated_tokens
from kgagent.ingestion.source import Source

MAX_PRECEDING_TOKENS = 200
"""Maximum number of tokens of the previous part that a part repeats as context."""

_BOUNDARIES = tuple(
    map(
        re.compile,
        (
            r"(?<=\n)(?=[^\S\n]*\S)",
            r"(?<=[.!?]\s)(?=\S)|(?<=[\u3002\uff01\uff1f])(?=\S)",
            r"(?<=\s)(?=\S)",
        ),
    )
)
"""Where text that is too long is split, in this order: lines, sentences, words."""


@dataclass(frozen=True)
class SourcePart:
    """A part of a source.

    Attributes:
        position: position in the source, from 0.
        text: the text of the part.
        preceding_text: the end of the previous part; empty for the first.
    """

    position: int
    text: str
    preceding_text: str

    @property
    def fingerprint(self) -> str:
        """Hash of the text; equal for parts with the same text in any version of a source."""
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]


def split_source(source: Source, part_tokens: int) -> tuple[SourcePart, ...]:
    """Split by turns or paragraphs. Longer ones are split by lines, sentences, words and finally
    characters.

    Args:
        source: the source.
        part_tokens: maximum size of a part, in estimated tokens.
    """
    paragraphs = re.findall(r"\S.*?(?:\n\s*\n|\Z)", source.text, re.DOTALL)
    units = [f"{turn}\n" for turn in source.turns] or paragraphs
    pieces = (piece for unit in units for piece in _split(unit, part_tokens, _BOUNDARIES))
    texts = [text for packed in _packed(pieces, part_tokens) if (text := packed.strip())]
    preceding = ["", *(_end_of(text) for text in texts[:-1])]
    return tuple(
        SourcePart(position, text, preceding[position]) for position, text in enumerate(texts)
    )


def _packed(pieces: Iterable[str], max_tokens: int) -> Iterator[str]:
    """Join consecutive pieces as long as the result fits."""
    packed, tokens = "", 0
    for piece in pieces:
        cost = estimated_tokens(piece)
        if packed and tokens + cost > max_tokens:
            yield packed
            packed, tokens = "", 0
        packed += piece
        tokens += cost
    if packed:
        yield packed


def _split(text: str, max_tokens: int, boundaries: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Split into as few pieces that fit as the boundaries allow."""
    if estimated_tokens(text) <= max_tokens:
        yield text
    elif boundaries:
        pieces = (
            part
            for piece in boundaries[0].split(text)
            for part in _split(piece, max_tokens, boundaries[1:])
        )
        yield from _packed(pieces, max_tokens)
    else:
        # A character counts at most two tokens, even outside ASCII.
        size = max(1, max_tokens // 2)
        for start in range(0, len(text), size):
            yield text[start : start + size]


def _end_of(text: str) -> str:
    """The last lines of a part; if the last line is too long, its last words."""
    return _last_fitting(text.splitlines(), "\n") or _last_fitting(text.split(), " ")


def _last_fitting(items: list[str], separator: str) -> str:
    fitting: list[str] = []
    remaining = MAX_PRECEDING_TOKENS
    for item in reversed(items):
        remaining -= estimated_tokens(separator + item)
        if remaining < 0:
            break
        fitting.append(item)
    return separator.join(reversed(fitting))
