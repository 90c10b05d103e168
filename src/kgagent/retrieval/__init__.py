"""Search: retrievers, and the pipeline that fuses, expands, reranks, hydrates and renders what they return."""

from kgagent.retrieval.service import RetrievalService

__all__ = ["RetrievalService"]
