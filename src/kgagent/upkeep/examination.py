"""What a scan reads of a record, and what can be wrong with it."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self

from kgagent.embedding.base import Embedder
from kgagent.formatting import beginning
from kgagent.graph.embedded_text import EmbeddedText
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.property_names import LEVEL_FIELDS, STATEMENTS_HASH
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import NodeRecord, RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.statement_index import days_of, record_statements, statements_hash
from kgagent.graph.store import Row
from kgagent.graph.stored_embeddings import embedding_hash
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
        migrate = (
            "kgagent migrate"
            if user_id is None
            else f"kgagent migrate --user {shlex.quote(user_id)}"
        )
        message = f"{records} have {self.phrase}" + (
            "" if example is None else f", such as {example}"
        )
        fix = self.fix.replace(MIGRATE, migrate)
        return Finding(severity=self.severity, message=message, fix=fix)


# What a migration fixes.
NO_EMBEDDING = Issue("no embedding")
WRONG_VECTOR = Issue("an embedding of another length, or one that is not a list of numbers")
STALE = Issue("an outdated embedding: the text has changed since, or notes have expired")
WITHOUT_TEXT = Issue("an embedding but no text")
WRONG_STATEMENTS = Issue("statements that searches miss, or still find")
WRONG_DAYS = Issue("stored days that do not match `when`, by which searches filter")
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
        f"an embedding of model {beginning(repr(stored), MAX_MODEL_NAME)}, which semantic search "
        f"omits",
        "error",
        f"{MIGRATE} embeds them again with {present!r}; or set KGAGENT_EMBEDDER and the model that "
        f"made them",
    )


# Defects, which only a person can decide how to fix.
NO_KEY = Issue(
    "no entity_key of type string, without which no tool finds a node",
    fix=(
        "Give the node a unique entity_key, such as a UUID; `kgagent adopt` does so for the nodes "
        "of other programs"
    ),
)
NO_USER = Issue(
    "no user_id of type string, without which no search finds a node",
    fix=(
        "`kgagent adopt` gives the nodes of other programs to a user; in an adopted graph, "
        "{migrate} adopts new nodes"
    ),
)
SHARED_KEY = Issue(
    "an entity_key that another node of the user has too",
    "error",
    "Merge them or give each a unique key; to list them: MATCH (n) WHERE n.entity_key IS NOT NULL "
    "WITH n.user_id AS user, n.entity_key AS key, collect(n) AS nodes WHERE size(nodes) > 1 RETURN "
    "user, key, nodes",
)
WRONG_VERSION = Issue(
    "a version that is not an integer",
    fix="Remove the property `version`, which kgagent uses to count writes: SET x.version = null",
)
INCOMPLETE_NODE = Issue(
    "a node without a label of the ontology, entity_key or user_id",
    fix=(
        "`kgagent adopt` gives the nodes of other programs what they lack; a custom ontology can "
        "have their labels"
    ),
)
TWO_USERS = Issue(
    "nodes of different users", "error", "Delete them, or assign both nodes to one user"
)
_BY_HAND = "Fix by hand; the tools and the migration do not change such relationships"
ONE_NODE = Issue("the same node at both ends", fix=_BY_HAND)
WRONG_LABELS = Issue("nodes with labels that the type does not allow", fix=_BY_HAND)
DUPLICATE = Issue(
    "another relationship of the same type between the same nodes, which the tools use instead",
    fix="Keep one of each and delete the others; to list them: MATCH (a)-[r]-(b) WHERE "
    "elementId(a) < elementId(b) "
    "WITH a, b, type(r) AS type, collect(r) AS copies WHERE size(copies) > 1 RETURN a, b, type, "
    "copies",
)
WRONG_LEVEL = Issue(
    "an attitude or proximity that is neither 1 to 5 nor a word of the type",
    fix="Set it to 1 to 5 with the update_relationship tool or in Cypher",
)


@dataclass(frozen=True, kw_only=True)
class Examination:
    """The result of examining a record.

    Attributes:
        defect: its first defect, with which a migration skips the record; other issues are not
            examined then.
        issues: what a migration fixes; empty if the record is stored as the tools would store it.
        outdated_texts: the texts to embed, its own and those of its statements; empty if what is
            stored is current.
        has_other_entries: whether the index of statements has not what was written for it.
    """

    defect: Issue | None = None
    issues: tuple[Issue, ...] = ()
    outdated_texts: tuple[str, ...] = ()
    has_other_entries: bool = False


Intent = NodeIntent | RelationshipIntent
Repository = NodeRepository | RelationshipRepository


class InspectedEnd(NamedTuple):
    """A node, or a node at the end of a relationship; a missing or invalid value is empty."""

    entity_key: str
    user_id: str
    label: str

    @classmethod
    def of(cls, values: Sequence[Any], ontology: Ontology) -> Self:
        """The node that a row of a scan describes."""
        labels, entity_key, user_id = values
        has_label = any(label in ontology.labels for label in labels)
        label = ontology_label(labels, ontology) if has_label else ""
        return cls(as_text(entity_key), as_text(user_id), label)


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """A stored node or relationship.

    Attributes:
        record: its texts and bookkeeping; other properties, and the names of a relationship's ends,
            are not read.
        ends: the node itself, or the nodes at which the relationship starts and ends.
        has_vector: whether the property of its embedding has any value.
        entries: model and fingerprint of each of its entries in the index of statements; None of
            one without an embedding.
        is_duplicate: whether the nodes of a relationship have another one of its type, which the
            tools use instead.
    """

    record: NodeRecord | RelationshipRecord
    ends: tuple[InspectedEnd, ...]
    has_vector: bool
    entries: Sequence[str | None]
    is_duplicate: bool

    @classmethod
    def of(cls, row: Row, ontology: Ontology) -> Self:
        """The record of a row of a scan."""
        ends = tuple(InspectedEnd.of(values, ontology) for values in row["ends"])
        record: NodeRecord | RelationshipRecord
        if "neo4j_type" in row:
            keys = {"from_entity_key": ends[0].entity_key, "to_entity_key": ends[1].entity_key}
            record = RelationshipRecord.read({**row, **keys, "from_name": "", "to_name": ""})
        else:
            record = NodeRecord.read(row, ontology)
        return cls(
            record=record,
            ends=ends,
            has_vector=row["has_vector"],
            entries=row["entries"],
            is_duplicate=row.get("is_duplicate", False),
        )

    @property
    def user_id(self) -> str:
        """The owner of the node, or of the node at which the relationship starts; empty if that has
        none.
        """
        return self.ends[0].user_id

    @property
    def entity_keys(self) -> frozenset[str]:
        """The key of the node, or those of the relationship's nodes."""
        return frozenset(end.entity_key for end in self.ends)

    def examine(self, repository: Repository, embedder: Embedder, now: datetime) -> Examination:
        """Examine it; notes that have expired by `now` do not count."""
        defects = self._defects(repository.ontology)
        if defect := next((one for one, is_present in defects.items() if is_present), None):
            return Examination(defect=defect)
        if self._has_other_entries(repository, embedder, now):
            unindexed = replace(self, record=with_properties(self.record, {STATEMENTS_HASH: None}))
            return replace(unindexed.examine(repository, embedder, now), has_other_entries=True)
        text_issue, outdated_texts = _examine_text(self, repository, embedder, now)
        issues = {} if text_issue is None else {text_issue: True}
        record = self.record
        if isinstance(record, RelationshipRecord) and isinstance(
            repository, RelationshipRepository
        ):
            stored = record.properties
            has_text = any(isinstance(stored.get(field), str) for field in LEVEL_FIELDS)
            if has_text:
                issues = {}
            user_id, days = stored.get("user_id"), days_of([record.dated])
            issues |= {
                OLD_FORMAT: has_text or record.has_old_embeddings,
                MISSING_USER: user_id is None,
                WRONG_USER: user_id not in (None, self.user_id),
                WRONG_KEY: stored.get("relationship_key") != repository.relationship_key(record),
                WRONG_DAYS: any(stored.get(name) != value for name, value in days.items()),
            }
        return Examination(
            issues=tuple(issue for issue, is_present in issues.items() if is_present),
            outdated_texts=outdated_texts,
        )

    def _has_other_entries(self, repository: Repository, embedder: Embedder, now: datetime) -> bool:
        """Whether the entries differ from those that its fingerprint says that it has."""
        record: Any = self.record
        statements = record_statements(repository, record, now)
        stored, key = record.properties, statements.location["record"]
        is_keyed = isinstance(record, NodeRecord) or stored.get("relationship_key") == key
        if not is_keyed or stored.get(STATEMENTS_HASH) != statements_hash(embedder, statements):
            return False
        texts = (one.embedded for one in statements.texts.values())
        said = (f"{embedder.model} {embedding_hash(embedder, text)}" for text in texts)
        return Counter[str | None](said) != Counter(self.entries)

    def _defects(self, ontology: Ontology) -> dict[Issue, bool]:
        version = self.record.properties.get("version")
        has_wrong_version = version is not None and type(version) is not int
        if isinstance(self.record, NodeRecord):
            [node] = self.ends
            return {
                NO_KEY: not node.entity_key,
                NO_USER: not node.user_id,
                WRONG_VERSION: has_wrong_version,
            }
        start, end = self.ends
        definition = ontology.relationship(self.record.neo4j_type)
        return {
            INCOMPLETE_NODE: not all((*start, *end)),
            TWO_USERS: start.user_id != end.user_id,
            ONE_NODE: start.entity_key == end.entity_key,
            WRONG_LABELS: definition.direction(start.label, end.label) is None,
            DUPLICATE: self.is_duplicate,
            WRONG_LEVEL: has_wrong_level(self.record, ontology),
            WRONG_VERSION: has_wrong_version,
        }

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        record = self.record
        if isinstance(record, NodeRecord):
            return (
                f"{record.label} {record.entity_key or record.text('name')!r} ({record.element_id})"
            )
        return (
            f"{record.neo4j_type} {record.from_entity_key!r} -> {record.to_entity_key!r} "
            f"({record.element_id})"
        )


