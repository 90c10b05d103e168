"""Splits a source into parts that a model reads one at a time."""

import hashlib
from dataclasses import dataclass

from langchain_text_splitters import RecursiveCharacterTextSplitter

from kgagent.answers.token_budget import estimated_tokens
from kgagent.ingestion.source import Source

PRECEDING_CHARACTERS = 600
"""Characters of the previous part that a part repeats as context."""

_SEPARATORS = ["\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", " ", ""]  # noqa: RUF001


@dataclass(frozen=True)
class Part:
    """A part of a source.

    Attributes:
        number: position in the source, from 1.
        text: the text of the part.
        preceding_text: the end of the previous part; empty for the first.
    """

    number: int
    text: str
    preceding_text: str

    @property
    def fingerprint(self) -> str:
        """Hash of the text; equal for parts with the same text in any version of a source."""
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]


def split_source(source: Source, part_tokens: int) -> tuple[Part, ...]:
    """Split by turns or paragraphs. Longer ones are split by lines, sentences, words and finally
    characters.

    Args:
        source: the source.
        part_tokens: maximum size of a part, in estimated tokens.
    """
    splitter = RecursiveCharacterTextSplitter(
        separators=_SEPARATORS,
        keep_separator="end",
        chunk_size=part_tokens,
        chunk_overlap=0,
        length_function=estimated_tokens,
    )
    texts = splitter.split_text("\n\n".join(map(str, source.turns)) or source.text)
    preceding = ["", *(text[-PRECEDING_CHARACTERS:] for text in texts[:-1])]
    return tuple(
        Part(number, text, before)
        for number, (text, before) in enumerate(zip(texts, preceding, strict=True), 1)
    )
