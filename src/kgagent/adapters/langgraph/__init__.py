"""LangGraph: a store in which agents keep items of a user between runs."""

from kgagent.adapters.langgraph.store import KnowledgeGraphStore

__all__ = ["KnowledgeGraphStore"]
