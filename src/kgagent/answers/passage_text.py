"""The sentences of a passage that an answer quotes."""

from collections.abc import Collection

from kgagent.names import plain_words
from kgagent.text_parts import split_text

SENTENCE_LENGTH = 160
"""Characters up to which sentences that follow each other are quoted together."""

QUOTED_LENGTH = 320
"""Characters of a passage that an answer quotes, unless its only sentence is longer."""


def quoted(text: str, asked: Collection[str]) -> str:
    """The sentences of a passage with most of the words that were asked for, in their order; what
    follows a question is quoted with it.

    Args:
        text: the passage.
        asked: words in lower case; without any of them the passage is quoted from its beginning.
    """
    sentences = split_text(text, SENTENCE_LENGTH)
    counts = [len(set(plain_words(one.text)).intersection(asked)) for one in sentences]
    best = sorted(range(len(sentences)), key=lambda at: -counts[at])
    chosen: set[int] = set()
    length = 0
    for at in best:
        has_answer = sentences[at].text.endswith("?") and at + 1 < len(sentences)
        new = {at, at + 1 if has_answer else at} - chosen
        length += sum(len(sentences[one].text) for one in new)
        if chosen and length > QUOTED_LENGTH:
            break
        chosen |= new
    quote, before = "", -1
    for at in sorted(chosen):
        quote += (" … " if at > before + 1 else " ") + sentences[at].text
        before = at
    return f"{quote.strip()}{' …' if before + 1 < len(sentences) else ''}"
