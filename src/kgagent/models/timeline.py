"""What is known of a node with its time, in order of time."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from pydantic import Field

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.note import Note
from kgagent.models.when import Period, periods_of, split_periods
from kgagent.trust import OWN


class TimedStatement(GraphModel):
    """A note with a time, or a relationship with one.

    Attributes:
        when: its time, in EDTF; without one of its own, when it was first said.
        note: the note; None for what the relationship itself states.
        relationship: the relationship that has it; None for a note of the node itself.
    """

    when: str
    note: Note | None = None
    relationship: GraphRelationship | None = None


class Timeline(GraphModel):
    """The statements about a node that have a time, the earliest first; what began before the
    period comes last.

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
    """What a node or relationship states: each with each of its times, or None for a note without
    one.
    """
    relationship = owner if isinstance(owner, GraphRelationship) else None
    said_of = owner.said_of
    stated: list[tuple[str | None, Note | None, GraphRelationship | None]]
    if isinstance(owner, GraphRelationship):
        days = [owner.when] if owner.when else dict.fromkeys((owner.said_on, *said_of.values()))
        stated = [(one, None, owner if owner.when else _said_on(owner, one)) for one in days if one]
    else:
        described = Note(content=owner.description, trust=owner.trust or OWN)
        stated = [(day, described, None) for day in [said_of.get("description")] if day]
    stated += [(note.when, note, relationship) for note in owner.notes if note.is_current(now)]
    for when, note, about in stated:
        periods = periods_of(when)
        for period, text in zip(periods, split_periods(when or ""), strict=bool(periods)):
            yield period, TimedStatement(when=text, note=note, relationship=about)
        if note is not None and not periods:
            yield None, None


def _said_on(relationship: GraphRelationship, day: str | None) -> GraphRelationship:
    """A relationship with those of its description and levels that were said on a day."""
    fields: dict[str, dict[str, str | None]] = {
        "description": {"description": ""},
        "attitude": {"attitude": None, "attitude_word": ""},
        "proximity": {"proximity": None, "proximity_word": ""},
    }
    other: dict[str, str | None] = {}
    for name, without in fields.items():
        other |= without if relationship.said_of.get(name) not in {day, None} else {}
    return relationship.model_copy(update=other)
