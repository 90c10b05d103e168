"""describe_graph: the labels, relationship types and properties of the user's graph."""

import json
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from kgagent.answers.items import JsonRecord, Line, PlainItem
from kgagent.answers.page import Content
from kgagent.answers.safe_text import safe_text
from kgagent.models.constraint import Name
from kgagent.models.live_schema import LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema
from kgagent.ontology import Ontology
from kgagent.patterns.names import check_label
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.ontology_guide import ontology_guide
from kgagent.tools.pattern_guide import pattern_guide
from kgagent.tools.payload import Payload
from kgagent.tools.read_results import (
    BUDGET_DESCRIPTION,
    JsonObject,
    ReadArguments,
    ReadToolResult,
    render_page,
)

Topic = Literal["graph", "ontology", "patterns"]

MAX_PROPERTIES = 30
"""Properties of a label or type that details have."""

MAX_PAIRS = 10
"""Pairs of labels that are listed of a type in details."""


class DescribeGraphArguments(ReadArguments):
    """Arguments of describe_graph."""

    topic: Topic = Field(
        "graph",
        description="graph: what is stored; ontology: which labels can be related, and the words "
        "for attitude and "
        "proximity; patterns: worked examples of graph patterns.",
    )
    labels: list[Name] = Field(
        default_factory=list,
        max_length=50,
        description="For topic graph: only these labels and the types that connect them.",
    )
    token_budget: int = Field(4_000, ge=100, le=20_000, description=BUDGET_DESCRIPTION)


class GraphDescription(ReadToolResult):
    """What the user's graph contains, or a guide.

    Attributes:
        labels: labels of nodes: `label`, `count`, `or_more` (the count is a lower bound), `sampled`
            (not all nodes were examined), and `properties`: types and examples of values, by
            property.
        relationship_types: Neo4j types of relationships: `type`, the same, and `connects`: pairs of
            labels.
        notes: what is missing, and how to get it.
        guide: lines of the guide, for the topics ontology and patterns; `text` of the payload.
    """

    labels: tuple[JsonObject, ...] = ()
    relationship_types: tuple[JsonObject, ...] = ()
    notes: tuple[str, ...] | None = None
    guide: tuple[str, ...] = Field((), exclude=True)

    def to_dict(self) -> Payload:
        """As JSON types; a guide is a text."""
        payload = super().to_dict()
        if not self.guide:
            return payload
        for name in ("labels", "relationship_types"):
            del payload[name]
        if self.next_cursor is None:
            del payload["total"]
        return payload | {"text": "\n".join(self.guide)}


class DescribeGraph(Tool[DescribeGraphArguments]):
    """Describes the user's graph."""

    name = "describe_graph"
    arguments = DescribeGraphArguments
    result = GraphDescription
    read_only = True
    text = (
        "Describe the graph: labels and Neo4j relationship types with their counts, the labels "
        "that each type "
        "connects, and properties with data types and typical values."
    )

    async def run(
        self, context: ToolContext, arguments: DescribeGraphArguments
    ) -> GraphDescription:
        """Describe the current graph."""
        if arguments.topic == "patterns":
            return await self._guide(
                context, arguments, "How to write graph patterns", pattern_guide()
            )
        if arguments.topic == "ontology":
            return await self._guide(
                context, arguments, "The ontology", ontology_guide(context.ontology)
            )
        schema = await context.live_schema.read(context.user_id, fresh=True)
        if arguments.labels:
            schema = _restrict(arguments.labels, schema, context.ontology)
        notes = _notes(schema)
        message = (
            f"The graph has {len(schema.labels)} labels and {len(schema.relationship_types)} "
            f"relationship types"
        )
        content = Content(
            items=[
                *(_item("labels", {"label": label.name}, label) for label in schema.labels),
                *(
                    _item("relationship_types", {"type": kind.name}, kind)
                    for kind in schema.relationship_types
                ),
            ],
            message=message,
            opening=". ".join((message, *notes)),
            sections=("labels", "relationship_types"),
            fields={"notes": notes} if notes else {},
        )
        return await render_page(GraphDescription, context, arguments, content)

    async def _guide(
        self, context: ToolContext, arguments: DescribeGraphArguments, message: str, text: str
    ) -> GraphDescription:
        lines = [line for line in text.splitlines() if line.strip()]
        content = Content(
            items=[PlainItem(Line(line), "guide", line) for line in lines], message=message
        )
        return await render_page(GraphDescription, context, arguments, content)


