"""describe_graph: the labels, relationship types and properties of the user's graph."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import Field

from kgagent.errors import InputError
from kgagent.models.constraint import Name
from kgagent.models.graph import GraphModel
from kgagent.models.live_schema import LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema
from kgagent.ontology import Ontology
from kgagent.patterns.names import find_unknown_label
from kgagent.tools.arguments import Arguments
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.ontology_guide import ontology_guide
from kgagent.tools.pattern_guide import pattern_guide
from kgagent.tools.payload import Payload

Topic = Literal["graph", "ontology", "patterns"]

MAX_LENGTH = 20_000
"""Characters of a result as JSON."""

MAX_NAME_LENGTH = 200
"""Characters of a name; longer names are omitted, because a shortened name cannot be used."""


@dataclass(frozen=True)
class _Detail:
    """How much is described.

    Attributes:
        names: maximum number of labels, and of relationship types.
        properties: maximum number of properties of each.
        pairs: maximum number of pairs of labels that each type connects.
        examples: whether typical values are included.
    """

    names: int
    properties: int
    pairs: int
    examples: bool = False


DETAILS = (
    _Detail(100, 50, 20, examples=True),
    _Detail(100, 30, 10),
    _Detail(60, 10, 5),
    _Detail(100, 0, 2),
    _Detail(20, 0, 1),
)
"""From most to least; the first that fits is used, and the last always does."""


class DescribeGraphArguments(Arguments):
    """Arguments of describe_graph."""

    topic: Topic = Field(
        "graph",
        description="graph: what is stored; ontology: which labels can be related, and the words for attitude and "
        "proximity; patterns: worked examples of graph patterns.",
    )
    labels: list[Name] = Field(
        default_factory=list,
        max_length=50,
        description="For topic graph: only these labels and the types that start or end there.",
    )


class DescribedPart(GraphModel):
    """A label or a relationship type.

    Attributes:
        count: number of nodes or relationships.
        or_more: whether there may be more than were counted.
        sampled: whether not all of them were examined.
        properties: types and examples of values, by property.
    """

    count: int
    or_more: bool | None = None
    sampled: bool | None = None
    properties: Mapping[str, str] | None = None


class DescribedLabel(DescribedPart):
    """A label of nodes."""

    label: str


class DescribedType(DescribedPart):
    """A relationship type; `connects` lists the pairs of labels that it connects."""

    type: str
    connects: tuple[Mapping[str, str | int], ...] | None = None


class GraphDescription(ToolResult):
    """What the user's graph contains, or a guide.

    Attributes:
        labels: labels of nodes.
        relationship_types: Neo4j types of relationships.
        notes: what is missing, and how to get it.
        text: the guide, for the topics ontology and patterns; replaces the other fields.
    """

    labels: tuple[DescribedLabel, ...] | None = None
    relationship_types: tuple[DescribedType, ...] | None = None
    notes: tuple[str, ...] | None = None
    text: str | None = None

    def to_text(self) -> str:
        """The guide, or the description."""
        return self.text or super().to_text()


class DescribeGraph(Tool[DescribeGraphArguments]):
    """Describes the user's graph."""

    name = "describe_graph"
    arguments = DescribeGraphArguments
    result = GraphDescription
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Describe the graph: labels and Neo4j relationship types with their counts, the labels that each type "
            "connects, and properties with kinds and typical values."
        )

    async def run(self, context: ToolContext, arguments: DescribeGraphArguments) -> GraphDescription:
        """Describe the current graph.

        Raises:
            InputError: a label does not exist.
        """
        if arguments.topic == "patterns":
            return GraphDescription(message="How to write graph patterns", text=pattern_guide())
        if arguments.topic == "ontology":
            return GraphDescription(message="The ontology", text=ontology_guide(context.ontology))
        schema = await context.live_schema.read(context.user_id, fresh=True)
        if arguments.labels:
            schema = _restrict(arguments.labels, schema, context.ontology)
        described = (_described(schema, detail) for detail in DETAILS)
        payload = next(filter(_fits, described), None) or _described(schema, DETAILS[-1])
        return GraphDescription.model_validate(payload)


