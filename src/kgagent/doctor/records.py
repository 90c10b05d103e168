"""Nodes and relationships: whether each is as the tools would have left it."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from kgagent.doctor.diagnosis import Finding
from kgagent.doctor.issues import NODE_DEFECTS, RELATIONSHIP_DEFECTS, SHARED_KEYS_MEND, MigrationIssues
from kgagent.doctor.ledger import Issue, Ledger
from kgagent.doctor.shared_keys import SharedKeys
from kgagent.embedding.base import Embedder
from kgagent.graph.conditions import (
    VectorCondition,
    node_defect,
    relationship_defect,
    vector_condition,
)
from kgagent.graph.inspection import InspectedNode, InspectedRelationship
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import LEVEL_FIELDS, Record
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.vectors import is_current

RecordT = TypeVar("RecordT", bound=Record)

_JUST_BEFORE = timedelta(microseconds=1)


class TextCheck(Generic[RecordT]):
    """Compares with the texts of a record what searches find it by."""

    def __init__(
        self,
        text: Callable[[RecordT, datetime], str],
        embedder: Embedder,
        clock: Callable[[], datetime],
        issues: MigrationIssues,
    ) -> None:
        self._text = text
        self._embedder = embedder
        self._clock = clock
        self._issues = issues

    def issue(self, record: RecordT, *, has_vector: bool) -> Issue | None:
        """What is wrong with the vector of a record or, where it is current, with what full-text search finds."""
        now = self._clock()
        text = self._text(record, now)
        condition = vector_condition(record, text, self._embedder, has_vector=has_vector)
        if condition is VectorCondition.CURRENT:
            found = record.properties.get("notes_text") == record.notes_text(now)
            return None if found else self._issues.unfound_notes
        if self._was_current_before_a_note_expired(record, now):
            return self._issues.expired
        return self._issues.vector(condition)

    def _was_current_before_a_note_expired(self, record: RecordT, now: datetime) -> bool:
        ends = {note.expires_at for note in record.notes if note.expires_at is not None and note.expires_at <= now}
        return any(is_current(record, self._text(record, end - _JUST_BEFORE), self._embedder) for end in ends)


class NodeExamination:
    """Takes nodes one by one and tells in the end what was wrong."""

    def __init__(
        self, nodes: NodeRepository, embedder: Embedder, clock: Callable[[], datetime], issues: MigrationIssues
    ) -> None:
        self._ledger = Ledger("nodes")
        self._keys = SharedKeys()
        self._texts = TextCheck(nodes.text, embedder, clock, issues)

    def take(self, node: InspectedNode) -> None:
        """Examine one node."""
        self._ledger.examined += 1
        if node.record.entity_key:
            self._keys.note(node.record.entity_key)
        defect = node_defect(node)
        found = NODE_DEFECTS[defect] if defect else self._texts.issue(node.record, has_vector=node.has_vector)
        if found:
            self._ledger.note(found, node)

    @property
    def examined(self) -> int:
        """How many nodes were taken."""
        return self._ledger.examined

    def findings(self) -> Iterator[Finding]:
        """What was wrong with them."""
        yield from self._ledger.findings()
        if shared := self._keys.count():
            what = f"{shared:,} of {self.examined:,} nodes share their entity_key with another node"
            yield Finding("error", what, SHARED_KEYS_MEND)


class RelationshipExamination:
    """Takes relationships one by one and tells in the end what was wrong."""

    def __init__(
        self,
        relationships: RelationshipRepository,
        embedder: Embedder,
        clock: Callable[[], datetime],
        issues: MigrationIssues,
    ) -> None:
        self._ledger = Ledger("relationships")
        self._repository = relationships
        self._issues = issues
        self._texts = TextCheck(relationships.text, embedder, clock, issues)

    def take(self, relationship: InspectedRelationship) -> None:
        """Examine one relationship."""
        self._ledger.examined += 1
        for issue in self._issues_of(relationship):
            self._ledger.note(issue, relationship)

    @property
    def examined(self) -> int:
        """How many relationships were taken."""
        return self._ledger.examined

    def findings(self) -> Iterator[Finding]:
        """What was wrong with them."""
        return self._ledger.findings()

    def _issues_of(self, relationship: InspectedRelationship) -> Iterator[Issue]:
        """A defect stands alone: what the migration would mend waits until a person has mended that."""
        if defect := relationship_defect(relationship, self._repository.ontology):
            yield RELATIONSHIP_DEFECTS[defect]
            return
        record = relationship.record
        if any(isinstance(record.properties.get(field), str) for field in LEVEL_FIELDS):
            yield self._issues.written_levels
        elif issue := self._texts.issue(record, has_vector=relationship.has_vector):
            yield issue
        if record.has_old_embeddings:
            yield self._issues.old_embeddings
        if record.has_old_is_reversed:
            yield self._issues.old_is_reversed
        user_id = record.properties.get("user_id")
        if user_id != relationship.start.user_id:
            yield self._issues.no_user if user_id is None else self._issues.wrong_user
        if record.properties.get("relationship_key") != self._repository.relationship_key(record):
            yield self._issues.wrong_key
