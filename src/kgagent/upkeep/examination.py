"""What a scan reads of a record, and what can be wrong with it."""

import shlex
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from kgagent.embedding.base import Embedder
from kgagent.formatting import beginning
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.record_saver import is_current
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.store import Row
from kgagent.ontology import Ontology
from kgagent.ontology.definitions import SCALE
from kgagent.upkeep.diagnosis import Finding, Severity

Kind = Literal["nodes", "relationships"]

MAX_MODEL_NAME = 80

MIGRATE = "{migrate}"
"""Stands for the command that migrates the records that were examined."""


@dataclass(frozen=True)
class Issue:
    """What can be wrong with a record.

    Attributes:
        phrase: continues "3 of 100 nodes have …" and "it has …".
        severity: of the finding.
        fix: a command, or what to do.
    """

    phrase: str
    severity: Severity = "warning"
    fix: str = MIGRATE

    def finding(self, records: str, example: object, user_id: str | None) -> Finding:
        """The finding about records with this issue.

        Args:
            records: which ones, such as "3 of 100 nodes".
            example: one of them; None names none.
            user_id: owner of the records that were examined; None if those of all users were.
        """
        migrate = "kgagent migrate" if user_id is None else f"kgagent migrate --user {shlex.quote(user_id)}"
        message = f"{records} have {self.phrase}" + ("" if example is None else f", such as {example}")
        return Finding(self.severity, message, self.fix.replace(MIGRATE, migrate))


# What a migration fixes.
NO_EMBEDDING = Issue("no embedding")
WRONG_VECTOR = Issue("an embedding of another length, or one that is not a list of numbers")
STALE = Issue("an outdated embedding: the text has changed since, or notes have expired")
WITHOUT_TEXT = Issue("an embedding but no text")
WRONG_NOTES_TEXT = Issue("notes that full-text search misses, or still finds")
OLD_FORMAT = Issue("properties of an old format")
MISSING_USER = Issue("no user_id, without which no search finds a relationship")
# A search of that user would return it.
WRONG_USER = Issue("a user_id that differs from that of the nodes", "error")
WRONG_KEY = Issue("no relationship_key, or one that does not match the nodes")


def other_model(stored: object, present: str) -> Issue:
    """Another model made the embedding, so that no semantic search finds the record.

    Args:
        stored: the name of the model that made it.
        present: the name of the connected one.
    """
    return Issue(
        f"an embedding of model {beginning(repr(stored), MAX_MODEL_NAME)}, which semantic search omits",
        "error",
        f"{MIGRATE} embeds them again with {present!r}; or set KGAGENT_EMBEDDER and the model that made them",
    )


# Defects, which only a person can decide how to fix.
NO_KEY = Issue(
    "no entity_key of type string, without which no tool finds a node",
    fix="Give the node a unique entity_key, such as a UUID, or delete it",
)
NO_USER = Issue(
    "no user_id of type string, without which no search finds a node",
    fix="Set user_id on the node, then run `kgagent migrate` to set it on its relationships",
)
SHARED_KEY = Issue(
    "an entity_key that another node of the user has too",
    "error",
    "Merge them or give each a unique key; to list them: MATCH (n) WHERE n.entity_key IS NOT NULL "
    "WITH n.user_id AS user, n.entity_key AS key, collect(n) AS nodes WHERE size(nodes) > 1 RETURN user, key, nodes",
)
WRONG_VERSION = Issue(
    "a version that is not an integer",
    fix="Remove the property `version`, which kgagent uses to count writes: SET x.version = null",
)
INCOMPLETE_NODE = Issue(
    "a node without a label of the ontology, entity_key or user_id",
    fix="Give the node what it lacks; a custom ontology (KGAGENT_ONTOLOGY) can have its label",
)
TWO_USERS = Issue("nodes of different users", "error", "Delete them, or assign both nodes to one user")
_BY_HAND = "Fix by hand; the tools and the migration do not change such relationships"
ONE_NODE = Issue("the same node at both ends", fix=_BY_HAND)
WRONG_LABELS = Issue("nodes with labels that the type does not allow", fix=_BY_HAND)
DUPLICATE = Issue(
    "another relationship of the same type between the same nodes, which the tools use instead",
    fix="Keep one of each and delete the others; to list them: MATCH (a)-[r]-(b) WHERE elementId(a) < elementId(b) "
    "WITH a, b, type(r) AS type, collect(r) AS copies WHERE size(copies) > 1 RETURN a, b, type, copies",
)
WRONG_LEVEL = Issue(
    "an attitude or proximity that is neither 1 to 5 nor a word of the type",
    fix="Set it to 1 to 5 with the update_relationship tool or in Cypher",
)


