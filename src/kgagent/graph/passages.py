"""The passages of the text of a source."""

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from kgagent.text_parts import TextPart, split_text

PASSAGE_LENGTH = 1_000
"""Characters of a passage: about 250 tokens, which embedding models read in full."""

_TURN = re.compile(r"^([^\s:][^:\n]{0,60}?)(?: \([^)\n]{0,40}\))?: ", re.MULTILINE)
"""The beginning of a line with the name of a speaker, perhaps with a time."""


@lru_cache(maxsize=32)
def passages_of(text: str) -> tuple[TextPart, ...]:
    """The passages of a text, in order; none has parts of two turns of a conversation."""
    if not text.strip():
        return ()
    turns = [*_turns(text), len(text)]
    return tuple(
        TextPart(start + part.start, part.text)
        for start, end in pairwise(turns)
        for part in split_text(text[start:end], PASSAGE_LENGTH)
    )


def _turns(text: str) -> list[int]:
    """Where the turns of a conversation begin; a text that does not begin with a turn has one."""
    found = list(_TURN.finditer(text))
    if not found or text[: found[0].start()].strip():
        return [0]
    counts = Counter(match[1] for match in found)
    return sorted({0, *(match.start() for match in found if counts[match[1]] > 1)})
