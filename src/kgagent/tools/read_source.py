"""read_source: the text of a source, passage by passage."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import Field

from kgagent.answers.items import Item, JsonRecord, Line, RenderState, owner_text
from kgagent.answers.page import Content
from kgagent.answers.safe_text import safe_name, safe_section, safe_text
from kgagent.answers.token_budget import json_tokens
from kgagent.answers.trust_mark import trust_mark
from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted
from kgagent.graph.passages import SourcePassage, passages_of
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.models.fields import EntityKey, FilledText
from kgagent.models.passage import in_section
from kgagent.names import contains_quote, plain_words
from kgagent.text_parts import split_text
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import (
    JsonObject,
    ReadArguments,
    ReadToolResult,
    cursor_offset,
    render_page,
)
from kgagent.tools.references import NodeReference
from kgagent.trust import Trust

SHORTEST_PART = 40
"""Characters of a passage that are not divided further, whatever the budget is."""


class ReadSourceArguments(ReadArguments):
    """Arguments of read_source."""

    entity_key: EntityKey = Field(description="The source: entity_key or name.")
    around: FilledText | None = Field(None, description="Words of the passage to begin at.")


class ReadText(ReadToolResult):
    """The passages of a source in their order.

    Attributes:
        source: the source.
        said_on: its date, in EDTF; None if that is not known.
        trust: class of its text; None: own.
        passages: each with its text, the headings above it or its speaker (`section`), and the
            position of its first character in the source; a long one in several parts.
    """

    source: NodeReference
    said_on: str | None = None
    trust: Trust | None = None
    passages: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class _PassageItem(Item):
    """A passage, or a part of one, in one line."""

    part: SourcePassage

    def lines(self, state: RenderState) -> list[Line]:  # noqa: ARG002
        """The position and the words of the passage, behind its section."""
        text = in_section(safe_text(self.part.text), safe_section(self.part.section))
        return [Line(f"- {self.part.start}", text)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The passage with its position and section."""
        return [("passages", {name: one for name, one in asdict(self.part).items() if one != ""})]


class ReadSource(Tool[ReadSourceArguments]):
    """Reads the text of a source."""

    name = "read_source"
    arguments = ReadSourceArguments
    result = ReadText
    read_only = True
    text = "Read the words of a source, such as a conversation or a document, in order."

    async def run(self, context: ToolContext, arguments: ReadSourceArguments) -> ReadText:
        """Read the text from its beginning, or from the passage with some words."""
        key = arguments.entity_key
        record = (await context.nodes.read(context.user_id, [key])).get(key)
        if record is None:
            raise NodeNotFoundError(f"Node not found: {key}")
        node = record.to_model(context.ontology)
        text = record.text(SOURCE_TEXT)
        parts = await asyncio.to_thread(passages_of, text)
        if not parts:
            raise InputError(
                f"{beginning(node.name, 80)} has no text. `kgagent load` and graph.add_source "
                f"store the text of a source"
            )
        begin = cursor_offset(arguments, context)
        if arguments.around is not None and not begin:
            begin = parts[_nearest(parts, arguments.around)].start
        shown = _from(parts, begin, arguments.token_budget)
        if not shown:
            raise InputError("cursor is beyond the end of the text. Omit cursor")
        said_on = record.text("said_on") or None
        said = f", said {safe_text(said_on)}" if said_on else ""
        said += trust_mark(node.trust)
        kind = ", ".join(filter(None, (node.label, owner_text(node))))
        count = counted(len(parts), "passage")
        content = Content(
            items=list(map(_PassageItem, shown)),
            message=f"{safe_name(node.name)} has {count}",
            opening=f"{safe_name(node.name)} ({kind}){said}, {count}:",
            sections=("passages",),
            fields={
                "source": NodeReference.of(node).to_dict(),
                **({"said_on": said_on} if said_on else {}),
                **({"trust": node.trust} if node.trust else {}),
            },
        )
        places = [*(one.start for one in shown), len(text)]
        return await render_page(ReadText, context, arguments, content, places=places)


def _from(parts: Sequence[SourcePassage], begin: int, budget: int) -> list[SourcePassage]:
    """The passages from a position on, in parts that fit a budget as far as that reaches."""
    shown: list[SourcePassage] = []
    for part in parts:
        if rest := part.text[max(0, begin - part.start) :]:
            whole = replace(part, start=max(begin, part.start), text=rest)
            shown += _divided(whole, budget // 4) if len(shown) < budget else [whole]
    return shown


def _divided(part: SourcePassage, most: int) -> list[SourcePassage]:
    """A passage in parts of less than some tokens, so that no answer cuts it."""
    size = len(part.text)
    if size <= SHORTEST_PART or json_tokens(asdict(part)) < most:
        return [part]
    halves = split_text(part.text, size // 2)
    moved = (replace(part, start=part.start + one.start, text=one.text) for one in halves)
    return [smaller for half in moved for smaller in _divided(half, most)]


def _nearest(parts: Sequence[SourcePassage], around: str) -> int:
    """The position of the first passage that contains a text, else of the one with most of its
    words.

    Raises:
        InputError: no passage has any of them.
    """
    asked = set(plain_words(around))
    shared = [
        len(asked) + 1
        if contains_quote(text, around)
        else len(asked.intersection(plain_words(text)))
        for text in (in_section(part.text, part.section) for part in parts)
    ]
    if not any(shared):
        raise InputError(
            f"No passage has any word of {around!r}. Omit around to read from the start"
        )
    return shared.index(max(shared))
