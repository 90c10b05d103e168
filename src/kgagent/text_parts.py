"""Splits a text into parts where a reader would: before headings and turns, between paragraphs,
after sentences.
"""

from dataclasses import dataclass

_ENDS_OF_SENTENCES = "[.!?…؟।]"
_CLOSING = "[\"'”’»)\\]]*"  # noqa: RUF001

_SEPARATORS = (
    # A heading of Markdown follows.
    r"\n(?=#{1,6} )",
    # A turn follows: a short name, perhaps a time in parentheses, and a colon.
    r"\n(?=[^\s:][^:\n]{0,60}(?:\([^)\n]{0,40}\))?: )",
    r"\n\s*\n",
    # A dot after one or two letters rather belongs to an abbreviation or an initial.
    rf"(?<!\b\w)(?<!\b\w\w){_ENDS_OF_SENTENCES}{_CLOSING}\s+|[。！？][”’」』）]*",  # noqa: RUF001
    rf"{_ENDS_OF_SENTENCES}{_CLOSING}\s+",
    r"\n+",
    r"\s+",
)
"""Where a text is split, best first; each text between two of them is split further only if it is
too long.
"""


@dataclass(frozen=True)
class TextPart:
    """A part of a text, without surrounding white space.

    Attributes:
        start: position in the text: `text[start : start + len(part.text)]` is the part.
        text: the part.
    """

    start: int
    text: str


def split_text(text: str, size: int) -> tuple[TextPart, ...]:
    """Split a text into parts that follow each other and contain all of it but white space.

    A part ends before a heading of Markdown, before a turn of a conversation, between paragraphs or
    after a sentence. Only a sentence that is too long is split, at a line, a space, or anywhere.

    Args:
        text: the text; blank texts have no parts.
        size: maximum number of characters of a part, at least 1.
    """
    # A text splitter takes a quarter of a second to import.
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        # What has no white space either is cut into pieces.
        separators=[*_SEPARATORS, rf"(?s:.{{1,{size}}})"],
        is_separator_regex=True,
        keep_separator="end",
        strip_whitespace=False,
        chunk_size=size,
        chunk_overlap=0,
    )
    parts, end = [], 0
    for piece in splitter.split_text(text):
        start = end + len(piece) - len(piece.lstrip())
        end += len(piece)
        if part := piece.strip():
            parts.append(TextPart(start, part))
    return tuple(parts)