def _item(section: str, record: JsonRecord, part: LiveLabel | LiveRelationshipType) -> PlainItem:
    """A label or a type; as a line `Label Person: 12; properties …`."""
    record["count"] = part.count
    if part.is_lower_bound:
        record["or_more"] = True
    if part.sampled:
        record["sampled"] = True
    if part.properties:
        record["properties"] = {
            item.name: _values(item) for item in part.properties[:MAX_PROPERTIES]
        }
    if isinstance(part, LiveRelationshipType) and part.pairs:
        pairs = part.pairs[:MAX_PAIRS]
        record["connects"] = [
            {"from": pair.from_label, "to": pair.to_label, "count": pair.count} for pair in pairs
        ]
    amount = (
        f"{part.count:,}{'+' if part.is_lower_bound else ''}{' (sampled)' if part.sampled else ''}"
    )
    connections = (
        f"{pair['from']} to {pair['to']} {pair['count']}" for pair in record.get("connects", ())
    )
    values = [f"{name} ({value})" for name, value in record.get("properties", {}).items()]
    parts = [amount, ", ".join(connections), f"properties {', '.join(values)}" if values else ""]
    head = f"{'Label' if section == 'labels' else 'Type'} {part.name}"
    return PlainItem(
        Line(safe_text(head), safe_text("; ".join(filter(None, parts)))), section, record
    )


def _values(item: LiveProperty) -> str:
    """Kinds and typical values in one line: `text: "open", "closed"`."""
    kinds = " or ".join(item.kinds) or "rare"
    if not item.examples:
        return kinds
    return f"{kinds}: {', '.join(json.dumps(value, ensure_ascii=False) for value in item.examples)}"


def _restrict(labels: Sequence[str], schema: LiveSchema, ontology: Ontology) -> LiveSchema:
    """The part of a schema that involves some labels.

    Raises:
        InputError: a label does not exist.
    """
    for label in labels:
        check_label(label, schema, ontology, "labels")
    kinds = []
    for kind in schema.relationship_types:
        pairs = tuple(pair for pair in kind.pairs if {pair.from_label, pair.to_label} & {*labels})
        if pairs:
            kinds.append(kind.model_copy(update={"pairs": pairs}))
    chosen = tuple(label for label in schema.labels if label.name in labels)
    return schema.model_copy(update={"labels": chosen, "relationship_types": tuple(kinds)})


def _notes(schema: LiveSchema) -> list[str]:
    """What the result omits, and how to get it."""
    notes = []
    if not schema.labels:
        notes.append(
            "No node belongs to this user; `kgagent adopt` makes a graph of other programs "
            "searchable"
        )
    parts: list[LiveLabel | LiveRelationshipType] = [*schema.labels, *schema.relationship_types]
    cut = any(len(part.properties) > MAX_PROPERTIES for part in parts)
    cut |= any(len(kind.pairs) > MAX_PAIRS for kind in schema.relationship_types)
    if cut:
        notes.append(
            f"At most {MAX_PROPERTIES} properties and {MAX_PAIRS} connections of each are shown"
        )
    if any(part.sampled for part in parts):
        notes.append("sampled: not all were read, so there may be more properties and connections")
    if any(part.is_lower_bound for part in parts):
        notes.append("or_more: the count is a lower bound")
    if schema.is_partial:
        notes.append("Some labels and types may be missing")
    return notes
