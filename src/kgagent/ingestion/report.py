"""What a run did: each call, what changed, and what it cost."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from kgagent.models import GraphNode, GraphRelationship, Note

State = Literal["complete", "unchanged", "incomplete", "stopped"]
"""All parts are read; they were before; some were given up or refused; or the run ended before the last part."""


class ReportModel(BaseModel):
    """Base of a report's parts."""

    model_config = ConfigDict(frozen=True)


class CallRecord(ReportModel):
    """A call that the model made.

    Attributes:
        part: of the source, from 1.
        step: answer of the model for this part, from 1.
        tool: its name, as the model wrote it.
        arguments: as the model gave them; a text where they were no JSON.
        success: whether the tool did its work.
        outcome: the tool's message, or what was wrong.
    """

    part: int
    step: int
    tool: str
    arguments: JsonValue
    success: bool
    outcome: str


class NodeChange(ReportModel):
    """A node as it was before the run, None where it is new, and as it is."""

    before: GraphNode | None
    after: GraphNode

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.after.label} {self.after.name}"


class RelationshipChange(ReportModel):
    """A relationship as it was before the run, None where it is new, and as it is."""

    before: GraphRelationship | None
    after: GraphRelationship

    @property
    def title(self) -> str:
        """What it is called."""
        return self.after.triplet


Change = NodeChange | RelationshipChange


def new_notes(change: Change) -> tuple[Note, ...]:
    """The notes that were added, or that count for longer."""
    known = change.before.notes if change.before else ()
    return tuple(note for note in change.after.notes if note not in known)


class Tokens(ReportModel):
    """Tokens of all requests to the model and of its answers.

    Attributes:
        input: of the requests.
        output: of the answers.
        estimated: whether some of it is an estimate, as the model did not count.
    """

    input: int = 0
    output: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Both."""
        return self.input + self.output


class IngestionReport(ReportModel):
    """What a run did.

    Attributes:
        name: of the source.
        source_entity_key: of its node, which the notes name.
        fingerprint: SHA-256 of what the source says.
        state: how it ended.
        reason: why it stopped; empty where it did not.
        resumed: whether it went on where another run had stopped.
        updated: whether the source is a newer version of one that was read, or begun, before.
        parts: of the source.
        parts_read: of them, by this run and those before it.
        steps: answers of the model.
        calls: those of tools, in order.
        nodes: that were created or changed.
        relationships: that were created or changed.
        tokens: that it took.
        seconds: that it took.
        warnings: what a person should look at.
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
    tokens: Tokens = Tokens()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Nodes and relationships together."""
        return (*self.nodes, *self.relationships)

    def to_markdown(self) -> str:
        """The report for a person to read."""
        from kgagent.ingestion.markdown import as_markdown

        return as_markdown(self)
