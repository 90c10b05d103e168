"""What tools work on: one user's graph and the services that read and write it."""

from dataclasses import dataclass
from datetime import timedelta

from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.node_merger import NodeMerger
from kgagent.graph.nodes import NodeRepository, NodeWriter
from kgagent.graph.record_writer import WriteContext
from kgagent.graph.relationship_deleter import RelationshipDeleter
from kgagent.graph.relationship_restorer import RelationshipRestorer
from kgagent.graph.relationship_writer import RelationshipWriter
from kgagent.graph.relationships import RelationshipRepository
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

    def relationship_writer(self) -> RelationshipWriter:
        """Writes the user's relationships."""
        return RelationshipWriter(self.relationships, self.writing, user_id=self.user_id)

    def relationship_deleter(self) -> RelationshipDeleter:
        """Deletes the user's relationships."""
        return RelationshipDeleter(self.relationships, self.writing, user_id=self.user_id, window=self.undo_window)

    def relationship_restorer(self) -> RelationshipRestorer:
        """Restores the user's relationships."""
        return RelationshipRestorer(self.relationships, self.writing, user_id=self.user_id)

    def node_merger(self) -> NodeMerger:
        """Merges the user's nodes."""
        return NodeMerger(self.nodes, self.relationships, self.writing, user_id=self.user_id)

    def node_writer(self) -> NodeWriter:
        """Writes the user's nodes."""
        return NodeWriter(self.nodes, self.writing, user_id=self.user_id)