@dataclass(frozen=True, kw_only=True)
class Examination:
    """The result of examining a record.

    Attributes:
        defect: its first defect, with which a migration skips the record; other issues are not examined then.
        issues: what a migration fixes; empty if the record is stored as the tools would store it.
        outdated_text: the text to embed; None if the stored embedding is current, or there is no text.
    """

    defect: Issue | None = None
    issues: tuple[Issue, ...] = ()
    outdated_text: str | None = None


Intent = NodeIntent | RelationshipIntent


@dataclass(frozen=True, kw_only=True)
class InspectedNode:
    """A stored node.

    Attributes:
        record: its texts and bookkeeping; other properties are not read.
        user_id: its owner; empty if it has none.
        has_vector: whether the property of its embedding has any value.
    """

    kind: ClassVar[Kind] = "nodes"

    record: NodeRecord
    user_id: str
    has_vector: bool

    @classmethod
    def of(cls, row: Row, ontology: Ontology) -> Self:
        """The node of a row of a scan."""
        return cls(record=NodeRecord.read(row, ontology), user_id=as_text(row["user_id"]), has_vector=row["has_vector"])

    @property
    def entity_keys(self) -> frozenset[str]:
        """Its key."""
        return frozenset((self.record.entity_key,))

    def intent(self) -> NodeIntent:
        """An intent to write it."""
        return NodeIntent(entity_key=self.record.entity_key)

    def examine(self, nodes: NodeRepository, embedder: Embedder, now: datetime) -> Examination:
        """Examine it; notes that have expired by `now` do not count."""
        if not self.record.entity_key:
            return Examination(defect=NO_KEY)
        if not self.user_id:
            return Examination(defect=NO_USER)
        if _has_wrong_version(self.record):
            return Examination(defect=WRONG_VERSION)
        issue, outdated_text = _examine_text(self, nodes, embedder, now)
        return Examination(issues=() if issue is None else (issue,), outdated_text=outdated_text)

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        return f"{self.record.label} {self.record.entity_key or self.record.text('name')!r} ({self.record.element_id})"


@dataclass(frozen=True, kw_only=True)
class InspectedEnd:
    """A node at the end of a relationship; a missing or invalid value is empty.

    Attributes:
        label: its label in the ontology.
    """

    entity_key: str
    user_id: str
    label: str

    @classmethod
    def of(cls, values: Sequence[Any], ontology: Ontology) -> Self:
        """The end that a row of a scan describes."""
        labels, entity_key, user_id = values
        has_label = any(label in ontology.labels for label in labels)
        label = ontology_label(labels, ontology) if has_label else ""
        return cls(entity_key=as_text(entity_key), user_id=as_text(user_id), label=label)


