"""What a run did: its tool calls, what changed, and what it cost."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from kgagent.graph.writes import WrittenModel
from kgagent.models import GraphNode, GraphRelationship, Note

State = Literal["complete", "unchanged", "incomplete", "stopped"]
"""`complete`: every part is read. `unchanged`: every part was read before. `incomplete`: some parts
were given up. `stopped`: the run ended before the last part."""


class ReportModel(BaseModel):
    """Base class of the report's models."""

    model_config = ConfigDict(frozen=True)


class CallRecord(ReportModel):
    """A tool call that the model made.

    Attributes:
        part: part of the source, from 1.
        step: the model's answer within the part, from 1.
        tool: tool name, as the model wrote it.
        arguments: arguments as the model gave them; text if they are not valid JSON.
        success: whether the call succeeded.
        outcome: the tool's message, or its error.
    """

    part: int
    step: int
    tool: str
    arguments: JsonValue
    success: bool
    outcome: str


class NodeChange(ReportModel):
    """A node before the run (None if it is new) and after it."""

    before: GraphNode | None
    after: GraphNode

    @property
    def title(self) -> str:
        """Label and name of the node."""
        return f"{self.after.label} {self.after.name}"


class RelationshipChange(ReportModel):
    """A relationship before the run (None if it is new) and after it."""

    before: GraphRelationship | None
    after: GraphRelationship

    @property
    def title(self) -> str:
        """The relationship as a triplet."""
        return self.after.triplet


Change = NodeChange | RelationshipChange


def new_notes(change: Change) -> tuple[Note, ...]:
    """Notes that were added or whose lifetime was extended."""
    earlier = change.before.notes if change.before else ()
    return tuple(note for note in change.after.notes if note not in earlier)


class ChangeRecorder:
    """Observes writes and keeps, for each record, its state before the first and after the last
    write.
    """

    def __init__(self) -> None:
        self._records: dict[str | tuple[str, ...], tuple[WrittenModel | None, WrittenModel]] = {}

    def __call__(self, before: WrittenModel | None, after: WrittenModel) -> None:
        """Record a write."""
        key = after.entity_key if isinstance(after, GraphNode) else after.identity
        first, _ = self._records.get(key, (before, after))
        self._records[key] = first, after

    @property
    def nodes(self) -> tuple[NodeChange, ...]:
        """Nodes that are new or different."""
        return tuple(NodeChange.model_validate(change) for change in self._changes(GraphNode))

    @property
    def relationships(self) -> tuple[RelationshipChange, ...]:
        """Relationships that are new or different."""
        return tuple(
            RelationshipChange.model_validate(change) for change in self._changes(GraphRelationship)
        )

    def _changes(self, model: type[WrittenModel]) -> Iterator[dict[str, WrittenModel | None]]:
        for before, after in self._records.values():
            if isinstance(after, model) and before != after:
                yield {"before": before, "after": after}


class TokenUsage(ReportModel):
    """Tokens of all requests to the model and of its answers.

    Attributes:
        input: tokens of the requests.
        output: tokens of the answers.
        estimated: whether some of them are estimates because the model did not report its usage.
    """

    input: int = 0
    output: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Input and output tokens."""
        return self.input + self.output


class IngestionReport(ReportModel):
    """What a run did.

    Attributes:
        name: name of the source.
        source_entity_key: key of the source's node, which the notes name.
        fingerprint: SHA-256 of the source's content.
        state: how the run ended.
        reason: why the run stopped; empty if it did not.
        resumed: whether the run continued where another run had stopped.
        updated: whether the source is a newer version of one that an earlier run read or started to
            read.
        parts: number of parts of the source.
        parts_read: number of parts read by this run and earlier runs.
        steps: number of model answers.
        calls: the tool calls, in order.
        nodes: nodes that were created or changed.
        relationships: relationships that were created or changed.
        tokens: token usage of the run.
        seconds: duration of the run.
        warnings: what a person should check.
    """

    name: str
    source_entity_key: str
    fingerprint: str
    state: State
    reason: str = ""
    resumed: bool = False
    updated: bool = False
    parts: int
    parts_read: int
    steps: int = 0
    calls: tuple[CallRecord, ...] = ()
    nodes: tuple[NodeChange, ...] = ()
    relationships: tuple[RelationshipChange, ...] = ()
    tokens: TokenUsage = TokenUsage()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changed nodes and relationships."""
        return (*self.nodes, *self.relationships)

    def to_markdown(self) -> str:
        """Format the report for a person."""
        from kgagent.ingestion.report_markdown import to_markdown

        return to_markdown(self)
