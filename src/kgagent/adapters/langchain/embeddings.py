"""The embedder of a graph as a LangChain embedding model."""

from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.embedding.base import Embedding
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph


class KnowledgeGraphEmbeddings(Embeddings):
    """Embeds with the embedder of a graph, so that its vectors can be compared with those that the
    graph stores.

    It works from any thread and event loop while the graph is open. Its methods raise what the
    embedder raises: `InputError` for an empty text, `EmbeddingUnavailableError` if the model cannot
    be reached.
    """

    def __init__(self, graph: KnowledgeGraph | SyncKnowledgeGraph) -> None:
        """Wrap the embedder of a graph.

        Args:
            graph: an open graph. `embed_documents` and `embed_query` need a `SyncKnowledgeGraph`,
                or a thread other than that of the graph's event loop.
        """
        opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        self._loop = opened.loop
        self._embedder = opened.embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts to store; a vector for each, of the embedder's `dimensions`."""
        return _lists(wait_on(self._loop, self._embedder.embed(texts), instead="aembed_documents"))

    def embed_query(self, text: str) -> list[float]:
        """Embed a search query."""
        [vector] = _lists(
            wait_on(self._loop, self._embedder.embed_queries([text]), instead="aembed_query")
        )
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts to store; a vector for each, of the embedder's `dimensions`."""
        return _lists(await run_on(self._loop, self._embedder.embed(texts)))

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a search query."""
        [vector] = _lists(await run_on(self._loop, self._embedder.embed_queries([text])))
        return vector


def _lists(vectors: Sequence[Embedding]) -> list[list[float]]:
    return [vector.tolist() for vector in vectors]
