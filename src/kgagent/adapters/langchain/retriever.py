"""Hybrid search as a LangChain retriever."""

from collections.abc import Coroutine
from datetime import datetime
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.errors import InputError
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.graph import without_empty
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchOptions
from kgagent.models.llm_context import node_lines, relationship_lines
from kgagent.sync import SyncKnowledgeGraph

DOCUMENTS = 10
"""Documents that are given unless the caller says how many."""


class KnowledgeGraphRetriever(BaseRetriever):
    """Finds nodes and relationships of one user, by meaning and by words, best first.

    A document's text is what `HybridSearchResult.to_llm_context` writes of a relationship (its triplet, as "Ruth
    mentor Me", how it was reached, description, words, notes) or of a node (name, description, notes), as chains show
    a model the text alone. Notes that have expired are left out. The metadata say what it is (`type`: "relationship"
    or "object"), where it stands (`rank`, `score`, `found_by`, `similarity`: plain cosine) and all else that the
    search tells of it, keys included.

    Attributes:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or to run in another thread than the graph's loop.
        user_id: whose graph.
        k: documents at the most, 1 to 100; `invoke` takes another `k`.
        options: how to search; its own `limit` does not count.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: KnowledgeGraph | SyncKnowledgeGraph
    user_id: str
    k: int = Field(DOCUMENTS, ge=1, le=100)
    options: HybridSearchOptions = HybridSearchOptions()

    @field_validator("user_id")
    @classmethod
    def _names_a_user(cls, user_id: str) -> str:
        if not user_id:
            raise ValueError("user_id must not be empty: the graph is one user's")
        return user_id

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return wait_on(self._opened.loop, self._search(query, k), instead="ainvoke")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return await run_on(self._opened.loop, self._search(query, k))

    @property
    def _opened(self) -> KnowledgeGraph:
        return self.graph.graph if isinstance(self.graph, SyncKnowledgeGraph) else self.graph

    def _search(self, query: str, k: int | None) -> Coroutine[Any, Any, list[Document]]:
        limit = self.k if k is None else k
        if not 1 <= limit <= 100:  # noqa: PLR2004
            raise InputError(f"k must be 1 to 100, got {limit}")
        return _documents(self._opened, query, self.user_id, self.options.model_copy(update={"limit": limit}))


async def _documents(graph: KnowledgeGraph, query: str, user_id: str, options: HybridSearchOptions) -> list[Document]:
    result = await graph.retrieval.hybrid_search(options.model_copy(update={"query": query}), user_id=user_id)
    now = services_of(graph).write_context.clock()
    return [_document(item, now) for item in result.items]


def _document(item: HybridObject | HybridRelationship, now: datetime) -> Document:
    if isinstance(item, HybridRelationship):
        title, (_, *known) = item.triplet_text, relationship_lines(item, now, item.path)
    else:
        title, (_, *known) = item.name or item.entity_key, node_lines(item, now)
    metadata = without_empty(item.model_dump(mode="json", exclude_none=True))
    return Document(page_content="\n".join((title, *(line.strip() for line in known))), metadata=metadata)
