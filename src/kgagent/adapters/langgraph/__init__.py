"""LangGraph: a store in which agents keep items of a user between runs."""

from kgagent.extras import require_extra

with require_extra("ingest", "The LangGraph store"):
    from kgagent.adapters.langgraph.store import KnowledgeGraphStore

__all__ = ["KnowledgeGraphStore"]
