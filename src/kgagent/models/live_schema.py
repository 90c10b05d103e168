"""What the graph of one user really holds: labels, relationship types and properties, whatever an ontology says."""

from enum import StrEnum

from kgagent.models.graph import GraphModel


class ValueKind(StrEnum):
    """What kind of value a property holds; JSON is text that can be read as a JSON object or list."""

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
        name: as it is stored.
        kinds: of its values, most frequent first; empty where no value of it was looked at.
        examples: its most frequent values where they are short texts and few different ones, up to 5; of
            `relationship_type` always, up to 20.
    """

    name: str
    kinds: tuple[ValueKind, ...] = ()
    examples: tuple[str, ...] = ()


class LiveLabel(GraphModel):
    """A label of the user's nodes.

    Attributes:
        name: as it is stored.
        count: the user's nodes that carry it.
        is_least: whether there may be more of them than `count`.
        sampled: whether not all of them were looked at for `properties`, so that some may be missing.
        properties: what they have, by name.
    """

    name: str
    count: int
    is_least: bool = False
    sampled: bool = False
    properties: tuple[LiveProperty, ...] = ()


class LabelPair(GraphModel):
    """Two labels that a relationship type joins.

    Attributes:
        from_label: of the nodes that its relationships start from.
        to_label: of the nodes that they lead to.
        count: such relationships among those that were looked at.
    """

    from_label: str
    to_label: str
    count: int


class LiveRelationshipType(GraphModel):
    """A Neo4j type of the user's relationships.

    Attributes:
        name: as it is stored.
        count: the user's relationships of the type.
        is_least: whether there may be more of them than `count`.
        sampled: whether not all of them were looked at, so that `pairs` and `properties` may lack some.
        pairs: the labels that they join, most frequent first; a node with several labels counts for each.
        properties: what they have, by name.
    """

    name: str
    count: int
    is_least: bool = False
    sampled: bool = False
    pairs: tuple[LabelPair, ...] = ()
    properties: tuple[LiveProperty, ...] = ()


class LiveSchema(GraphModel):
    """What the graph of one user holds, at the time of reading.

    Attributes:
        labels: most frequent first.
        relationship_types: most frequent first.
        is_partial: whether labels or types may be missing: there are too many, or one took too long to read.
    """

    labels: tuple[LiveLabel, ...] = ()
    relationship_types: tuple[LiveRelationshipType, ...] = ()
    is_partial: bool = False

    @property
    def sampled(self) -> bool:
        """Whether anything was not looked at in full."""
        return (
            self.is_partial
            or any(label.sampled for label in self.labels)
            or any(kind.sampled for kind in self.relationship_types)
        )

    def label(self, name: str) -> LiveLabel | None:
        """The label of that name; None where the user has no node with it."""
        return next((label for label in self.labels if label.name == name), None)

    def relationship_type(self, name: str) -> LiveRelationshipType | None:
        """The type of that name; None where the user has no relationship of it."""
        return next((kind for kind in self.relationship_types if kind.name == name), None)
