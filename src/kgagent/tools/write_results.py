"""Answers of tools that write: short, with the records on request, and never longer than a token
budget.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field

from kgagent.answers.items import Item, NodeItem, NoteItem, RelationshipItem, RenderState
from kgagent.answers.page import Content, text_page
from kgagent.answers.safe_text import safe_text
from kgagent.answers.safe_triplet import safe_triplet
from kgagent.answers.token_budget import RECORD_TOKENS, estimated_tokens, fit_record, json_tokens
from kgagent.formatting import beginning, counted, in_one_line
from kgagent.graph.graph_writes import RelationshipWriteResult
from kgagent.graph.history import is_extension
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.reference_forms import message_key
from kgagent.graph.writes import WriteResult
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.free_types import is_extended
from kgagent.models.graph import GraphModel
from kgagent.ontology import Ontology
from kgagent.tools.base import ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import Payload

TEXT_TOKENS = 2_000
"""Tokens of an answer with records as text; the records get at least a quarter of them."""

PAYLOAD_TOKENS = 20_000
"""Tokens of a payload; beyond that records are omitted."""

SHORTEST_LINE = 6
"""Tokens of the shortest line of an item."""

MAX_OLD_TEXT = 200
"""Characters of a replaced text, or of a description, that an answer repeats."""

WrittenRecord = GraphNode | GraphRelationship


class NoteExpiry(GraphModel):
    """Notes that expire at the same time."""

    expires_at: datetime
    notes: int

    def __str__(self) -> str:
        """The expiry in one line: "Expiry of 2 notes: 2026-01-08"."""
        return f"Expiry of {counted(self.notes, 'note')}: {self.expires_at:%Y-%m-%d}"


class WriteToolResult(ToolResult):
    """What a tool wrote: short as text; a record in the payload has its newest notes and counts
    `omitted_notes`.

    Attributes:
        text_fields: attributes that are lines of the text.
        written: the records after the write, or before a deletion. Not part of the payload.
        records: the same if the call was verbose and no other attribute has the record.
        details: the records as text, if the call was verbose. Not part of the payload.
    """

    text_fields: ClassVar[tuple[str, ...]] = ()

    written: tuple[WrittenRecord, ...] = Field((), exclude=True, repr=False)
    details: str = Field("", exclude=True, repr=False)
    records: tuple[WrittenRecord, ...] | None = None

    def to_dict(self) -> Payload:
        """As JSON types, with the records within their token budgets."""
        payload = super().to_dict()
        for name in ("relationship", "node"):
            # A character of ASCII is at most one token, so most records need not be counted.
            if len(json.dumps(payload.get(name))) > RECORD_TOKENS:
                fit_record(payload, name, RECORD_TOKENS)
        if (records := payload.pop("records", None)) is None:
            return payload
        kept: list[Payload] = []
        left = PAYLOAD_TOKENS - json_tokens(payload)
        for record in records:
            holder = {"record": record}
            left -= fit_record(holder, "record", min(RECORD_TOKENS, left))
            kept += holder.values()
        return {**payload, "records": kept} if kept else payload

    def short_text(self) -> str:
        """What was written, without the records, and when new notes expire."""
        values = {name: getattr(self, name) for name in self.text_fields}
        if isinstance(relationship := getattr(self, "relationship", None), GraphRelationship):
            values["triplet"] = safe_triplet(relationship)
        lines = [
            f"{name}: {safe_text(value) if isinstance(value, str) else json.dumps(value)}"
            for name, value in values.items()
            if value is not None
        ]
        return "\n".join(
            [self.message, *lines, *map(str, getattr(self, "note_expiries", None) or ())]
        )

    def to_text(self) -> str:
        """What was written, and the records if the call was verbose."""
        return "\n".join(filter(None, (self.short_text(), self.details)))

    async def detailed(self, context: ToolContext) -> "WriteToolResult":
        """This answer with the records."""
        room = max(TEXT_TOKENS - estimated_tokens(self.short_text()), TEXT_TOKENS // 4)
        added: dict[str, object] = {"details": await records_text(context, self.written, room)}
        values = (getattr(self, name, None) for name in ("node", "relationship"))
        if not any(isinstance(value, WrittenRecord) for value in values):
            added["records"] = self.written
        return self.model_copy(update=added)


class WrittenRelationship(WriteToolResult):
    """A relationship after a write.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
        replaced: what was replaced, by field; None if nothing was.
        ended: the facts that it ended.
        hint: what may have to be corrected too.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("triplet", "embedding_regenerated")

    embedding_regenerated: bool
    triplet: str
    relationship: GraphRelationship
    replaced: dict[str, str] | None = None
    ended: tuple[str, ...] | None = None
    hint: str | None = None
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def short_text(self) -> str:
        """What changed, the triplet, and when new notes expire; get_relationship reads the rest."""
        message, triplet, *others = super().short_text().split("\n")
        ended = (f"Ended: {fact}" for fact in self.ended or ())
        hints = (
            in_one_line(hint)
            for hint in (*ended, replaced_text(self.replaced or {}), self.hint)
            if hint
        )
        return "\n".join([message, triplet, *hints, *others])

    @classmethod
    def of(
        cls,
        written: RelationshipWriteResult,
        message: str,
        hint: str | None = None,
        replaced: Mapping[str, str] | None = None,
    ) -> "WrittenRelationship":
        """The result of a write."""
        return cls(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedded,
            triplet=written.record.triplet,
            relationship=written.record,
            written=(written.record,),
            replaced=dict(replaced) if replaced else None,
            ended=written.ended or None,
            hint=hint,
            note_expiries=new_expiries(written),
        )


