"""read_source: the text of a source, passage by passage."""

import asyncio
from dataclasses import dataclass

from pydantic import Field

from kgagent.answers.items import Item, JsonRecord, Line, RenderState, owner_text
from kgagent.answers.page import Content
from kgagent.answers.safe_text import safe_name, safe_text
from kgagent.answers.trust_mark import trust_mark
from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.models.fields import EntityKey, FilledText
from kgagent.names import contains_quote, plain_words
from kgagent.text_parts import TextPart
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page
from kgagent.tools.references import NodeReference
from kgagent.trust import Trust


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
        passages: each with its text and the position of its first character in the source.
    """

    source: NodeReference
    said_on: str | None = None
    trust: Trust | None = None
    passages: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class _PassageItem(Item):
    """A passage in one line."""

    part: TextPart

    def lines(self, state: RenderState) -> list[Line]:
        """The position and the words of the passage."""
        head, text = f"- {self.part.start}", safe_text(self.part.text)
        return [Line(head, text, cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The passage with its position."""
        return [("passages", {"start": self.part.start, "text": self.part.text})]


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
        parts = await asyncio.to_thread(passages_of, record.text(SOURCE_TEXT))
        if not parts:
            raise InputError(
                f"{beginning(node.name, 80)} has no text. `kgagent load` and graph.add_source "
                f"store the text of a source"
            )
        first = 0 if arguments.around is None else _nearest(parts, arguments.around)
        said_on = record.text("said_on") or None
        said = f", said {safe_text(said_on)}" if said_on else ""
        said += trust_mark(node.trust)
        kind = ", ".join(filter(None, (node.label, owner_text(node))))
        shown = f"passages {first + 1} to {len(parts)}"
        content = Content(
            items=[_PassageItem(part) for part in parts[first:]],
            message=f"{safe_name(node.name)} has {counted(len(parts), 'passage')}",
            opening=f"{safe_name(node.name)} ({kind}){said}, {shown}:",
            sections=("passages",),
            fields={
                "source": NodeReference.of(node).to_dict(),
                **({"said_on": said_on} if said_on else {}),
                **({"trust": node.trust} if node.trust else {}),
            },
        )
        return await render_page(ReadText, context, arguments, content)


def _nearest(parts: tuple[TextPart, ...], around: str) -> int:
    """The position of the first passage that contains a text, else of the one with most of its
    words.

    Raises:
        InputError: no passage has any of them.
    """
    asked = set(plain_words(around))
    shared = [
        len(asked) + 1
        if contains_quote(part.text, around)
        else len(asked.intersection(plain_words(part.text)))
        for part in parts
    ]
    if not any(shared):
        raise InputError(
            f"No passage has any word of {around!r}. Omit around to read from the start"
        )
    return shared.index(max(shared))
