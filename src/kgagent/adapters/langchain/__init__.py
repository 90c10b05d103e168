"""LangChain: the agent's tools for chat models that call tools, a retriever, and the graph's
embedder.
"""

from kgagent.adapters.langchain.embeddings import KnowledgeGraphEmbeddings
from kgagent.adapters.langchain.retriever import KnowledgeGraphRetriever
from kgagent.adapters.langchain.tools import KnowledgeGraphToolkit, get_tools

__all__ = [
    "KnowledgeGraphEmbeddings",
    "KnowledgeGraphRetriever",
    "KnowledgeGraphToolkit",
    "get_tools",
]
