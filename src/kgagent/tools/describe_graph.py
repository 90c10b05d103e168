"""describe_graph: which labels, relationship types and properties the user's graph holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field

from kgagent.errors import InputError
from kgagent.models.constraint import Name
from kgagent.models.graph import GraphModel
from kgagent.models.live_schema import LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema
from kgagent.ontology import Ontology
from kgagent.patterns.names import find_unknown_label
from kgagent.tools.arguments import Arguments
from kgagent.tools.base import Payload, Tool, ToolResult
from kgagent.tools.context import ToolContext

LARGEST = 20_000
"""Characters of an answer, as JSON."""

MAX_NAME_LENGTH = 200
"""Characters of a name that is told; cut, it would be of no use."""


@dataclass(frozen=True)
class _Detail:
    """How much is told.

    Attributes:
        names: labels, and relationship types.
        properties: of each label and type.
        joins: pairs of labels of each type.
        examples: whether values are shown.
    """

    names: int
    properties: int
    joins: int
    examples: bool = False


DETAILS = (
    _Detail(100, 50, 20, examples=True),
    _Detail(100, 30, 10),
    _Detail(60, 10, 5),
    _Detail(100, 0, 2),
    _Detail(20, 0, 1),
)
"""From most to least; the first that fits is taken, and the last always does."""


class DescribeGraphArguments(Arguments):
    """Arguments of describe_graph."""

    labels: list[Name] = Field(
        default_factory=list,
        max_length=50,
        description="Labels to tell of, with the relationship types that start or end there; leave out for all.",
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
    """A relationship type; `joins` lists the pairs of labels that it connects."""

    type: str
    joins: tuple[Mapping[str, str | int], ...] | None = None


class GraphDescription(ToolResult):
    """What the user's graph contains.

    Attributes:
        labels: labels of nodes.
        relationship_types: Neo4j types of relationships.
        notes: what is missing, and how to get it.
    """

    labels: tuple[DescribedLabel, ...]
    relationship_types: tuple[DescribedType, ...]
    notes: tuple[str, ...] | None = None


class DescribeGraph(Tool[DescribeGraphArguments]):
    """Describes the graph."""

    name = "describe_graph"
    arguments = DescribeGraphArguments
    result = GraphDescription
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """What the model is told."""
        return (
            "Tell what the knowledge graph is made of: the labels of its nodes and the Neo4j types of its "
            "relationships, how many there are of each, which labels a type leads from and to, and the properties of "
            "each with their kinds and typical values. Look here for the exact names before you ask structured "
            "questions about a graph that you do not know."
        )

    async def run(self, context: ToolContext, arguments: DescribeGraphArguments) -> GraphDescription:
        """Describe, as it is at this moment.

        Raises:
            InputError: a label does not exist.
        """
        schema = await context.live_schema.read(context.user_id, fresh=True)
        if arguments.labels:
            schema = _about(arguments.labels, schema, context.ontology)
        described = (_described(schema, detail) for detail in DETAILS)
        payload = next(filter(_fits, described), None) or _described(schema, DETAILS[-1])
        return GraphDescription.model_validate(payload)


def _about(labels: Sequence[str], schema: LiveSchema, ontology: Ontology) -> LiveSchema:
    """The part of a schema that has to do with some labels."""
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
    labels, kinds = _tellable(schema.labels), _tellable(schema.relationship_types)
    told_labels, told_kinds = labels[: detail.names], kinds[: detail.names]
    payload: Payload = {
        "message": f"The graph has {len(schema.labels)} labels and {len(schema.relationship_types)} relationship types",
        "labels": [{"label": label.name, **_shared(label, detail)} for label in told_labels],
        "relationship_types": [
            {"type": kind.name, **_shared(kind, detail), **_joins(kind, detail)} for kind in told_kinds
        ],
    }
    if notes := _notes(schema, len(told_labels), len(told_kinds), detail):
        payload["notes"] = notes
    return payload


def _notes(schema: LiveSchema, labels: int, kinds: int, detail: _Detail) -> list[str]:
    """What the answer does not tell, and how to get it."""
    notes = []
    parts: list[LiveLabel | LiveRelationshipType] = [*schema.labels, *schema.relationship_types]
    cut = any(len(part.properties) > detail.properties for part in parts)
    cut |= any(len(kind.pairs) > detail.joins for kind in schema.relationship_types)
    if left := len(parts) - labels - kinds:
        notes.append(f"{left} labels and types are left out; ask for some labels alone to see theirs")
    elif cut or not detail.examples:
        notes.append("Details are left out; ask for some labels alone to see all of theirs")
    if any(part.sampled for part in parts):
        notes.append("Where it says sampled, not all were looked at: there may be more properties and joins")
    if any(part.is_least for part in parts):
        notes.append("Where it says or_more, there may be more than were counted")
    if schema.is_partial:
        notes.append("There may be labels and types that are not told")
    return notes


def _shared(part: LiveLabel | LiveRelationshipType, detail: _Detail) -> dict[str, Any]:
    told: dict[str, Any] = {"count": part.count}
    if part.is_least:
        told["or_more"] = True
    if part.sampled:
        told["sampled"] = True
    properties = _tellable(part.properties)[: detail.properties]
    if properties:
        told["properties"] = {item.name: _values(item, detail) for item in properties}
    return told


def _values(item: LiveProperty, detail: _Detail) -> str:
    """Kinds and examples in one line: `text: "open", "closed"`."""
    kinds = " or ".join(item.kinds) or "seldom there"
    if not (detail.examples and item.examples):
        return kinds
    return f"{kinds}: {', '.join(json.dumps(value, ensure_ascii=False) for value in item.examples)}"


def _joins(kind: LiveRelationshipType, detail: _Detail) -> dict[str, Any]:
    pairs = [pair for pair in kind.pairs if max(len(pair.from_label), len(pair.to_label)) <= MAX_NAME_LENGTH]
    told = [{"from": pair.from_label, "to": pair.to_label, "count": pair.count} for pair in pairs[: detail.joins]]
    return {"joins": told} if told else {}


Named = TypeVar("Named", LiveLabel, LiveRelationshipType, LiveProperty)


def _tellable(parts: Sequence[Named]) -> list[Named]:
    return [part for part in parts if len(part.name) <= MAX_NAME_LENGTH]


def _fits(payload: Payload) -> bool:
    return len(json.dumps(payload, ensure_ascii=False)) <= LARGEST
