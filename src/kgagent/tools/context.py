"""What tools work on: one user's graph and the services that read and write it."""

from dataclasses import dataclass
from datetime import timedelta

from kgagent.admission import Admission
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.node_references import NodeReferences
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.writes import WriteContext
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
    references: NodeReferences
    retrieval: RetrievalService
    live_schema: LiveSchemaReader
    write_context: WriteContext
    patterns: PatternSearch
    admission: Admission
    undo_window: timedelta = timedelta(days=30)
    source_entity_key: str | None = None
    observer: Observer = NULL_OBSERVER