async def records_text(context: ToolContext, records: Sequence[WrittenRecord], room: int) -> str:
    """The records as a model reads them, with all their notes if there is one record; what is cut
    is counted.

    Args:
        context: the user's graph.
        records: the records.
        room: maximum number of tokens.
    """
    if not records:
        return ""
    items = (
        _items_of_one(records[0]) if len(records) == 1 else [_item(record) for record in records]
    )
    keys = {
        key: message_key(key) for item in items[: room // SHORTEST_LINE] for key, _ in item.names()
    }

    def new_state() -> RenderState:
        return RenderState(
            now=context.write_context.clock(),
            keys=keys,
            defaults=context.ontology.relationship_defaults,
        )

    page = text_page(Content(items=items, empty=""), new_state, room)
    is_cut = len(records) == 1 and len(page.payload.get("notes", ())) < len(records[0].notes)
    can_read = isinstance(records[0], GraphRelationship) and context.offers("get_relationship")
    return f"{page.text}; get_relationship reads all" if is_cut and can_read else page.text


def expiries(notes: Iterable[Note]) -> tuple[NoteExpiry, ...]:
    """When notes expire, the earliest first; notes without expiry are not counted."""
    counts = Counter(note.expires_at for note in notes if note.expires_at is not None)
    return tuple(NoteExpiry(expires_at=moment, notes=counts[moment]) for moment in sorted(counts))


def new_notes(written: WriteResult[Any]) -> list[Note]:
    """The notes that a write added, changed or extended."""
    stored = (
        set()
        if written.stored is None
        else {(note.identity, note.expires_at) for note in written.stored.notes}
    )
    return [note for note in written.record.notes if (note.identity, note.expires_at) not in stored]


def new_expiries(written: WriteResult[Any]) -> tuple[NoteExpiry, ...] | None:
    """When the notes expire that a write added or extended; None if they never do."""
    return expiries(new_notes(written)) or None


def replaced_values(written: WriteResult[Any], ontology: Ontology) -> dict[str, str]:
    """What a write replaced or removed, by field: the beginning of texts, and levels as words."""
    stored, record = written.stored, written.record
    if stored is None:
        return {}
    if isinstance(record, GraphNode):
        old: dict[str, str | int | None] = {
            name: stored.text(name) for name in ("name", "description")
        }
    else:
        levels = {name: stored.level(name) for name in LEVEL_FIELDS}
        old = {
            "relationship_type": stored.text("relationship_type"),
            **levels,
            "description": stored.text("description"),
            "when": stored.text("when"),
        }
    replaced = {
        name: value
        for name, value in old.items()
        if value
        and (new := getattr(record, name)) != value
        and not is_extension(name, str(value), str(new))
    }
    return {
        name: value[:MAX_OLD_TEXT]
        if isinstance(value, str)
        else ontology.word(record.neo4j_type, name, value) or str(value)
        for name, value in replaced.items()
    }


def replaced_text(replaced: Mapping[str, str]) -> str:
    """What was replaced, which the history keeps; empty if nothing was."""
    values = ", ".join(f"{name} {value!r}" for name, value in replaced.items())
    return f"Replaced: {values}" if values else ""


def added_type(written: RelationshipWriteResult, description: str | None) -> str | None:
    """A hint that a type was added to those of a relationship, and how to replace them instead.

    Args:
        written: what was written.
        description: what the caller gave with the type.
    """
    old = "" if written.stored is None else written.stored.text("relationship_type")
    if not is_extended(old, written.record.relationship_type):
        return None
    is_noted = bool(description) and description != written.record.description
    noted = ", and the new description is a note" if is_noted else ""
    return (
        f"Its type is now {written.record.relationship_type!r}{noted}; if {old!r} ended, repeat it "
        f"with replaces"
    )


def kept_description(written: RelationshipWriteResult, replaced: Mapping[str, str]) -> str | None:
    """A hint that the type or a level was replaced but not the description, which the caller did
    not give.
    """
    description = written.record.description
    if not description or not replaced.keys() - {"description"}:
        return None
    return f"Kept description: {beginning(description, MAX_OLD_TEXT)!r}; check that it still holds"


def _items_of_one(record: WrittenRecord) -> list[Item]:
    return [_item(record.model_copy(update={"notes": ()})), *map(NoteItem, reversed(record.notes))]


def _item(record: WrittenRecord) -> Item:
    return (
        NodeItem(record, "node")
        if isinstance(record, GraphNode)
        else RelationshipItem(record, "relationship")
    )