def _restrict(labels: Sequence[str], schema: LiveSchema, ontology: Ontology) -> LiveSchema:
    """The part of a schema that involves some labels."""
    for label in labels:
        if unknown := find_unknown_label(label, schema, ontology, "labels"):
            raise InputError(f"{unknown} {unknown.alternatives}")
    kinds = []
    for kind in schema.relationship_types:
        pairs = tuple(pair for pair in kind.pairs if {pair.from_label, pair.to_label} & {*labels})
        if pairs:
            kinds.append(kind.model_copy(update={"pairs": pairs}))
    return schema.model_copy(
        update={
            "labels": tuple(label for label in schema.labels if label.name in labels),
            "relationship_types": tuple(kinds),
        }
    )


def _described(schema: LiveSchema, detail: _Detail) -> Payload:
    labels, kinds = _with_short_names(schema.labels), _with_short_names(schema.relationship_types)
    shown_labels, shown_kinds = labels[: detail.names], kinds[: detail.names]
    payload: Payload = {
        "message": f"The graph has {len(schema.labels)} labels and {len(schema.relationship_types)} relationship types",
        "labels": [{"label": label.name, **_shared(label, detail)} for label in shown_labels],
        "relationship_types": [
            {"type": kind.name, **_shared(kind, detail), **_connections(kind, detail)} for kind in shown_kinds
        ],
    }
    if notes := _notes(schema, len(shown_labels), len(shown_kinds), detail):
        payload["notes"] = notes
    return payload


def _notes(schema: LiveSchema, labels: int, kinds: int, detail: _Detail) -> list[str]:
    """What the result omits, and how to get it."""
    notes = []
    parts: list[LiveLabel | LiveRelationshipType] = [*schema.labels, *schema.relationship_types]
    cut = any(len(part.properties) > detail.properties for part in parts)
    cut |= any(len(kind.pairs) > detail.pairs for kind in schema.relationship_types)
    if left := len(parts) - labels - kinds:
        notes.append(f"{left} labels and types are omitted; set labels to see others")
    elif cut or not detail.examples:
        notes.append("Details are omitted; set labels to see all details of some labels")
    if any(part.sampled for part in parts):
        notes.append("sampled: not all were read, so there may be more properties and connections")
    if any(part.is_lower_bound for part in parts):
        notes.append("or_more: the count is a lower bound")
    if schema.is_partial:
        notes.append("Some labels and types may be missing")
    return notes


def _shared(part: LiveLabel | LiveRelationshipType, detail: _Detail) -> dict[str, Any]:
    payload: dict[str, Any] = {"count": part.count}
    if part.is_lower_bound:
        payload["or_more"] = True
    if part.sampled:
        payload["sampled"] = True
    properties = _with_short_names(part.properties)[: detail.properties]
    if properties:
        payload["properties"] = {item.name: _values(item, detail) for item in properties}
    return payload


def _values(item: LiveProperty, detail: _Detail) -> str:
    """Kinds and typical values in one line: `text: "open", "closed"`."""
    kinds = " or ".join(item.kinds) or "rare"
    if not (detail.examples and item.examples):
        return kinds
    return f"{kinds}: {', '.join(json.dumps(value, ensure_ascii=False) for value in item.examples)}"


def _connections(kind: LiveRelationshipType, detail: _Detail) -> dict[str, Any]:
    pairs = [pair for pair in kind.pairs if max(len(pair.from_label), len(pair.to_label)) <= MAX_NAME_LENGTH]
    connections = [
        {"from": pair.from_label, "to": pair.to_label, "count": pair.count} for pair in pairs[: detail.pairs]
    ]
    return {"connects": connections} if connections else {}


Named = TypeVar("Named", LiveLabel, LiveRelationshipType, LiveProperty)


def _with_short_names(parts: Sequence[Named]) -> list[Named]:
    return [part for part in parts if len(part.name) <= MAX_NAME_LENGTH]


def _fits(payload: Payload) -> bool:
    return len(json.dumps(payload, ensure_ascii=False)) <= MAX_LENGTH
