"""The relationships of a user: what a caller may want of them, and how they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgagent.embedding.text import relationship_text
from kgagent.errors import InputError, NodeNotFoundError, NotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import RelationshipRecord, as_text, ontology_label
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models import GraphRelationship, Note
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class RelationshipIntent:
    """What a caller wants of the relationship between two nodes.

    Attributes:
        from_entity_key: the end that the caller names first.
        to_entity_key: the other end.
        neo4j_type: the type wanted; None where the labels of the ends decide.
        create: it must not exist yet; otherwise it must.
        or_update: with `create`, an existing one is changed instead of refused.
        values: properties to set; None removes one. Attitude and proximity may be 1 to 5 or a word of the kind.
        notes: notes to add.
        missing: how it is said that there is no such relationship.
    """

    from_entity_key: str
    to_entity_key: str
    neo4j_type: str | None = None
    create: bool = False
    or_update: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    missing: str = "Relationship not found between {a} and {b}"


@dataclass(frozen=True, kw_only=True)
class End:
    """A node at the end of a relationship."""

    element_id: str
    entity_key: str
    label: str
    name: str

    def __str__(self) -> str:
        """Name the node for a message."""
        return f"{self.name} ({self.entity_key})" if self.name else self.entity_key


@dataclass(frozen=True, kw_only=True)
class PairState:
    """Two nodes of a user, where they exist, and the relationships between them; those with a key come first."""

    first: End | None
    second: End | None
    relationships: tuple[RelationshipRecord, ...]


class RelationshipRepository:
    """Reads the relationships of all users; each call says whose."""

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self.store = store
        self.ontology = ontology
        self.names = {
            "labels": Identifier.any_of(ontology.labels),
            "types": Identifier.any_of(ontology.relationships),
        }

    async def get(
        self, user_id: str, from_entity_key: str, to_entity_key: str, neo4j_type: str | None = None
    ) -> GraphRelationship:
        """Find the relationship between two nodes, in whichever direction it is stored.

        Raises:
            NotFoundError: a node or the relationship does not exist for this user.
            InputError: the labels of the nodes have no relationship type, or several and none was named.
        """
        intent = RelationshipIntent(from_entity_key=from_entity_key, to_entity_key=to_entity_key, neo4j_type=neo4j_type)
        [pair] = await self.read_pairs(user_id, [intent])
        stored, _ = self.find(intent, pair)
        if stored is None:
            raise not_found(intent, pair)
        return stored.to_model(self.ontology, asked_from=from_entity_key)

    async def read_pairs(self, user_id: str, intents: Sequence[RelationshipIntent]) -> list[PairState]:
        """Read the two nodes of each intent and what is between them."""
        pairs = [{"first": intent.from_entity_key, "second": intent.to_entity_key} for intent in intents]
        rows = await self.store.read(statement("read_pairs", **self.names), {"user_id": user_id, "pairs": pairs})
        by_position = {row["position"]: row for row in rows}
        return [self._pair(intent, by_position[position]) for position, intent in enumerate(intents)]

    def find(self, intent: RelationshipIntent, pair: PairState) -> tuple[RelationshipRecord | None, RelationshipRecord]:
        """Find what an intent is about.

        Returns:
            The relationship as stored, or None, and what a new one between these nodes starts from.

        Raises:
            NodeNotFoundError: a node does not exist for this user.
            InputError: the two nodes are one, or their labels have no relationship type, or several and none was named.
        """
        if intent.neo4j_type is not None:
            self.ontology.relationship(intent.neo4j_type)
        first, second = pair.first, pair.second
        if first is None or second is None:
            keys = ((intent.from_entity_key, first), (intent.to_entity_key, second))
            missing = dict.fromkeys(key for key, end in keys if end is None)
            raise NodeNotFoundError(f"One or both nodes do not exist: {', '.join(missing)}")
        if first.entity_key == second.entity_key:
            raise InputError(f"A relationship joins two different nodes, got {first} twice")
        neo4j_type, reverse = self.ontology.type_between(first.label, second.label, intent.neo4j_type)
        stored = next((record for record in pair.relationships if record.neo4j_type == neo4j_type), None)
        start, end = (second, first) if reverse else (first, second)
        blank = RelationshipRecord(
            element_id="",
            neo4j_type=neo4j_type,
            from_element_id=start.element_id,
            from_entity_key=start.entity_key,
            to_element_id=end.element_id,
            to_entity_key=end.entity_key,
            from_name=start.name,
            to_name=end.name,
            vector_length=None,
            properties=self.ontology.relationship_defaults | ({"is_reversed": True} if reverse else {}),
        )
        return stored, blank

    def text(self, record: RelationshipRecord, now: datetime) -> str:
        """The embedding text of a record."""
        return relationship_text(
            ontology=self.ontology,
            neo4j_type=record.neo4j_type,
            relationship_type=record.text("relationship_type"),
            description=record.text("description"),
            attitude=record.known_level(self.ontology, "attitude"),
            proximity=record.known_level(self.ontology, "proximity"),
            notes=record.notes,
            now=now,
        )

    def relationship_key(self, record: RelationshipRecord) -> str:
        """The key that the database keeps unique, the same from either end; a length parts the ends."""
        first, second = sorted((record.from_entity_key, record.to_entity_key))
        return f"{record.neo4j_type}:{len(first)}:{first}:{second}"

    def _pair(self, intent: RelationshipIntent, row: Mapping[str, Any]) -> PairState:
        records = (RelationshipRecord.read(item) for item in row["relationships"])
        return PairState(
            first=self._end(intent.from_entity_key, row["first"]),
            second=self._end(intent.to_entity_key, row["second"]),
            relationships=tuple(sorted(records, key=lambda r: ("relationship_key" not in r.properties, r.element_id))),
        )

    def _end(self, entity_key: str, found: Mapping[str, Any] | None) -> End | None:
        if found is None:
            return None
        return End(
            element_id=found["element_id"],
            entity_key=entity_key,
            label=ontology_label(found["labels"], self.ontology),
            name=as_text(found["name"]),
        )


def not_found(intent: RelationshipIntent, pair: PairState) -> NotFoundError:
    """Say that two nodes exist but nothing of the type joins them."""
    return NotFoundError(
        intent.missing.format(a=pair.first or intent.from_entity_key, b=pair.second or intent.to_entity_key)
    )
