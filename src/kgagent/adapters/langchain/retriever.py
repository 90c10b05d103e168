"""Hybrid search as a LangChain retriever."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.answers.document_text import node_lines, relationship_lines
from kgagent.errors import InputError
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.records import NodeRecord
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchRequest
from kgagent.models.passage import Passage
from kgagent.models.plain import without_empty
from kgagent.names import contains_words, plain_sentence
from kgagent.sync import SyncKnowledgeGraph
from kgagent.validation import check_user_id

DEFAULT_K = 10
MAX_K = 100


class KnowledgeGraphRetriever(BaseRetriever):
    """Searches nodes and relationships of one user, by vector and by full text; the best document
    comes first.

    The text of a document is, for a relationship, its triplet ("Ruth mentor Me"), path,
    description, attitude, proximity and notes; for a node its name, description and notes. Expired
    notes are omitted. The metadata hold `type` ("relationship" or "object"), `rank`, `score`,
    `found_by`, `similarity` (cosine), keys and the other fields of the search result. `citations`
    lists the words of sources that a document rests on, its quotes and the passages of a source:
    each with the name of the `source`, its `source_entity_key` and `said_on`, the `passage` with
    its `section`, and the `quote` of a note.

    Attributes:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of
            the graph's event loop.
        user_id: owner of the graph.
        k: maximum number of documents, 1 to 100; `invoke(query, k=…)` overrides it.
        options: how to search; `query` and `limit` are ignored.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: KnowledgeGraph | SyncKnowledgeGraph
    user_id: str
    k: int = Field(DEFAULT_K, ge=1, le=MAX_K)
    options: HybridSearchRequest = HybridSearchRequest()

    @field_validator("user_id")
    @classmethod
    def _check_user_id(cls, user_id: str) -> str:
        check_user_id(user_id)
        return user_id

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return wait_on(self._async_graph.loop, self._search(query, k), instead="ainvoke")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        return await run_on(self._async_graph.loop, self._search(query, k))

    @property
    def _async_graph(self) -> KnowledgeGraph:
        return self.graph.graph if isinstance(self.graph, SyncKnowledgeGraph) else self.graph

    def _search(self, query: str, k: int | None) -> Coroutine[Any, Any, list[Document]]:
        limit = self.k if k is None else k
        if not 1 <= limit <= MAX_K:
            raise InputError(f"k must be 1 to {MAX_K}, got {limit}")
        request = self.options.model_copy(update={"query": query, "limit": limit})
        return _documents(self._async_graph, request, self.user_id)


async def _documents(
    graph: KnowledgeGraph, request: HybridSearchRequest, user_id: str
) -> list[Document]:
    result = await graph.search(request, user_id=user_id)
    services = services_of(graph)
    now = services.write_context.clock()
    quoting = (note for item in result.items for note in item.notes if note.quote)
    keys = {note.source_entity_key for note in quoting if note.source_entity_key}
    sources = await services.nodes.read(user_id, sorted(keys))

    def documents() -> list[Document]:
        passages = {
            key: {plain_sentence(part.text): part.text for part in passages_of(text)}
            for key, source in sources.items()
            for text in [source.text(SOURCE_TEXT)]
        }
        return [_document(item, now, _citations(item, sources, passages)) for item in result.items]

    # Long texts take a while, during which other users' calls go on.
    return await asyncio.to_thread(documents)


def _citations(
    item: HybridObject | HybridRelationship,
    sources: Mapping[str, NodeRecord],
    passages: Mapping[str, Mapping[str, str]],
) -> list[dict[str, str | None]]:
    """The words of sources that an item rests on.

    Args:
        item: what a search found.
        sources: the sources of its notes with quotes, by their keys.
        passages: the passages of each source, by their plain words.
    """
    found: list[dict[str, str | None]] = []
    for note in item.notes:
        key, source = note.source_entity_key, sources.get(note.source_entity_key or "")
        if isinstance(note, Passage) and isinstance(item, HybridObject):
            of_text = {"source": item.name, "source_entity_key": item.entity_key}
            of_passage = {"section": note.section, "passage": note.content}
            found.append({**of_text, "said_on": note.when, **of_passage})
        elif note.quote:
            quote, of_source = plain_sentence(note.quote), passages.get(key or "", {})
            said = (text for plain, text in of_source.items() if contains_words(plain, quote))
            found.append(
                {
                    "source": key if source is None else source.text("name"),
                    "source_entity_key": key,
                    "said_on": None if source is None else source.text("said_on"),
                    "passage": next(said, None),
                    "quote": note.quote,
                }
            )
    return found


def _document(
    item: HybridObject | HybridRelationship, now: datetime, citations: Sequence[Mapping[str, Any]]
) -> Document:
    if isinstance(item, HybridRelationship):
        title, (_, *known) = item.triplet_text, relationship_lines(item, now, item.path)
    else:
        title, (_, *known) = item.name or item.entity_key, node_lines(item, now)
    metadata = without_empty(
        {**item.model_dump(mode="json", exclude_none=True), "citations": citations}
    )
    return Document(
        page_content="\n".join((title, *(line.strip() for line in known))), metadata=metadata
    )
