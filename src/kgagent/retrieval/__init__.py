"""Search: nodes and relationships by meaning, nodes by name and through relationships, all fused by `explore`."""

from kgagent.retrieval.service import RetrievalService

__all__ = ["RetrievalService"]
