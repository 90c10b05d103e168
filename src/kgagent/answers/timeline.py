"""The items of a timeline."""

from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.answers.items import Item, JsonRecord, Line, RenderState, relationship_text
from kgagent.formatting import in_one_line
from kgagent.models.timeline import TimedStatement
from kgagent.models.when import is_past


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
        untimed = {"when": None, "said_on": None}
        text = ""
        if note is not None:
            head = " ".join(state.name(*other) for other in self._others())
            text = state.note_text(note.model_copy(update=untimed | {"said_on": note.said_apart}))
        elif relationship is not None:
            head = relationship_text(relationship.model_copy(update=untimed), state)
            text = in_one_line(relationship.description)
        time = self.statement.when
        if note is None and relationship is not None and relationship.when:
            is_over = is_past(time, state.day, relationship.last_said)
            time = f"{time}, past:" if is_over else time
        return [
            Line(
                f"{time} {head}".rstrip(),
                text,
                cut_hint=state.budget_hint,
                rest=tuple,
            )
        ]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The statement and the relationship that has it."""
        note, relationship = self.statement.note, self.statement.relationship
        record: JsonRecord = {"when": self.statement.when}
        if note is not None:
            record |= note.model_dump(mode="json", exclude_none=True, exclude={"added_by", "when"})
        if relationship is not None:
            text = (
                {"content": relationship.description}
                if note is None and relationship.description
                else {}
            )
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