@dataclass(frozen=True, kw_only=True)
class InspectedRelationship:
    """A stored relationship.

    Attributes:
        record: its texts and bookkeeping; other properties and the names of its ends are not read.
        start: the node that it starts at.
        end: the node that it ends at.
        has_vector: whether the property of its embedding has any value.
        is_duplicate: whether its nodes have another relationship of its type, which the tools use instead.
    """

    kind: ClassVar[Kind] = "relationships"

    record: RelationshipRecord
    start: InspectedEnd
    end: InspectedEnd
    has_vector: bool
    is_duplicate: bool

    @classmethod
    def of(cls, row: Row, ontology: Ontology) -> Self:
        """The relationship of a row of a scan."""
        start, end = InspectedEnd.of(row["first"], ontology), InspectedEnd.of(row["last"], ontology)
        keys = {"from_entity_key": start.entity_key, "to_entity_key": end.entity_key}
        return cls(
            record=RelationshipRecord.read({**row, **keys, "from_name": "", "to_name": ""}),
            start=start,
            end=end,
            has_vector=row["has_vector"],
            is_duplicate=row["is_duplicate"],
        )

    @property
    def user_id(self) -> str:
        """The owner of its start node; empty if that has none."""
        return self.start.user_id

    @property
    def entity_keys(self) -> frozenset[str]:
        """The keys of its two nodes."""
        return frozenset((self.start.entity_key, self.end.entity_key))

    def intent(self) -> RelationshipIntent:
        """An intent to write it."""
        return RelationshipIntent(
            from_entity_key=self.record.from_entity_key,
            to_entity_key=self.record.to_entity_key,
            neo4j_type=self.record.neo4j_type,
        )

    def examine(self, relationships: RelationshipRepository, embedder: Embedder, now: datetime) -> Examination:
        """Examine it; notes that have expired by `now` do not count."""
        if defect := self._defect(relationships.ontology):
            return Examination(defect=defect)
        record, issues = self.record, list[Issue]()
        text_issue, outdated_text = _examine_text(self, relationships, embedder, now)
        has_level_as_text = any(isinstance(record.properties.get(field), str) for field in LEVEL_FIELDS)
        if has_level_as_text or record.has_old_properties:
            issues.append(OLD_FORMAT)
        if text_issue and not has_level_as_text:
            issues.append(text_issue)
        user_id = record.properties.get("user_id")
        if user_id != self.user_id:
            issues.append(MISSING_USER if user_id is None else WRONG_USER)
        if record.properties.get("relationship_key") != relationships.relationship_key(record):
            issues.append(WRONG_KEY)
        return Examination(issues=tuple(issues), outdated_text=outdated_text)

    def _defect(self, ontology: Ontology) -> Issue | None:
        start, end = self.start, self.end
        definition = ontology.relationship(self.record.neo4j_type)
        defects = (
            (INCOMPLETE_NODE, not all((*astuple(start), *astuple(end)))),
            (TWO_USERS, start.user_id != end.user_id),
            (ONE_NODE, start.entity_key == end.entity_key),
            (WRONG_LABELS, {start.label, end.label} != {definition.from_label, definition.to_label}),
            (DUPLICATE, self.is_duplicate),
            (WRONG_LEVEL, has_wrong_level(self.record, ontology)),
            (WRONG_VERSION, _has_wrong_version(self.record)),
        )
        return next((defect for defect, is_present in defects if is_present), None)

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        record = self.record
        return f"{record.neo4j_type} {record.from_entity_key!r} -> {record.to_entity_key!r} ({record.element_id})"


Inspected = InspectedNode | InspectedRelationship


def has_wrong_level(record: RelationshipRecord, ontology: Ontology) -> bool:
    """Whether attitude or proximity is neither 1 to 5 nor a word of the type; old graphs also have them as text."""
    for field in LEVEL_FIELDS:
        value = record.properties.get(field)
        is_missing = value is None or (isinstance(value, str) and not value.strip())
        if not is_missing and (isinstance(value, bool) or record.known_level(ontology, field) not in SCALE):
            return True
    return False


def _examine_text(
    inspected: Inspected, repository: NodeRepository | RelationshipRepository, embedder: Embedder, now: datetime
) -> tuple[Issue | None, str | None]:
    """The issue of the embedding or else of the notes that full-text search indexes, and the text to embed."""
    record: Any = inspected.record
    text = repository.text(record, now)
    if is_current(record, text, embedder):
        is_indexed = record.properties.get("notes_text") == record.notes_text(now)
        return None if is_indexed else WRONG_NOTES_TEXT, None
    model = record.properties.get("embedding_model")
    if not text:
        return WITHOUT_TEXT, None
    if not inspected.has_vector:
        return NO_EMBEDDING, text
    if record.vector_length != embedder.dimensions:
        return WRONG_VECTOR, text
    return STALE if model in {None, embedder.model} else other_model(model, embedder.model), text


def _has_wrong_version(record: Record) -> bool:
    version = record.properties.get("version")
    return not (version is None or (isinstance(version, int) and not isinstance(version, bool)))
