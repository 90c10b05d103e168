"""Lets an LLM agent keep a knowledge graph in Neo4j and search its relationships by meaning.

The names below are imported when they are first used, so that `import kgagent` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgagent.embedding.base import Embedder
    from kgagent.embedding.langchain import LangChainEmbedder
    from kgagent.errors import KgAgentError
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import (
        Branch,
        Constraint,
        ExploreRequest,
        GraphPattern,
        GraphQuery,
        HybridSearchOptions,
        HybridSearchRequest,
        HybridSearchResult,
        MatchedPath,
        Matches,
        PatternResult,
        QueryCombinator,
        RankingStrategy,
        ResolutionTarget,
        SearchHit,
        SearchOptions,
        TraversalHint,
        TraversalStep,
        VectorQuery,
    )
    from kgagent.ontology import Ontology, default_ontology, load_ontology
    from kgagent.retrieval import RetrievalService
    from kgagent.retrieval.rerank import CrossEncoder
    from kgagent.retrieval.searchers import Searcher
    from kgagent.settings import Settings
    from kgagent.sync import SyncKnowledgeGraph
    from kgagent.tools import Toolset

__all__ = [
    "Branch",
    "Constraint",
    "CrossEncoder",
    "Embedder",
    "ExploreRequest",
    "GraphPattern",
    "GraphQuery",
    "HybridSearchOptions",
    "HybridSearchRequest",
    "HybridSearchResult",
    "KgAgentError",
    "KnowledgeGraph",
    "LangChainEmbedder",
    "MatchedPath",
    "Matches",
    "Ontology",
    "PatternResult",
    "QueryCombinator",
    "RankingStrategy",
    "ResolutionTarget",
    "RetrievalService",
    "SearchHit",
    "SearchOptions",
    "Searcher",
    "Settings",
    "SyncKnowledgeGraph",
    "Toolset",
    "TraversalHint",
    "TraversalStep",
    "VectorQuery",
    "default_ontology",
    "load_ontology",
]

_HOMES = {
    "Branch": "kgagent.models",
    "Constraint": "kgagent.models",
    "CrossEncoder": "kgagent.retrieval.rerank",
    "Embedder": "kgagent.embedding.base",
    "ExploreRequest": "kgagent.models",
    "GraphPattern": "kgagent.models",
    "GraphQuery": "kgagent.models",
    "HybridSearchOptions": "kgagent.models",
    "HybridSearchRequest": "kgagent.models",
    "HybridSearchResult": "kgagent.models",
    "KgAgentError": "kgagent.errors",
    "KnowledgeGraph": "kgagent.knowledge_graph",
    "LangChainEmbedder": "kgagent.embedding.langchain",
    "MatchedPath": "kgagent.models",
    "Matches": "kgagent.models",
    "Ontology": "kgagent.ontology",
    "PatternResult": "kgagent.models",
    "QueryCombinator": "kgagent.models",
    "RankingStrategy": "kgagent.models",
    "ResolutionTarget": "kgagent.models",
    "RetrievalService": "kgagent.retrieval",
    "SearchHit": "kgagent.models",
    "SearchOptions": "kgagent.models",
    "Searcher": "kgagent.retrieval.searchers",
    "Settings": "kgagent.settings",
    "SyncKnowledgeGraph": "kgagent.sync",
    "Toolset": "kgagent.tools",
    "TraversalHint": "kgagent.models",
    "TraversalStep": "kgagent.models",
    "VectorQuery": "kgagent.models",
    "default_ontology": "kgagent.ontology",
    "load_ontology": "kgagent.ontology",
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kgagent' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
