"""What crosses a boundary: notes, nodes, relationships, searches, graph patterns, and what they answer."""

from kgagent.models.constraint import Constraint, ConstraintType, PropertyReference
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridObject, HybridOptions, HybridRelationship, HybridResult
from kgagent.models.matched_path import Chunk, MatchedPath, PathNode, PathRelationship, PatternResult, ReasoningContext
from kgagent.models.matches import Matches
from kgagent.models.note import Note
from kgagent.models.pattern import Branch, Direction, GraphPattern, TraversalStep
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

__all__ = [
    "Branch",
    "Chunk",
    "CombinatorType",
    "Constraint",
    "ConstraintType",
    "Direction",
    "DiscoveredNodes",
    "ExploreRequest",
    "ExploreResult",
    "ExploredNode",
    "GraphExpansion",
    "GraphNode",
    "GraphPattern",
    "GraphQuery",
    "GraphRelationship",
    "HitSource",
    "HybridObject",
    "HybridOptions",
    "HybridRelationship",
    "HybridResult",
    "MatchedPath",
    "Matches",
    "NodeSearchResult",
    "Note",
    "PathNode",
    "PathRelationship",
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
    "TraversalHint",
    "TraversalStep",
    "VectorQuery",
]
