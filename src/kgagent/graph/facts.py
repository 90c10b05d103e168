"""What a relationship says with one or all of its types: since when it holds, and what changes if
it ends.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from kgagent.graph.property_names import HEARD_ON
from kgagent.graph.records import RelationshipRecord
from kgagent.models.endings import begin_of, ended, joined
from kgagent.models.free_types import split_types, type_names
from kgagent.models.history import said_of_type
from kgagent.models.plain import display_name, triplet_text
from kgagent.models.when import OPEN_END, first_day, period_of, periods_of, split_periods
from kgagent.names import normalised_type
from kgagent.ontology.model import as_words


class Span(NamedTuple):
    """When a value holds.

    Attributes:
        begin: the date at which it begins, in EDTF; ".." if that is not known.
        first: the first day of that date, such as 20230204; 0 if it is not known.
        last: its last day.
    """

    begin: str
    first: int
    last: int


@dataclass(frozen=True)
class Ending:
    """What a write makes of another value.

    Attributes:
        record: the relationship of the other value.
        values: its properties that change.
        since: when it no longer held, in EDTF.
        text: what the answer says.
        corrects: whether the other value never held.
    """

    record: RelationshipRecord
    values: Mapping[str, Any]
    since: str
    text: str
    corrects: bool = False


@dataclass(frozen=True)
class Fact:
    """What a relationship says with some of its types.

    Attributes:
        record: the relationship.
        names: these types, as they are compared.
        stated: the periods in which it is said to hold, in EDTF.
        spans: when it holds, in the same order.
    """

    record: RelationshipRecord
    names: frozenset[str]
    stated: tuple[str, ...]
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, record: RelationshipRecord, names: Iterable[str], today: Span) -> "Fact":
        """A relationship with some of its types, which holds in its periods, or since it was said
        or written; a new one is written today.
        """
        wanted = frozenset(names)
        when, said = record.text("when"), said_of_type(record.properties, record.history, wanted)
        stated = split_periods(when) if periods_of(when) else []
        if not stated and periods_of(said):
            stated = [f"{begin_of(said or '')}/.."]
        created = str(record.properties.get("created_at", ""))[:10]
        written = (since(created) if record.element_id else today) or Span("..", 0, OPEN_END)
        spans = [Span(begin_of(text), *period_of(text)) for text in stated]
        return cls(record, wanted, tuple(stated), tuple(spans) or (written,))

    @property
    def last(self) -> int:
        """The last day on which it holds."""
        return max(span.last for span in self.spans)

    def on(self, day: int) -> Span | None:
        """The time in which it holds on a day; None if it does not."""
        return next((span for span in self.spans if span.first <= day <= span.last), None)

    @property
    def other_types(self) -> str:
        """The types of the relationship beside these."""
        types = split_types(self.record.text("relationship_type"))
        return ", ".join(name for name in types if normalised_type(name) not in self.names)

    @property
    def text(self) -> str:
        """It as a short sentence."""
        record = self.record
        types = split_types(record.text("relationship_type"))
        label = ", ".join(name for name in types if normalised_type(name) in self.names)
        ends = {record.from_entity_key: record.from_name, record.to_entity_key: record.to_name}
        source, target = (
            display_name({"name": ends[key]}, key) for key in record.ends_in_direction
        )
        return triplet_text(source, record.neo4j_type, target, label=label)

    def ended(self, until: str, begin: int, known: int) -> dict[str, Any]:
        """The properties that change if it ends: its time, or its type if there are others.

        Args:
            until: when it ends, in EDTF.
            begin: the day on which what took its place began.
            known: the day on which that was said; what was said to hold later holds again.
        """
        if self.other_types:
            return {"relationship_type": self.other_types}
        again = [day for day in heard_on(self.record) if period_of(day).earliest > known]
        when = ended(self.stated or ("../..",), begin, until, again)
        return {} if when == self.record.text("when") else {"when": when}

    def denied(self) -> dict[str, Any]:
        """The properties that change if it never held."""
        if self.other_types:
            return {"relationship_type": self.other_types}
        plain = as_words(self.record.neo4j_type)
        stated = ("description", "when", HEARD_ON)
        return {
            "relationship_type": plain,
            **{name: None for name in stated if self.record.properties.get(name)},
        }


def heard_on(record: RelationshipRecord) -> list[str]:
    """The days on which it was said to hold, in EDTF."""
    days = record.text(HEARD_ON)
    return split_periods(days) if periods_of(days) else []


def since(said_on: str | None) -> Span | None:
    """The time from the day on which something was said; None if that is not known."""
    first = first_day(said_on)
    return Span(begin_of(said_on or ""), first, OPEN_END) if first else None


def joined_when(one: RelationshipRecord, other: RelationshipRecord) -> str | None:
    """When it holds what two relationships say that become one; None if neither has a `when`."""
    if not one.text("when") and not other.text("when"):
        return None
    always = Span("..", 0, OPEN_END)
    facts = (
        Fact.of(each, type_names(each.text("relationship_type")), always) for each in (one, other)
    )
    # What is not dated holds since it was written.
    periods = (one.stated or [f"{span.begin}/.." for span in one.spans] for one in facts)
    when = joined(chain.from_iterable(periods))
    return None if when == "../.." else when


def last_period(when: object) -> Span | None:
    """The period of a text that ends last; None if there is none."""
    if not isinstance(when, str) or not periods_of(when):
        return None
    last = max(split_periods(when), key=lambda text: period_of(text).latest)
    return Span(begin_of(last), *period_of(last))
