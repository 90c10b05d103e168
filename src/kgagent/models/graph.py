"""Nodes and relationships as kgagent shows them: no embedding and no bookkeeping is ever part of them."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from kgagent.models.note import Note
from kgagent.models.triplet import display_name, triplet_text


class GraphModel(BaseModel):
    """Base of what is shown to a caller."""

    model_config = ConfigDict(frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for a tool's answer: JSON types only, absent parts and empty lists left out."""
        payload: dict[str, Any] = without_empty(self.model_dump(mode="json", exclude_none=True))
        return payload


class GraphNode(GraphModel):
    """A node."""

    entity_key: str
    label: str
    name: str
    description: str = ""
    notes: tuple[Note, ...] = ()
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)


class GraphRelationship(GraphModel):
    """A relationship, with the end that the caller named first as `from`; in a search, the end that it is told from.

    Attributes:
        attitude: 1 to 5, or None.
        proximity: 1 to 5, or None.
        attitude_word: the ontology's word for the attitude.
        proximity_word: the ontology's word for the proximity.
        similarity: plain cosine with the query, -1 to 1; None outside a search.
        ends_reversed: whether the caller named the ends the other way round than it is told: `from` is then the
            end that it leads to. No part of a payload.
    """

    from_entity_key: str
    to_entity_key: str
    from_name: str = ""
    to_name: str = ""
    neo4j_type: str
    relationship_type: str = ""
    description: str = ""
    attitude: int | None = None
    proximity: int | None = None
    attitude_word: str = ""
    proximity_word: str = ""
    notes: tuple[Note, ...] = ()
    similarity: float | None = None
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)
    ends_reversed: bool = Field(default=False, exclude=True)

    @property
    def pair(self) -> tuple[str, str, str]:
        """The type and the two ends, the same from either end."""
        first, second = sorted((self.from_entity_key, self.to_entity_key))
        return self.neo4j_type, first, second

    @property
    def level_words(self) -> str:
        """The ontology's words for attitude and proximity, as far as there are: "close, known-well"."""
        return ", ".join(word for word in (self.attitude_word, self.proximity_word) if word)

    @property
    def names_in_direction(self) -> tuple[str, str]:
        """What the node is called that it is told from, and the one that it is told of."""
        source = display_name({"name": self.from_name}, self.from_entity_key)
        target = display_name({"name": self.to_name}, self.to_entity_key)
        return (target, source) if self.ends_reversed else (source, target)

    @property
    def triplet(self) -> str:
        """The relationship as a short sentence, such as "Elon Musk founded Tesla", in the direction that it is told."""
        source, target = self.names_in_direction
        return triplet_text(source, self.neo4j_type, target, label=self.relationship_type)


def without_empty(value: Any) -> Any:  # noqa: ANN401
    """Leave out what says nothing: None, empty texts, empty lists and empty mappings inside a mapping."""
    if isinstance(value, Mapping):
        kept = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [without_empty(item) for item in value]
    return value
