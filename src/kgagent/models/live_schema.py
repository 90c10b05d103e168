"""What the graph of one user holds at the moment: labels, relationship types and properties."""

from enum import StrEnum

from kgagent.models.graph import GraphModel


class ValueKind(StrEnum):
    """Kind of the values of a property; JSON text is text that parses as a JSON object or list."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE_TIME = "date/time"
    LIST = "list"
    JSON = "JSON text"
    OTHER = "other"


class LiveProperty(GraphModel):
    """A property.

    Attributes:
        name: property name.
        kinds: kinds of its values, most frequent first; empty if no value was read.
        examples: up to 5 of the most frequent values, if there are few distinct values and they are
            short texts; up to 20 for `relationship_type`.
    """

    name: str
    kinds: tuple[ValueKind, ...] = ()
    examples: tuple[str, ...] = ()


class LiveRecords(GraphModel):
    """The user's nodes with a label, or the user's relationships of a Neo4j type.

    Attributes:
        name: label or Neo4j type.
        count: number of the records.
        is_lower_bound: whether `count` is a lower bound.
        sampled: whether only a sample of the records was read, so that the rest may be incomplete.
        properties: properties of the records, by name.
    """

    name: str
    count: int
    is_lower_bound: bool = False
    sampled: bool = False
    properties: tuple[LiveProperty, ...] = ()


class LiveLabel(LiveRecords):
    """A label of the user's nodes."""


class LabelPair(GraphModel):
    """Two labels that a relationship type connects.

    Attributes:
        from_label: label of the start nodes.
        to_label: label of the end nodes.
        count: number of such relationships among those that were read.
    """

    from_label: str
    to_label: str
    count: int


class LiveRelationshipType(LiveRecords):
    """A Neo4j type of the user's relationships.

    Attributes:
        pairs: labels that the relationships connect, most frequent first; a node with several
            labels counts for each.
    """

    pairs: tuple[LabelPair, ...] = ()


class LiveSchema(GraphModel):
    """What the graph of one user held when it was read.

    Attributes:
        labels: labels, most frequent first.
        relationship_types: Neo4j types, most frequent first.
        is_partial: whether labels or types may be missing because there are too many or one took
            too long to read.
    """

    labels: tuple[LiveLabel, ...] = ()
    relationship_types: tuple[LiveRelationshipType, ...] = ()
    is_partial: bool = False

    @property
    def sampled(self) -> bool:
        """Whether any part may be incomplete."""
        return self.is_partial or any(
            records.sampled for records in (*self.labels, *self.relationship_types)
        )

    def label(self, name: str) -> LiveLabel | None:
        """The label of that name; None if the user has no node with it."""
        return next((label for label in self.labels if label.name == name), None)

    def relationship_type(self, name: str) -> LiveRelationshipType | None:
        """The type of that name; None if the user has no relationship of it."""
        return next((kind for kind in self.relationship_types if kind.name == name), None)
