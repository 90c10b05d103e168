"""Answers of tools that write: short, with the records on request, and never longer than a token budget."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from pydantic import Field

from kgagent.graph.reference_forms import message_key
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.answer_items import Item, NodeItem, NoteItem, RelationshipItem, RenderState
from kgagent.models.answer_page import Content, text_page
from kgagent.models.token_budget import RECORD_TOKENS, fit_record
from kgagent.tools.base import ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import Payload

TEXT_TOKENS = 2_000
"""Tokens of the records as text."""

PAYLOAD_TOKENS = 20_000
"""Tokens of all records of a payload; beyond that records are omitted."""

SHORTEST_LINE = 6
"""Tokens of the shortest line of an item."""

WrittenRecord = GraphNode | GraphRelationship


class WriteToolResult(ToolResult):
    """What a tool wrote: short as text; a record in the payload has its newest notes and counts `omitted_notes`.

    Attributes:
        written: the records after the write, or before a deletion. Not part of the payload.
        details: the records as text, if the call was verbose. Not part of the payload.
    """

    record_fields: ClassVar[tuple[str, ...]] = ("relationship", "node")

    written: tuple[WrittenRecord, ...] = Field((), exclude=True, repr=False)
    details: str = Field("", exclude=True, repr=False)

    def short_text(self) -> str:
        """What was written, without the records."""
        return super().to_text()

    def to_text(self) -> str:
        """What was written, and the records if the call was verbose."""
        return "\n".join(filter(None, (self.short_text(), self.details)))

    async def detailed(self, context: ToolContext) -> "WriteToolResult":
        """This answer with the records."""
        added: dict[str, object] = {"details": await records_text(context, self.written)}
        if "records" in type(self).model_fields:
            added["records"] = self.written
        return self.model_copy(update=added)


class WriteToolResultWithRecords(WriteToolResult):
    """What a tool wrote whose payload has the records only if the call is verbose.

    Attributes:
        records: the records after the write, or before a deletion, if the call was verbose.
    """

    records: tuple[WrittenRecord, ...] | None = None

    def to_dict(self) -> Payload:
        """As JSON types, within the token budget."""
        payload = super().to_dict()
        holders = [{"record": record} for record in payload.pop("records", ())]
        fit_records(holders, "record")
        kept = [holder["record"] for holder in holders if "record" in holder]
        return {**payload, "records": kept} if kept else payload


def fit_records(holders: Iterable[Payload], name: str) -> None:
    """Cut the records of several holders, which have a token budget together."""
    left = PAYLOAD_TOKENS
    for holder in holders:
        if name in holder:
            left -= fit_record(holder, name, min(RECORD_TOKENS, left))


async def records_text(context: ToolContext, records: Sequence[WrittenRecord]) -> str:
    """The records as a model reads them, with all their notes if there is one record; what is cut is counted."""
    if not records:
        return ""
    items = _items_of_one(records[0]) if len(records) == 1 else [_item(record) for record in records]
    keys = [key for item in items[: TEXT_TOKENS // SHORTEST_LINE] for key in item.entity_keys()]
    short = {key: message_key(key) for key in keys}

    def new_state() -> RenderState:
        return RenderState(
            now=context.write_context.clock(), short_keys=short, defaults=context.ontology.relationship_defaults
        )

    page = text_page(Content(items=items, empty=""), new_state, TEXT_TOKENS)
    is_cut = len(records) == 1 and len(page.payload.get("notes", ())) < len(records[0].notes)
    can_read = isinstance(records[0], GraphRelationship) and context.offers("get_relationship")
    return f"{page.text}; get_relationship reads all" if is_cut and can_read else page.text


def _items_of_one(record: WrittenRecord) -> list[Item]:
    return [_item(record.model_copy(update={"notes": ()})), *map(NoteItem, reversed(record.notes))]


def _item(record: WrittenRecord) -> Item:
    return NodeItem(record, "node") if isinstance(record, GraphNode) else RelationshipItem(record, "relationship")
