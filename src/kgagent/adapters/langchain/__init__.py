"""LangChain: the agent's tools for chat models that call tools, and a retriever."""

from kgagent.adapters.langchain.retriever import KnowledgeGraphRetriever
from kgagent.adapters.langchain.tools import KnowledgeGraphToolkit, get_tools

__all__ = ["KnowledgeGraphRetriever", "KnowledgeGraphToolkit", "get_tools"]
