"""Three ways to find nodes behind one protocol: by meaning, by place in the graph, and by both."""

from kgagent.errors import InputError
from kgagent.graph.relationships import RelationshipRepository
from kgagent.retrieval.searchers.base import Searcher
from kgagent.retrieval.searchers.breadth_first import BreadthFirst
from kgagent.retrieval.searchers.graph import GraphSearcher
from kgagent.retrieval.searchers.hybrid import HybridSearcher
from kgagent.retrieval.searchers.vector import VectorSearcher
from kgagent.retrieval.service import RetrievalService

__all__ = ["GraphSearcher", "HybridSearcher", "Searcher", "VectorSearcher", "make_searcher"]

SEARCHERS = ("vector", "graph", "hybrid")


def make_searcher(
    name: str,
    retrieval: RetrievalService,
    relationships: RelationshipRepository,
    *,
    user_id: str,
    timeout: float,
) -> Searcher:
    """Make a searcher for one user.

    Args:
        name: "vector", "graph" or "hybrid".
        retrieval: the searches that it is made of.
        relationships: the graph to walk through.
        user_id: whose graph.
        timeout: seconds that an expansion may take on the server.

    Raises:
        InputError: the name is unknown or the user id empty.
    """
    if not user_id:
        raise InputError("user_id must not be empty: every search is one user's")
    breadth_first = BreadthFirst(relationships, timeout=timeout)
    match name:
        case "vector":
            return VectorSearcher(retrieval, user_id=user_id)
        case "graph":
            return GraphSearcher(retrieval, breadth_first, user_id=user_id)
        case "hybrid":
            return HybridSearcher(retrieval, breadth_first, relationships.ontology, user_id=user_id)
    raise InputError(f"No searcher is called {name!r}; choose among {', '.join(SEARCHERS)}")
