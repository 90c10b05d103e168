"""Checks of single nodes and relationships: whether each is stored as the tools would store it."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from kgagent.doctor.diagnosis import Finding
from kgagent.doctor.duplicate_keys import DuplicateKeyCounter
from kgagent.doctor.issues import (
    NODE_DEFECTS,
    RELATIONSHIP_DEFECTS,
    SHARED_KEYS_FIX,
    Issue,
    IssueCounter,
    MigrationIssues,
)
from kgagent.doctor.note_sources import NoteSources
from kgagent.embedding.base import Embedder
from kgagent.graph.conditions import (
    VectorCondition,
    node_defect,
    relationship_defect,
    vector_condition,
)
from kgagent.graph.inspection import InspectedNode, InspectedRelationship
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.record_saver import is_current
from kgagent.graph.records import Record
from kgagent.graph.relationships import RelationshipRepository

RecordT = TypeVar("RecordT", bound=Record)

MAX_EXPIRIES = 30
MAX_NOTES_REREAD = 30_000
"""Most recent expiries of a record's notes that can explain a stale embedding, each at the cost of a pass over all its
notes; and the number of notes that all passes together read."""

_CAN_BE_EXPIRED = {VectorCondition.STALE, VectorCondition.WITHOUT_TEXT}
_JUST_BEFORE = timedelta(microseconds=1)


class TextCheck(Generic[RecordT]):
    """Compares the embedding and the indexed notes of a record with its current text."""

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
        """The issue of the record's embedding or, if the embedding is current, of its indexed notes."""
        now = self._clock()
        text = self._text(record, now)
        condition = vector_condition(record, text, self._embedder, has_vector=has_vector)
        if condition is VectorCondition.CURRENT:
            is_indexed = record.properties.get("notes_text") == record.notes_text(now)
            return None if is_indexed else self._issues.notes_text
        if condition in _CAN_BE_EXPIRED and self._was_current_before_a_note_expired(record, now):
            return self._issues.expired
        if condition is VectorCondition.OTHER_MODEL:
            return self._issues.other_model(record.properties["embedding_model"], self._embedder.model)
        return self._issues.vector(condition)

    def _was_current_before_a_note_expired(self, record: RecordT, now: datetime) -> bool:
        expired = {note.expires_at for note in record.notes if note.expires_at is not None and note.expires_at <= now}
        passes = min(MAX_EXPIRIES, max(1, MAX_NOTES_REREAD // max(1, len(record.notes))))
        latest = sorted(expired, reverse=True)[:passes]
        return any(is_current(record, self._text(record, end - _JUST_BEFORE), self._embedder) for end in latest)


class NodeChecks:
    """Checks nodes one by one and collects the findings."""

    def __init__(
        self,
        nodes: NodeRepository,
        embedder: Embedder,
        clock: Callable[[], datetime],
        issues: MigrationIssues,
        sources: NoteSources,
    ) -> None:
        self._counter = IssueCounter("nodes")
        self._sources = sources
        self._keys = DuplicateKeyCounter()
        self._texts = TextCheck(nodes.text, embedder, clock, issues)

    def check(self, node: InspectedNode) -> None:
        """Check one node."""
        self._counter.examined += 1
        if node.record.entity_key:
            self._keys.add(f"{len(node.user_id)}:{node.user_id}{node.record.entity_key}")
        defect = node_defect(node)
        issue = NODE_DEFECTS[defect] if defect else self._texts.issue(node.record, has_vector=node.has_vector)
        if issue:
            self._counter.add(issue, node)
        if not defect:
            self._sources.add(node.user_id, node.record.notes, node)

    @property
    def examined(self) -> int:
        """Number of nodes checked."""
        return self._counter.examined

    def findings(self) -> Iterator[Finding]:
        """The findings about the nodes checked so far."""
        yield from self._counter.findings()
        if shared := self._keys.count():
            message = f"{shared:,} of {self.examined:,} nodes share their entity_key with another node of their user"
            yield Finding("error", message, SHARED_KEYS_FIX)


class RelationshipChecks:
    """Checks relationships one by one and collects the findings."""

    def __init__(
        self,
        relationships: RelationshipRepository,
        embedder: Embedder,
        clock: Callable[[], datetime],
        issues: MigrationIssues,
        sources: NoteSources,
    ) -> None:
        self._counter = IssueCounter("relationships")
        self._sources = sources
        self._repository = relationships
        self._issues = issues
        self._texts = TextCheck(relationships.text, embedder, clock, issues)

    def check(self, relationship: InspectedRelationship) -> None:
        """Check one relationship."""
        self._counter.examined += 1
        for issue in self._issues_of(relationship):
            self._counter.add(issue, relationship)

    @property
    def examined(self) -> int:
        """Number of relationships checked."""
        return self._counter.examined

    def findings(self) -> Iterator[Finding]:
        """The findings about the relationships checked so far."""
        return self._counter.findings()

    def _issues_of(self, relationship: InspectedRelationship) -> Iterator[Issue]:
        # The migration skips a relationship with a defect, so its fixes apply only once the defect is gone.
        if defect := relationship_defect(relationship, self._repository.ontology):
            yield RELATIONSHIP_DEFECTS[defect]
            return
        record = relationship.record
        self._sources.add(relationship.start.user_id, record.notes, relationship)
        if any(isinstance(record.properties.get(field), str) for field in LEVEL_FIELDS):
            yield self._issues.levels_as_text
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
