"""What is known of a node with its time, in order of time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from kgagent.formatting import in_one_line
from kgagent.models.answer_items import Item, JsonRecord, Line, RenderState, relationship_text
from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.note import Note
from kgagent.models.when import Period, periods_of, split_periods


class TimedStatement(GraphModel):
    """A note with a time, or a relationship with one.

    Attributes:
        when: its time, in EDTF.
        note: the note; None for what the relationship itself states.
        relationship: the relationship that has it; None for a note of the node itself.
    """

    when: str
    note: Note | None = None
    relationship: GraphRelationship | None = None


class Timeline(GraphModel):
    """The statements about a node that have a time, the earliest first; what began before the period comes last.

    Attributes:
        node: the node.
        statements: the statements.
        untimed: number of its notes and of those of its relationships that have no time.
        labels: label of the node and of each other one by entity_key.
    """

    node: GraphNode
    statements: tuple[TimedStatement, ...] = ()
    untimed: int = 0
    labels: Mapping[str, str] = Field(default_factory=dict)


def statements_of(
    owner: GraphNode | GraphRelationship, now: datetime
) -> Iterator[tuple[Period | None, TimedStatement | None]]:
    """What a node or relationship states: each with each of its times, or None for a note without one."""
    relationship = owner if isinstance(owner, GraphRelationship) else None
    stated = [(relationship.when, None)] if relationship is not None and relationship.when else []
    for when, note in [*stated, *((note.when, note) for note in owner.notes if note.is_current(now))]:
        periods = periods_of(when)
        for period, text in zip(periods, split_periods(when or ""), strict=bool(periods)):
            yield period, TimedStatement(when=text, note=note, relationship=relationship)
        if note is not None and not periods:
            yield None, None


@dataclass(frozen=True)
class TimelineItem(Item):
    """A statement with its time and whom it is about, in a line.

    Attributes:
        statement: the statement.
        entity_key: the node that the timeline is of.
    """

    statement: TimedStatement
    entity_key: str

    def names(self) -> Iterator[tuple[str, str]]:
        """The nodes of the relationship."""
        if relationship := self.statement.relationship:
            yield relationship.from_entity_key, relationship.from_name
            yield relationship.to_entity_key, relationship.to_name

    def lines(self, state: RenderState) -> list[Line]:
        """The time, whom it is about, and the statement."""
        note, relationship = self.statement.note, self.statement.relationship
        # The line begins with the time.
        untimed = {"when": None}
        text = ""
        if note is not None:
            head = " ".join(state.name(*other) for other in self._others())
            text = state.note_text(note.model_copy(update=untimed))
        elif relationship is not None:
            head = relationship_text(relationship.model_copy(update=untimed), state)
            text = in_one_line(relationship.description)
        return [Line(f"{self.statement.when} {head}".rstrip(), text, cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The statement and the relationship that has it."""
        note, relationship = self.statement.note, self.statement.relationship
        record: JsonRecord = {"when": self.statement.when}
        if note is not None:
            record |= note.model_dump(mode="json", exclude_none=True, exclude={"added_by", "when"})
        if relationship is not None:
            text = {"content": relationship.description} if note is None and relationship.description else {}
            with_whom = [{"entity_key": key, "name": name} for key, name in self._others()]
            record |= text | {"with": with_whom[0], "triplet": relationship.triplet}
        return [("statements", record)]

    def _others(self) -> list[tuple[str, str]]:
        """Key and name of the other node; none for a note of the node itself."""
        relationship = self.statement.relationship
        if relationship is None:
            return []
        ends = (
            (relationship.from_entity_key, relationship.from_name),
            (relationship.to_entity_key, relationship.to_name),
        )
        return [end for end in ends if end[0] != self.entity_key][:1]
