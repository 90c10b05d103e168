"""Search: one search over statements (search.py), the searches of the documents, paths and
walks.
"""

from kgagent.search.service import RetrievalService

__all__ = ["RetrievalService"]
