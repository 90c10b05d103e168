"""Cutting a source into parts that a model reads one at a time."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgagent.ingestion.source import Source
from kgagent.models.llm_context import estimated_tokens

CONTEXT_TOKENS = 200
"""Tokens at the most that a part repeats of what stands before it."""

_ENDS = (
    (re.compile(r"\n+"), "\n"),
    (re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])"), " "),
    (re.compile(r"\s+"), " "),
)
"""Where a piece that is too long is cut, at lines, else after sentences, else between words; and how it is joined."""


@dataclass(frozen=True)
class Part:
    """A part of a source.

    Attributes:
        position: from 0.
        text: what it says.
        before: the end of the part before it; empty for the first.
    """

    position: int
    text: str
    before: str

    @property
    def fingerprint(self) -> str:
        """The same for parts of the same text, in whichever version of a source they stand."""
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class _Piece:
    """A piece of a text, and what stands between it and the one before it."""

    joint: str
    text: str


def cut(source: Source, part_tokens: int) -> tuple[Part, ...]:
    """Cut by turns or paragraphs; one that is too long by lines, sentences, words, and last by characters.

    Args:
        source: what to cut.
        part_tokens: estimated tokens of a part at the most.
    """
    units, joint = ([str(turn) for turn in source.turns], "\n") if source.turns else (_paragraphs(source.text), "\n\n")
    pieces = (piece for unit in units for piece in _pieces(_Piece(joint, unit), part_tokens, _ENDS))
    texts = [piece.text for piece in _packed(pieces, part_tokens)]
    ends = ["", *(_end(text) for text in texts[:-1])]
    return tuple(Part(position, text, ends[position]) for position, text in enumerate(texts))


def _paragraphs(text: str) -> list[str]:
    return [paragraph.strip() for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _packed(pieces: Iterable[_Piece], most: int) -> Iterator[_Piece]:
    """Join pieces, in their order, as long as there is room."""
    held: _Piece | None = None
    tokens = 0
    for piece in pieces:
        cost = estimated_tokens(piece.joint + piece.text)
        if held is None or tokens + cost > most:
            if held is not None:
                yield held
            held, tokens = piece, cost
        else:
            held, tokens = _Piece(held.joint, held.text + piece.joint + piece.text), tokens + cost
    if held is not None:
        yield held


def _pieces(whole: _Piece, most: int, ends: Sequence[tuple[re.Pattern[str], str]]) -> Iterator[_Piece]:
    """Pieces that are short enough, as few as the places to cut allow."""
    if estimated_tokens(whole.text) <= most:
        yield whole
    elif ends:
        (pattern, joint), *others = ends
        parts = [part for part in pattern.split(whole.text) if part]
        named = (_Piece(joint if place else whole.joint, part) for place, part in enumerate(parts))
        yield from _packed((piece for part in named for piece in _pieces(part, most, others)), most)
    else:
        # Even a character beyond ASCII counts two tokens at the most.
        size = max(1, most // 2)
        for start in range(0, len(whole.text), size):
            yield _Piece("" if start else whole.joint, whole.text[start : start + size])


def _end(text: str) -> str:
    """The last lines of a part, or of its last line the last words."""
    lines = _fitting(text.splitlines(), "\n", estimated_tokens)
    return lines or _fitting(text.split(), " ", estimated_tokens)


def _fitting(items: list[str], joint: str, count: Callable[[str], int]) -> str:
    kept: list[str] = []
    left = CONTEXT_TOKENS
    for item in reversed(items):
        left -= count(joint + item)
        if left < 0:
            break
        kept.append(item)
    return joint.join(reversed(kept))
