"""The relationships of a user: how they are read, embedded and stored."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from kgagent.errors import InputError, NodeNotFoundError, NotFoundError
from kgagent.graph.embedded_text import embedding_text
from kgagent.graph.existing_records import several_relationships, unknown_id
from kgagent.graph.identifiers import Identifier
from kgagent.graph.pair_state import End, PairState
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import PARALLEL, RelationshipRecord, as_text, ontology_label
from kgagent.graph.statement_index import days_of
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.store import Store
from kgagent.graph.writes import RecordEdit, WriteMode
from kgagent.models import GraphRelationship, Note
from kgagent.models.free_types import is_same
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class RelationshipIntent:
    """What to do with the relationship between two nodes.

    Attributes:
        element_id: of several relationships of the type, the one that is meant; None leaves the
            choice to `relationship_id`.
        relationship_id: likewise, see `RelationshipRecord.id`; None is the only one that the
            direction and the free type of the intent fit.
        from_entity_key: the end that the caller names first.
        to_entity_key: the other end.
        neo4j_type: the type; None if the labels of the ends determine it.
        mode: whether it may exist. A new one without a `relationship_type` gets its Neo4j type in
            words: "engages with".
        initial: properties of a new relationship beside `values`.
        values: properties to set; None removes one. Attitude and proximity may be 1 to 5 or a word
            of the type.
        notes: notes to add.
        edit: a change of one of its notes, or to an earlier value.
        adds_type: whether a type that an existing relationship lacks is added to the others instead
            of replacing them.
        correction: whether what it replaces or ends was never right.
        ends: other relationships of the two nodes that it ends: a type and a name, or one of them.
        missing: the error if there is no such relationship; `{a}` and `{b}` stand for the nodes.
        remarks: what the caller should know of how it is stored.
    """

    from_entity_key: str
    to_entity_key: str
    neo4j_type: str | None = None
    element_id: str | None = None
    relationship_id: str | None = None
    mode: WriteMode = "update"
    initial: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    edit: RecordEdit | None = None
    adds_type: bool = False
    correction: bool = False
    ends: tuple[str, ...] = ()
    missing: str = "Relationship not found between {a} and {b}"
    remarks: tuple[str, ...] = ()

    @property
    def new_type(self) -> str:
        """The type of a new relationship; empty for the Neo4j type in words."""
        return self.values.get("relationship_type") or self.initial.get("relationship_type") or ""

    @property
    def pair(self) -> frozenset[str]:
        """The two nodes, in either order."""
        return frozenset((self.from_entity_key, self.to_entity_key))

    def replaces_type(self, stored: str) -> bool:
        """Whether its type takes the place of a stored one, or it corrects what is stored."""
        given = self.values.get("relationship_type")
        return self.correction or bool(given and not self.adds_type and not is_same(stored, given))


class RelationshipRepository:
    """Reads the relationships of all users; each call names the owner. Also the `RecordKind` of
    relationships.
    """

    plural = "relationships"

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self.store = store
        self.ontology = ontology
        self.names = {
            "labels": Identifier.any_of(ontology.labels),
            "types": Identifier.any_of(ontology.relationships),
        }

    async def read_pairs(
        self,
        user_id: str,
        intents: Sequence[RelationshipIntent],
        *,
        adopt_foreign: bool = False,
        for_update: bool = False,
    ) -> list[PairState]:
        """Read the two nodes of each intent and the relationships between them.

        Args:
            user_id: owner of the nodes.
            intents: name the nodes.
            adopt_foreign: whether relationships that name another owner are treated as the user's.
            for_update: whether a write depends on what is read; see `Store.read_for_update`.
        """
        if not intents:
            return []
        ends = [(intent.from_entity_key, intent.to_entity_key) for intent in intents]
        keys = sorted({key for pair in ends for key in pair})
        places = {key: place for place, key in enumerate(keys)}
        pairs = [
            {"position": position, "first": places[first], "second": places[second]}
            for position, (first, second) in sorted(enumerate(ends), key=lambda one: sorted(one[1]))
        ]
        lock = Fragment("_relationship_lock" if for_update else "_no_lock")
        read = self.store.read_for_update if for_update else self.store.read
        parameters = {"user_id": user_id, "keys": keys, "pairs": pairs}
        rows = await read(statement("read_pairs", lock=lock, **self.names), parameters)
        by_position = {row["position"]: row for row in rows}
        owners = None if adopt_foreign else self.store.owners(user_id)
        return [
            self._pair(intent, by_position[position], owners)
            for position, intent in enumerate(intents)
        ]

    async def read(self, user_id: str, intent: RelationshipIntent) -> list[RelationshipRecord]:
        """Read the relationship of an intent, in whichever direction it is stored; or all, if the
        intent does not say which of several.

        Raises:
            NotFoundError: a node or the relationship does not exist for this user.
            InputError: the labels of the nodes allow no relationship type, or several and none was
                named.
        """
        [pair] = await self.read_pairs(user_id, [intent])
        several = [
            record
            for record in pair.relationships
            if intent.neo4j_type in {None, record.neo4j_type}
            and intent.relationship_id in {None, record.id}
        ]
        if len(several) > 1:
            return several
        stored, _ = self.find(intent, pair)
        if stored is None:
            raise not_found(intent, pair)
        return [stored]

    async def read_of_node(
        self, user_id: str, entity_key: str, *, limit: int
    ) -> tuple[tuple[RelationshipRecord, ...], tuple[str, ...]]:
        """Read and lock the relationships of a node: those that kgagent manages, and the types of
        the others.
        """
        rows = await self.store.read_for_update(
            statement("read_relationships_of_node", **self.names),
            {
                "user_id": user_id,
                "key": entity_key,
                "types": list(self.ontology.relationships),
                "limit": limit,
            },
        )
        own = tuple(RelationshipRecord.read(row["relationship"]) for row in rows if row["is_own"])
        return own, tuple(dict.fromkeys(row["neo4j_type"] for row in rows if not row["is_own"]))

    def find(
        self, intent: RelationshipIntent, pair: PairState
    ) -> tuple[RelationshipRecord | None, RelationshipRecord]:
        """Find the relationship of an intent.

        Returns:
            The stored relationship or None, and an empty relationship of that type between the two
            nodes.

        Raises:
            NotFoundError: a node does not exist for this user, or no relationship has the id.
            InputError: as `place`, or the relationship names another owner, or it is not clear
                which of several is meant.
        """
        if intent.relationship_id is not None:
            named = [one for one in pair.relationships if one.id == intent.relationship_id]
            if not named:
                raise unknown_id(intent.relationship_id, pair)
            return named[0], self.place(replace(intent, neo4j_type=named[0].neo4j_type), pair)
        blank = self.place(intent, pair)
        of_type = [one for one in pair.relationships if one.neo4j_type == blank.neo4j_type]
        meant = [one for one in of_type if intent.element_id in {None, one.element_id}]
        for fits in (
            lambda one: one.start == intent.from_entity_key,
            lambda one: is_same(one.text("relationship_type"), intent.new_type),
        ):
            if len(meant) > 1:
                meant = list(filter(fits, meant)) or meant
        if len(meant) > 1:
            raise several_relationships(meant, pair)
        if not meant:
            self.check_owner(blank, pair)
        return next(iter(meant), None), blank

    def check_owner(self, blank: RelationshipRecord, pair: PairState) -> None:
        """Check that no relationship of a type between two nodes names another owner.

        Raises:
            InputError: one does.
        """
        if any(one.neo4j_type == blank.neo4j_type for one in pair.foreign):
            raise InputError(
                f"The {blank.neo4j_type} relationship between {pair.first} and {pair.second} names "
                "another user as its owner. "
                "`kgagent migrate` gives it to the owner of the two nodes"
            )

    def place(self, intent: RelationshipIntent, pair: PairState) -> RelationshipRecord:
        """An empty relationship of the type of an intent between its nodes.

        Raises:
            NodeNotFoundError: a node does not exist for this user.
            InputError: the two nodes are the same, or their labels allow no relationship type, or
                several and none was named.
        """
        if intent.neo4j_type is not None:
            self.ontology.relationship(intent.neo4j_type)
        first, second = pair.first, pair.second
        if first is None or second is None:
            keys = ((intent.from_entity_key, first), (intent.to_entity_key, second))
            missing = dict.fromkeys(key for key, end in keys if end is None)
            raise NodeNotFoundError(f"Node not found: {', '.join(missing)}")
        if first.entity_key == second.entity_key:
            raise InputError(f"A relationship joins two different nodes, got {first} twice")
        given_type = intent.new_type
        neo4j_type, reverse = self.ontology.type_between(
            first.label,
            second.label,
            intent.neo4j_type,
            relationship_type=given_type,
            existing=()
            if intent.mode != "update" and given_type
            else [record.neo4j_type for record in pair.relationships],
        )
        start, end = (second, first) if reverse else (first, second)
        return RelationshipRecord(
            element_id="",
            neo4j_type=neo4j_type,
            from_element_id=start.element_id,
            from_entity_key=start.entity_key,
            to_element_id=end.element_id,
            to_entity_key=end.entity_key,
            from_name=start.name,
            to_name=end.name,
            vector_length=None,
            properties=self.ontology.relationship_defaults
            | ({"is_reversed": True} if reverse and given_type else {}),
        )

    def text(self, record: RelationshipRecord, now: datetime) -> str:
        """The embedding text of a relationship; see `relationship_text`."""
        return relationship_text(record, self.ontology, now)

    def relationship_key(self, record: RelationshipRecord) -> str:
        """The key that the database keeps unique.

        Of several adopted relationships of one type between two nodes, all but one have a key of
        their own.
        """
        if record.is_parallel:
            return record.text("relationship_key")
        return record.key_of_pair

    def location(self, record: RelationshipRecord) -> Mapping[str, Any]:
        """Its type and its two ends."""
        return {
            "neo4j_type": record.neo4j_type,
            "from_element_id": record.from_element_id or None,
            "from_entity_key": record.from_entity_key,
            "to_element_id": record.to_element_id or None,
            "to_entity_key": record.to_entity_key,
        }

    def statement_location(self, record: RelationshipRecord) -> Mapping[str, Any]:
        """Its key, its types and its two ends."""
        return {
            "record": self.relationship_key(record),
            "neo4j_type": record.neo4j_type,
            "relationship_type": record.text("relationship_type") or None,
            "from_entity_key": record.from_entity_key,
            "to_entity_key": record.to_entity_key,
        }

    def bookkeeping(
        self, record: RelationshipRecord, user_id: str, now: datetime
    ) -> dict[str, Any]:
        """The owner, the notes as full-text search finds them, the unique key, the direction and
        its days.
        """
        return {
            "user_id": user_id,
            "notes_text": record.notes_text(now),
            "relationship_key": self.relationship_key(record),
            "is_reversed": record.properties.get("is_reversed"),
            **days_of([record.dated]),
        }

    def to_model(
        self, record: RelationshipRecord, asked_from: str | None = None
    ) -> GraphRelationship:
        """The relationship as callers see it, from the end that the caller named first."""
        return record.to_model(self.ontology, asked_from=asked_from)

    def _pair(
        self, intent: RelationshipIntent, row: Mapping[str, Any], owners: Sequence[str] | None
    ) -> PairState:
        found = [RelationshipRecord.read(item) for item in row["relationships"]]
        found.sort(
            key=lambda record: ("relationship_key" not in record.properties, record.element_id)
        )
        own = [
            record
            for record in found
            if owners is None or record.properties.get("user_id", owners[0]) in owners
        ]
        return PairState(
            first=self._end(intent.from_entity_key, row["first"]),
            second=self._end(intent.to_entity_key, row["second"]),
            relationships=own,
            foreign=tuple(record for record in found if record not in own),
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


def parallel_key() -> str:
    """A unique key of one more relationship of a type between two nodes."""
    return f"{PARALLEL}{uuid.uuid4()}"


def not_found(intent: RelationshipIntent, pair: PairState) -> NotFoundError:
    """The error for two nodes that exist without the relationship."""
    return NotFoundError(
        intent.missing.format(
            a=pair.first or intent.from_entity_key, b=pair.second or intent.to_entity_key
        )
    )


def relationship_text(record: RelationshipRecord, ontology: Ontology, now: datetime) -> str:
    """Make the embedding text of a relationship.

    The form is "<description> <relationship_type> <attitude_word> <proximity_word> <notes_text>".
    An absent part is omitted together with its space, and so are notes that have expired by `now`.
    """
    words = (
        ontology.word(record.neo4j_type, field, record.known_level(ontology, field))
        for field in LEVEL_FIELDS
    )
    return embedding_text(
        record.text("description"),
        record.text("relationship_type"),
        *words,
        notes=record.notes,
        now=now,
    )
