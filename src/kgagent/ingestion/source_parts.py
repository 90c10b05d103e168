"""Splits a source into parts that a model reads one at a time."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgagent.ingestion.source import Source
from kgagent.models.token_budget import estimated_tokens

MAX_PRECEDING_TOKENS = 200
"""Maximum number of tokens of the previous part that a part repeats as context."""

_SPLIT_POINTS = (
    (re.compile(r"\n+"), "\n"),
    (re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])"), " "),
    (re.compile(r"\s+"), " "),
)
"""Where text that is too long is split, in this order: lines, sentences, words; each with the separator to rejoin."""


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


@dataclass(frozen=True)
class _Piece:
    """A piece of text, and the separator between it and the previous piece."""

    separator: str
    text: str


def split_source(source: Source, part_tokens: int) -> tuple[SourcePart, ...]:
    """Split by turns or paragraphs. Longer ones are split by lines, sentences, words and finally characters.

    Args:
        source: the source.
        part_tokens: maximum size of a part, in estimated tokens.
    """
    units, separator = (
        ([str(turn) for turn in source.turns], "\n") if source.turns else (_paragraphs(source.text), "\n\n")
    )
    pieces = (piece for unit in units for piece in _split(_Piece(separator, unit), part_tokens, _SPLIT_POINTS))
    texts = [piece.text for piece in _packed(pieces, part_tokens)]
    preceding = ["", *(_end_of(text) for text in texts[:-1])]
    return tuple(SourcePart(position, text, preceding[position]) for position, text in enumerate(texts))


def _paragraphs(text: str) -> list[str]:
    return [paragraph.strip() for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _packed(pieces: Iterable[_Piece], max_tokens: int) -> Iterator[_Piece]:
    """Join consecutive pieces as long as the result fits."""
    packed: _Piece | None = None
    tokens = 0
    for piece in pieces:
        cost = estimated_tokens(piece.separator + piece.text)
        if packed is None or tokens + cost > max_tokens:
            if packed is not None:
                yield packed
            packed, tokens = piece, cost
        else:
            packed, tokens = _Piece(packed.separator, packed.text + piece.separator + piece.text), tokens + cost
    if packed is not None:
        yield packed


def _split(whole: _Piece, max_tokens: int, split_points: Sequence[tuple[re.Pattern[str], str]]) -> Iterator[_Piece]:
    """Split into as few pieces that fit as the split points allow."""
    if estimated_tokens(whole.text) <= max_tokens:
        yield whole
    elif split_points:
        (pattern, separator), *others = split_points
        texts = [text for text in pattern.split(whole.text) if text]
        pieces = (_Piece(separator if index else whole.separator, text) for index, text in enumerate(texts))
        yield from _packed((part for piece in pieces for part in _split(piece, max_tokens, others)), max_tokens)
    else:
        # A character counts at most two tokens, even outside ASCII.
        size = max(1, max_tokens // 2)
        for start in range(0, len(whole.text), size):
            yield _Piece("" if start else whole.separator, whole.text[start : start + size])


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
