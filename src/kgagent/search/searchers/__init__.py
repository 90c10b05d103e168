"""Searchers: one interface for three ways to find nodes: by similarity, by graph distance, and by
both.
"""

from kgagent.errors import InputError
from kgagent.search.searchers.searchers import (
    GraphSearcher,
    HybridSearcher,
    Searcher,
    VectorSearcher,
)
from kgagent.search.service import RetrievalService
from kgagent.validation import check_user_id

__all__ = ["GraphSearcher", "HybridSearcher", "Searcher", "VectorSearcher", "make_searcher"]

SEARCHERS: dict[str, type[VectorSearcher | GraphSearcher | HybridSearcher]] = {
    "vector": VectorSearcher,
    "graph": GraphSearcher,
    "hybrid": HybridSearcher,
}


def make_searcher(name: str, retrieval: RetrievalService, *, user_id: str) -> Searcher:
    """Make a searcher for one user.

    Args:
        name: "vector", "graph" or "hybrid".
        retrieval: the searches that it combines.
        user_id: owner of the nodes.

    Raises:
        InputError: the name is unknown or the user id empty.
    """
    check_user_id(user_id)
    if name not in SEARCHERS:
        raise InputError(f"No searcher is called {name!r}; choose among {', '.join(SEARCHERS)}")
    return SEARCHERS[name](retrieval, user_id=user_id)
