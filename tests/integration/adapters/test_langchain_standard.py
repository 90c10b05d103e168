"""LangChain's own standard tests on the retriever, the tools and the embeddings."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)

from kgagent import Settings, SyncKnowledgeGraph
from kgagent.adapters.langchain import KnowledgeGraphEmbeddings, KnowledgeGraphRetriever, get_tools
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS

USER = "user-of-langchain-standard-tests"


@pytest.fixture(scope="module")
def opened(settings: Settings) -> Iterator[SyncKnowledgeGraph]:
    """A graph with three friends, who are the same however often they are made."""
    with SyncKnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        tools = graph.tools(user_id=USER)
        for name in ("Sailing club", "Sailing school", "Sailing museum"):
            tools.create_node(label="Entity", name=name, description="A place to learn sailing.")
        yield graph


class TestRetriever(RetrieversIntegrationTests):
    """The retriever does what LangChain asks of retrievers."""

    graph: ClassVar[SyncKnowledgeGraph]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _on_the_graph(cls, opened: SyncKnowledgeGraph) -> None:
        cls.graph = opened

    @property
    def retriever_constructor(self) -> type[KnowledgeGraphRetriever]:
        return KnowledgeGraphRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"graph": self.graph, "user_id": USER}

    @property
    def retriever_query_example(self) -> str:
        return "Where can I learn sailing?"


class TestEmbeddings(EmbeddingsIntegrationTests):
    """The graph's embedder does what LangChain asks of embedding models."""

    graph: ClassVar[SyncKnowledgeGraph]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _on_the_graph(cls, opened: SyncKnowledgeGraph) -> None:
        cls.graph = opened

    @property
    def embeddings_class(self) -> type[KnowledgeGraphEmbeddings]:
        return KnowledgeGraphEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"graph": self.graph}

    async def test_vectors_are_those_of_the_graph(self) -> None:
        embeddings = KnowledgeGraphEmbeddings(self.graph)
        [stored] = await self.graph.embedder.embed(["a text"])
        [searched] = await self.graph.embedder.embed_queries(["a text"])
        assert await embeddings.aembed_documents(["a text"]) == [stored.tolist()]
        assert embeddings.embed_query("a text") == searched.tolist()


class _OnAllTools:
    """One of the tools, with arguments that it takes."""

    graph: ClassVar[SyncKnowledgeGraph]
    name: ClassVar[str] = "explore"
    arguments: ClassVar[dict[str, Any]] = {"text_matches": ["Sailing"]}

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _on_the_graph(cls, opened: SyncKnowledgeGraph) -> None:
        cls.graph = opened

    @property
    def tool_constructor(self) -> BaseTool:
        [tool] = get_tools(self.graph, user_id=USER, names=[self.name])
        return tool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return self.arguments


class _OnCreateNode(_OnAllTools):
    """A tool that writes; the second time it says that the node is there."""

    name = "create_node"
    arguments: ClassVar[dict[str, Any]] = {"label": "Entity", "name": "Sailing shop"}


class TestExplore(_OnAllTools, ToolsIntegrationTests):
    """A tool that looks answers as LangChain asks of tools."""


class TestCreateNode(_OnCreateNode, ToolsIntegrationTests):
    """A tool that writes answers so too."""
