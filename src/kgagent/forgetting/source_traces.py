"""Removes what a source left on records that stay: its notes, and its progress on nodes that it was merged into."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kgagent.errors import ConflictError, EmbeddingError, KgAgentError, StoreError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeStrategy, NodeWriteOptions
from kgagent.graph.records import Record
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipRepository,
    RelationshipStrategy,
    RelationshipWriteOptions,
)
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import WriteContext
from kgagent.models import Note
from kgagent.models.ingestion_state import merged_sources
from kgagent.models.merged_notes import stored_form
from kgagent.models.note import dump_notes, notes_text_at, parse_notes

IntentT = TypeVar("IntentT", NodeIntent, RelationshipIntent)


@dataclass(frozen=True)
class SourceTraces:
    """The traces of one source of a user.

    Notes are removed with the writes of the tools, so that each record that stays has the embedding of its text.
    Deleted records lose theirs and get another when they are restored.

    Attributes:
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        context: dependencies of writes.
        user_id: owner of the source.
        entity_key: key of the source.
        batch_size: records per transaction.
    """

    nodes: NodeRepository
    relationships: RelationshipRepository
    context: WriteContext
    user_id: str
    entity_key: str
    batch_size: int

    async def count(self) -> Counter[str]:
        """Count the notes of records that stay when the source itself is forgotten, and the nodes with progress.

        Raises:
            StoreError: the database failed.
        """
        keys = ("entity_key", "from_entity_key", "to_entity_key")
        rows = await self._find()
        return self._counts(row for row in rows if self.entity_key not in {row[key] for key in keys})

    async def remove(self) -> Counter[str]:
        """Remove all traces, and count them.

        Raises:
            ConflictError: records kept their traces.
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        removed = Counter[str]()
        problem = ""
        rows = await self._find()
        for _ in range(self.context.attempts):
            if not rows:
                break
            problem = await self._remove(rows) or problem
            remaining = await self._find()
            removed += self._counts(rows) - self._counts(remaining)
            rows = remaining
        if rows:
            cause = f" ({problem})" if problem else ""
            raise ConflictError(f"{len(rows)} records still have notes from {self.entity_key}{cause}. Forget it again")
        return removed

    async def _find(self) -> list[Row]:
        """The records that have traces."""
        rows = await self.nodes.store.read(
            statement(
                "find_records_that_name_a_source",
                **self.relationships.names,
                all_deleted=DELETED_NAMES["all_deleted"],
            ),
            {"user_id": self.user_id, "text": stored_form(self.entity_key)},
        )
        return [row for row in rows if self._notes_of(row) or self._is_merged(row)]

    async def _remove(self, rows: Sequence[Row]) -> str:
        """Remove the traces of records; returns why one of them cannot be written."""
        nodes = NodeStrategy(
            self.nodes,
            self.context,
            user_id=self.user_id,
            options=NodeWriteOptions(prepare=self._without_notes),
        )
        relationships = RelationshipStrategy(
            self.relationships,
            self.context,
            user_id=self.user_id,
            options=RelationshipWriteOptions(prepare=self._without_notes),
        )
        living = [row for row in rows if not row["is_deleted"] and self._notes_of(row)]
        node_intents = [NodeIntent(entity_key=row["entity_key"]) for row in living if not row["is_relationship"]]
        relationship_intents = [_relationship_intent(row) for row in living if row["is_relationship"]]
        problems: list[str] = []
        for start in range(0, len(node_intents), self.batch_size):
            batch = node_intents[start : start + self.batch_size]
            problems += _problems(await compare_and_set(nodes, batch, attempts=self.context.attempts))
        for start in range(0, len(relationship_intents), self.batch_size):
            pairs = relationship_intents[start : start + self.batch_size]
            problems += _problems(await compare_and_set(relationships, pairs, attempts=self.context.attempts))
        for row in rows:
            if row["is_deleted"] or self._is_merged(row):
                await self._remove_from_node(row)
        return next(iter(problems), "")

    async def _remove_from_node(self, row: Row) -> None:
        """Remove the traces of what is kept of a deleted record, or the progress on a node."""
        kept = [note for note in parse_notes(row["notes"]) if note.source_entity_key != self.entity_key]
        merged = {key: value for key, value in merged_sources(row["merged"]).items() if key != self.entity_key}
        changes = row["is_deleted"] and self._notes_of(row)
        await self.nodes.store.write(
            statement("remove_source_from_node"),
            {
                "user_id": self.user_id,
                "element_id": row["element_id"],
                "notes": row["notes"] if changes else None,
                "notes_after": dump_notes(kept) if kept else None,
                "notes_text": notes_text_at(kept, self.context.clock()) or None,
                "merged": row["merged"],
                "merged_after": json.dumps(merged) if merged else None,
            },
        )

    def _without_notes(self, intent: IntentT, stored: Record | None) -> IntentT:
        if stored is None:
            return intent
        kept = [note for note in stored.notes if note.source_entity_key != self.entity_key]
        if len(kept) == len(stored.notes):
            return intent
        return replace(intent, values={"notes": dump_notes(kept) if kept else None})

    def _notes_of(self, row: Row) -> list[Note]:
        return [note for note in parse_notes(row["notes"]) if note.source_entity_key == self.entity_key]

    def _is_merged(self, row: Row) -> bool:
        return self.entity_key in merged_sources(row["merged"])

    def _counts(self, rows: Iterable[Row]) -> Counter[str]:
        found = list(rows)
        return Counter(
            notes=sum(len(self._notes_of(row)) for row in found),
            merged_sources=sum(self._is_merged(row) for row in found),
        )


def _relationship_intent(row: Row) -> RelationshipIntent:
    return RelationshipIntent(
        from_entity_key=row["from_entity_key"], to_entity_key=row["to_entity_key"], neo4j_type=row["neo4j_type"]
    )


def _problems(outcomes: Iterable[Any]) -> list[str]:
    """Why records could not be written.

    Raises:
        EmbeddingError, StoreError: the embedder or the database failed.
    """
    problems = []
    for outcome in outcomes:
        if isinstance(outcome, EmbeddingError | StoreError):
            raise outcome
        if isinstance(outcome, KgAgentError):
            problems.append(str(outcome))
    return problems
