"""The passages of the text of a source."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from kgagent.text_parts import TextPart, split_text

PASSAGE_LENGTH = 2_000
"""Characters of a passage: about 500 tokens, which embedding models read in full."""

EXCHANGE_LENGTH = 400
"""Characters up to which short turns are one passage, as a question and its answer, and headings a
part of the first one below them.
"""

_TURN = re.compile(r"^([^\s:#>*-][^:\n]{0,60}?)(?: \([^)\n]{0,40}\))?: ", re.MULTILINE)
"""The beginning of a line with the name of a speaker, perhaps with a time."""

_HEADING = re.compile(
    r"^(?P<fence>```|~~~)[^`\n]*$[\s\S]*?(?:^(?P=fence)|\Z)"
    r"|^ {0,3}(?P<level>#{1,6})[ \t]+(?P<title>[^\s#][^\n]{0,99}?)[ \t#\r]*$",
    re.MULTILINE,
)
"""A heading of Markdown; or code, which has none."""


@dataclass(frozen=True)
class SourcePassage(TextPart):
    """A passage of a text.

    Attributes:
        section: the headings above it, or who speaks; empty if it has neither.
    """

    section: str


class _Section(NamedTuple):
    """A turn, several short ones, or what stands below a heading.

    Attributes:
        start: position in the text.
        words: where its words begin, after its headings.
        name: the headings above these words, or who speaks; empty for none or several.
    """

    start: int
    words: int
    name: str


@lru_cache(maxsize=32)
def passages_of(text: str) -> tuple[SourcePassage, ...]:
    """The passages of a text, in order; of a conversation, a passage is a long turn or a part of
    one, or several short ones: an answer says little without its question. Otherwise it is a
    section of Markdown with its heading, or a part of one.
    """
    if not text.strip():
        return ()
    turns = _joined(_turns(text), len(text))
    return tuple(
        replace(passage, section="") if turns and _names_another(passage) else passage
        for one, after in pairwise([*(turns or _below_headings(text)), _Section(len(text), 0, "")])
        for passage in _passages(text, one, after.start)
    )


def _names_another(passage: SourcePassage) -> bool:
    """Whether a passage begins as a turn of somebody who speaks only once."""
    speaker = _TURN.match(passage.text)
    return speaker is not None and speaker[1] != passage.section


def _passages(text: str, section: _Section, end: int) -> list[SourcePassage]:
    """Those of a section that ends at a position; the first one begins with its headings."""
    start, words, name = section
    if words - start > EXCHANGE_LENGTH or not text[words:end].strip():
        words = start
    parts = split_text(text[words:end], PASSAGE_LENGTH - (words - start))
    passages = [SourcePassage(words + one.start, one.text, name) for one in parts]
    first = passages[0]
    whole = text[start : first.start + len(first.text)].lstrip()
    begin = first.start + len(first.text) - len(whole)
    return [SourcePassage(begin, whole, name), *passages[1:]]


def _joined(turns: Sequence[_Section], end: int) -> list[_Section]:
    """Where passages begin: a turn joins those before it as long as they are short together."""
    joined: list[_Section] = []
    for turn, after in pairwise([*turns, _Section(end, 0, "")]):
        if joined and after.start - joined[-1].start <= EXCHANGE_LENGTH:
            if joined[-1].name != turn.name:
                joined[-1] = joined[-1]._replace(name="")
        else:
            joined.append(turn)
    return joined


def _turns(text: str) -> list[_Section]:
    """The turns of a conversation; none if the text does not begin with one."""
    found = list(_TURN.finditer(text))
    if not found or text[: found[0].start()].strip():
        return []
    counts = Counter(match[1] for match in found)
    turns = [match for match in found if counts[match[1]] > 1]
    if not turns:
        return []
    if turns[0] is not found[0]:
        turns.insert(0, found[0])
    return [_Section(match.start(), match.start(), match[1]) for match in turns]


def _below_headings(text: str) -> list[_Section]:
    """The sections of Markdown; a heading with nothing below goes with what follows, or else with
    what stands before.
    """
    sections = [_Section(0, 0, "")]
    above: dict[int, str] = {}
    for match in _HEADING.finditer(text):
        if match["title"] is None:
            continue
        level = len(match["level"])
        above = {one: title for one, title in above.items() if one < level}
        above[level] = match["title"]
        start, words, _ = sections[-1]
        if text[words : match.start()].strip():
            start = match.start()
        else:
            sections.pop()
        sections.append(_Section(start, match.end(), " > ".join(above.values())))
    if len(sections) > 1 and not text[sections[-1].words :].strip():
        sections.pop()
    return sections
