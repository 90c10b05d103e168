"""Nodes and relationships in results, which never contain embeddings or bookkeeping properties."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny

from kgagent.models.note import Note
from kgagent.models.plain import display_name, triplet_text, without_empty
from kgagent.trust import Trust


class GraphModel(BaseModel):
    """Base of everything that results contain."""

    model_config = ConfigDict(frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types; fields that are None and empty values are omitted."""
        payload: dict[str, Any] = without_empty(self.model_dump(mode="json", exclude_none=True))
        return payload


class FoundStatement(GraphModel):
    """A statement of a node or relationship that a search scored.

    Attributes:
        note: the note; None for the description, or for the record itself if it has none.
        similarity: plain cosine with the query, -1 to 1; None if it has no embedding that can be
            compared.
        score: what a search sorts by: the sum of the contributions.
        contributions: what each feature adds to the score, see `kgagent.search.score`.
    """

    note: Note | None = None
    similarity: float | None = None
    score: float
    contributions: Mapping[str, float] = Field(default_factory=dict)


class DescribedItem(GraphModel):
    """What nodes and relationships have in common.

    Attributes:
        similarity: plain cosine of its best statement with the query, -1 to 1; None outside a
            search.
        statements: its statements with their scores, best first; empty if no search scored them.
            Not part of a payload.
        first_noted: in a search as of a time, when its first note is about, if all are later; its
            own time may be too.
        trust: class of the call that wrote its description, or itself without one; None: own.
        owner: whose it is, in a search of several owners; None: the user's.
        said_of: when its type, description and levels were last said, in EDTF, as far as that is
            known. Not part of a payload.
    """

    description: str = ""
    notes: tuple[Note, ...] = ()
    similarity: float | None = None
    statements: tuple[FoundStatement, ...] = Field((), exclude=True)
    first_noted: str | None = None
    trust: Trust | None = None
    owner: str | None = None
    said_of: Mapping[str, str] = Field(default_factory=dict, exclude=True)


class GraphNode(DescribedItem):
    """A node; in the result of a search, the notes of a source end with its passages that match."""

    entity_key: str
    label: str
    name: str
    description: str = ""
    notes: tuple[SerializeAsAny[Note], ...] = ()
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)


class GraphRelationship(DescribedItem):
    """A relationship. `from` is the node that the caller named first; in a search, the node where
    it starts.

    Attributes:
        attitude: 1 to 5, or None.
        proximity: 1 to 5, or None.
        attitude_word: the ontology's word for the attitude.
        proximity_word: the ontology's word for the proximity.
        when: when it held, in EDTF; None if that is not known.
        said_on: when its type was said, in EDTF; None if that is not known. Without `when`, it
            holds since then.
        last_said: when something of it was last said, in EDTF; None if that is not known. Not part
            of a payload.
        relationship_id: tells it apart from the first of several of its type between the two nodes,
            as graphs of other programs have them; None for that one.
        ends_reversed: whether `from` is the node where the relationship ends, because the caller
            named the nodes in the opposite order. Not part of a payload.
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
    when: str | None = None
    said_on: str | None = None
    last_said: str | None = Field(None, exclude=True)
    notes: tuple[Note, ...] = ()
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)
    relationship_id: str | None = None
    ends_reversed: bool = Field(default=False, exclude=True)

    @property
    def pair(self) -> tuple[str, str, str]:
        """The type and the keys of both nodes, in an order that does not depend on the
        direction.
        """
        first, second = sorted((self.from_entity_key, self.to_entity_key))
        return self.neo4j_type, first, second

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells it apart: its type, its nodes, and which of several it is."""
        return *self.pair, self.relationship_id or ""

    @property
    def level_words(self) -> str:
        """The ontology's words for the attitude and the proximity that are set: "close,
        known-well".
        """
        return ", ".join(word for word in (self.attitude_word, self.proximity_word) if word)

    @property
    def names_in_direction(self) -> tuple[str, str]:
        """The names of the nodes where the relationship starts and ends."""
        source = display_name({"name": self.from_name}, self.from_entity_key)
        target = display_name({"name": self.to_name}, self.to_entity_key)
        return (target, source) if self.ends_reversed else (source, target)

    @property
    def triplet(self) -> str:
        """The relationship as a short sentence, such as "Elon Musk founded Tesla", in its
        direction.
        """
        source, target = self.names_in_direction
        return triplet_text(source, self.neo4j_type, target, label=self.relationship_type)

    @property
    def repeats_triplet(self) -> bool:
        """Whether its description says no more than the triplet."""
        return self.description.rstrip(".") == self.triplet
