"""What crosses a boundary: notes, nodes, relationships, searches, graph patterns, and what they answer."""

from kgagent.models.constraint import Constraint, ConstraintType, PropertyReference
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridObject, HybridOptions, HybridRelationship, HybridResult
from kgagent.models.matched_path import (
    Chunk,
    MatchedNode,
    MatchedPath,
    MatchedRelationship,
    PatternResult,
    ReasoningContext,
)
from kgagent.models.matches import Matches
from kgagent.models.note import Note
from kgagent.models.paths import GraphPath, PathNode, PathsRequest, PathsResult
from kgagent.models.pattern import Branch, GraphPattern, StepDirection, TraversalStep
from kgagent.models.pattern_query import (
    CombinatorType,
    GraphQuery,
    QueryCombinator,
    RankingStrategy,
    ResolutionTarget,
    TraversalHint,
)
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
    "Branch",
    "Chunk",
    "CombinatorType",
    "Constraint",
    "ConstraintType",
    "StepDirection",
    "DiscoveredNodes",
    "ExploreRequest",
    "ExploreResult",
    "ExploredNode",
    "GraphExpansion",
    "GraphNode",
    "GraphPath",
    "GraphPattern",
    "GraphQuery",
    "GraphRelationship",
    "HitSource",
    "HybridObject",
    "HybridOptions",
    "HybridRelationship",
    "HybridResult",
    "MatchedNode",
    "MatchedPath",
    "MatchedRelationship",
    "Matches",
    "NodeSearchResult",
    "Note",
    "PathNode",
    "PathsRequest",
    "PathsResult",
    "PatternResult",
    "PropertyReference",
    "QueryCombinator",
    "RankingStrategy",
    "ReasoningContext",
    "RelationshipSearchResult",
    "ResolutionTarget",
    "SearchHit",
    "SearchOptions",
    "Signal",
    "Traversal",
    "TraversalHint",
    "TraversalStep",
    "TraverseRequest",
    "TraversedNode",
    "VectorQuery",
]
