"""The passages of the text of a source."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from kgagent.text_parts import TextPart, split_text

PASSAGE_LENGTH = 2_000
"""Characters of a passage: about 500 tokens, which embedding models read in full."""

EXCHANGE_LENGTH = 400
"""Characters up to which short turns are one passage: a question and its answer."""

_TURN = re.compile(r"^([^\s:#>*-][^:\n]{0,60}?)(?: \([^)\n]{0,40}\))?: ", re.MULTILINE)
"""The beginning of a line with the name of a speaker, perhaps with a time."""


@lru_cache(maxsize=32)
def passages_of(text: str) -> tuple[TextPart, ...]:
    """The passages of a text, in order; of a conversation, a passage is a long turn or a part of
    one, or several short ones: an answer says little without its question.
    """
    if not text.strip():
        return ()
    turns = [*_joined([*_turns(text), len(text)]), len(text)]
    return tuple(
        TextPart(start + part.start, part.text)
        for start, end in pairwise(turns)
        for part in split_text(text[start:end], PASSAGE_LENGTH)
    )


def _joined(bounds: Sequence[int]) -> list[int]:
    """Where passages begin: a turn joins those before it as long as they are short together."""
    begin: list[int] = []
    for start, end in pairwise(bounds):
        if not begin or end - begin[-1] > EXCHANGE_LENGTH:
            begin.append(start)
    return begin


def _turns(text: str) -> list[int]:
    """Where the turns of a conversation begin; a text that does not begin with a turn has one."""
    found = list(_TURN.finditer(text))
    if not found or text[: found[0].start()].strip():
        return [0]
    counts = Counter(match[1] for match in found)
    return sorted({0, *(match.start() for match in found if counts[match[1]] > 1)})
