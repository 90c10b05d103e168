"""What crosses a boundary: notes, nodes, relationships, search requests and results."""

from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridObject, HybridOptions, HybridRelationship, HybridResult
from kgagent.models.matches import Matches
from kgagent.models.note import Note
from kgagent.models.paths import GraphPath, PathNode, PathsRequest, PathsResult
from kgagent.models.search import (
    DiscoveredNodes,
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphExpansion,
    NodeSearchResult,
    RelationshipSearchResult,
    Signal,
    VectorQuery,
)
from kgagent.models.searchers import HitSource, SearchHit, SearchOptions
from kgagent.models.traversal import Traversal, TraversedNode, TraverseRequest

__all__ = [
    "DiscoveredNodes",
    "ExploreRequest",
    "ExploreResult",
    "ExploredNode",
    "GraphExpansion",
    "GraphNode",
    "GraphPath",
    "GraphRelationship",
    "HitSource",
    "HybridObject",
    "HybridOptions",
    "HybridRelationship",
    "HybridResult",
    "Matches",
    "NodeSearchResult",
    "Note",
    "PathNode",
    "PathsRequest",
    "PathsResult",
    "RelationshipSearchResult",
    "SearchHit",
    "SearchOptions",
    "Signal",
    "Traversal",
    "TraverseRequest",
    "TraversedNode",
    "VectorQuery",
]
