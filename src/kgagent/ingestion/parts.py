"""Cutting a source into parts that a model reads one at a time."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgagent.ingestion.source import Source
from kgagent.models.llm_context import estimated_tokens

CONTEXT_TOKENS = 200
"""Tokens at the most that a part repeats of what stands before it."""

_ENDS = (re.compile(r"\n+"), re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])"), re.compile(r"\s+"))
"""Where a piece that is too long is cut: at line ends, else after sentences, else between words."""


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


def cut(source: Source, part_tokens: int) -> tuple[Part, ...]:
    """Cut by turns or paragraphs; one that is too long by lines, sentences, words, and last by characters.

    Args:
        source: what to cut.
        part_tokens: estimated tokens of a part at the most.
    """
    units, joint = ([str(turn) for turn in source.turns], "\n") if source.turns else (_paragraphs(source.text), "\n\n")
    texts = list(_packed((piece for unit in units for piece in _pieces(unit, part_tokens)), part_tokens, joint))
    ends = ["", *(_end(text) for text in texts[:-1])]
    return tuple(Part(position, text, ends[position]) for position, text in enumerate(texts))


def _paragraphs(text: str) -> list[str]:
    return [paragraph.strip() for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _packed(pieces: Iterator[str], most: int, joint: str) -> Iterator[str]:
    held, tokens = "", 0
    for piece in pieces:
        cost = estimated_tokens(joint + piece)
        if held and tokens + cost > most:
            yield held
            held, tokens = "", 0
        held, tokens = (held + joint + piece if held else piece), tokens + cost
    if held:
        yield held


def _pieces(text: str, most: int, ends: tuple[re.Pattern[str], ...] = _ENDS) -> Iterator[str]:
    """Pieces of a text that are short enough, as few as its places to cut allow."""
    if estimated_tokens(text) <= most:
        yield text
    elif ends:
        smaller = (piece for part in ends[0].split(text) if part for piece in _pieces(part, most, ends[1:]))
        yield from _packed(smaller, most, "\n" if ends is _ENDS else " ")
    else:
        # Even a character beyond ASCII counts two tokens at the most.
        size = max(1, most // 2)
        yield from (text[start : start + size] for start in range(0, len(text), size))


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
