from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from tests.support.fixtures import embedder, graph, opened

__all__ = ["embedder", "graph", "opened"]


def with_settings(graph: KnowledgeGraph, **changes: object) -> KnowledgeGraph:
    """The same graph with other settings."""
    return KnowledgeGraph(
        services_of(graph).store, graph.ontology, graph.embedder, graph.settings.model_copy(update=changes)
    )