def has_wrong_level(record: RelationshipRecord, ontology: Ontology) -> bool:
    """Whether attitude or proximity is neither 1 to 5 nor a word of the type; old graphs also have
    them as text.
    """
    for field in LEVEL_FIELDS:
        value = record.properties.get(field)
        is_missing = value is None or (isinstance(value, str) and not value.strip())
        if not is_missing and (
            isinstance(value, bool) or record.known_level(ontology, field) not in SCALE
        ):
            return True
    return False


def _examine_text(
    inspected: Inspected, repository: Repository, embedder: Embedder, now: datetime
) -> tuple[Issue | None, tuple[str, ...]]:
    """The issue of the embedding, or else of the index of statements, and the texts to embed."""
    record: Any = inspected.record
    embedded = EmbeddedText.of(repository, record, record, now)
    change = embedded.statements_change(embedder)
    outdated = embedded.outdated_texts(embedder, change)
    model = record.properties.get("embedding_model")
    if embedded.is_current(embedder):
        is_indexed = change is None and record.properties.get("notes_text") == record.notes_text(
            now
        )
        return None if is_indexed else WRONG_STATEMENTS, outdated
    if not embedded.text:
        return WITHOUT_TEXT, outdated
    if not inspected.has_vector:
        return NO_EMBEDDING, outdated
    if record.vector_length != embedder.dimensions:
        return WRONG_VECTOR, outdated
    return STALE if model in {None, embedder.model} else other_model(
        model, embedder.model
    ), outdated
