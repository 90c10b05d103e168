"""What tools work on: one user's graph and the services that read and write it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from kgagent.errors import KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.deleted_relationships import DeletionResult, DeletionStrategy, RestorationStrategy
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.merge_plan import MergeIntent
from kgagent.graph.merge_strategy import MergeResult, MergeStrategy
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeStrategy, NodeWriteResult
from kgagent.graph.record_saver import WriteContext
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipRepository,
    RelationshipStrategy,
    RelationshipWriteResult,
)
from kgagent.models.ingestion_state import merge_ingestion_state
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.patterns.search import PatternSearch
from kgagent.retrieval import RetrievalService


@dataclass(frozen=True)
class ToolContext:
    """Services that the tools use, bound to one user.

    Attributes:
        source_entity_key: the Source node that is being read. If set, every note refers to it, whatever the model says.
    """

    user_id: str
    ontology: Ontology
    nodes: NodeRepository
    relationships: RelationshipRepository
    retrieval: RetrievalService
    live_schema: LiveSchemaReader
    writing: WriteContext
    patterns: PatternSearch
    undo_window: timedelta = timedelta(days=30)
    source_entity_key: str | None = None
    observer: Observer = NULL_OBSERVER

    async def write_nodes(self, intents: Sequence[NodeIntent]) -> list[NodeWriteResult | KgAgentError]:
        """Create and change nodes; each intent succeeds or fails on its own."""
        strategy = NodeStrategy(self.nodes, self.writing, user_id=self.user_id)
        return await compare_and_set(strategy, intents, attempts=self.writing.attempts)

    async def write_relationships(
        self, intents: Sequence[RelationshipIntent]
    ) -> list[RelationshipWriteResult | KgAgentError]:
        """Create and change relationships; each intent succeeds or fails on its own."""
        strategy = RelationshipStrategy(self.relationships, self.writing, user_id=self.user_id)
        return await compare_and_set(strategy, intents, attempts=self.writing.attempts)

    async def delete_relationships(self, intents: Sequence[RelationshipIntent]) -> list[DeletionResult | KgAgentError]:
        """Delete relationships; each intent succeeds or fails on its own."""
        strategy = DeletionStrategy(self.relationships, self.writing, user_id=self.user_id, window=self.undo_window)
        return await compare_and_set(strategy, intents, attempts=self.writing.attempts)

    async def restore_relationships(
        self, intents: Sequence[RelationshipIntent]
    ) -> list[RelationshipWriteResult | KgAgentError]:
        """Restore deleted relationships; each intent succeeds or fails on its own."""
        strategy = RestorationStrategy(self.relationships, self.writing, user_id=self.user_id)
        return await compare_and_set(strategy, intents, attempts=self.writing.attempts)

    async def merge_nodes(self, intents: Sequence[MergeIntent]) -> list[MergeResult | KgAgentError]:
        """Merge nodes; each intent succeeds or fails on its own."""
        strategy = MergeStrategy(
            self.nodes,
            self.relationships,
            self.writing,
            user_id=self.user_id,
            merge_properties=merge_ingestion_state,
        )
        return await compare_and_set(strategy, intents, attempts=self.writing.attempts)
