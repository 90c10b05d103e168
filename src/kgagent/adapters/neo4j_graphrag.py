"""The embedder of a graph as one of the package `neo4j-graphrag`, which its retrievers and
pipelines require.
"""

from neo4j_graphrag.embeddings.base import Embedder

from kgagent.adapters.langchain.embeddings import KnowledgeGraphEmbeddings
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph


class KnowledgeGraphEmbedder(Embedder):  # type: ignore[misc]  # the package has no types for mypy
    """Embeds with the embedder of a graph, so that `VectorRetriever` and others can read the
    graph's vector indexes.

    It works from any thread and event loop while the graph is open.
    """

    def __init__(self, graph: KnowledgeGraph | SyncKnowledgeGraph) -> None:
        """Wrap the embedder of a graph.

        Args:
            graph: an open graph. `embed_query` needs a `SyncKnowledgeGraph`, or a thread other than
                that of the graph's event loop.
        """
        super().__init__()
        self._embeddings = KnowledgeGraphEmbeddings(graph)

    def embed_query(self, text: str) -> list[float]:
        """Embed a text; a vector of the embedder's `dimensions`."""
        return self._embeddings.embed_query(text)

    async def async_embed_query(self, text: str) -> list[float]:
        """Embed a text; a vector of the embedder's `dimensions`."""
        return await self._embeddings.aembed_query(text)
