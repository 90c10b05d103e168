"""Search: retrievers, and the pipeline that fuses, expands, hydrates, reranks and renders what they return."""

from kgagent.search.service import RetrievalService

__all__ = ["RetrievalService"]
