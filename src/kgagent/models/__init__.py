"""Data that crosses a boundary: notes, nodes, relationships, and the requests and results of
searches.
"""

from kgagent.models.constraint import Constraint, ConstraintType, PropertyReference
from kgagent.models.duplicates import LikelyDuplicate
from kgagent.models.graph import FoundStatement, GraphNode, GraphRelationship
from kgagent.models.history import HistoryEntry
from kgagent.models.hybrid import (
    HybridObject,
    HybridRelationship,
    HybridSearchRequest,
    HybridSearchResult,
)
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
from kgagent.models.paths import FindPathsRequest, FindPathsResult, GraphPath
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
    SearchFilters,
    Signal,
    VectorQuery,
)
from kgagent.models.searchers import HitSource, SearchHit, SearchOptions
from kgagent.models.timeline import TimedStatement, Timeline
from kgagent.models.traversal import (
    JoinedRelationships,
    TraversedNode,
    TraverseRequest,
    TraverseResult,
)
from kgagent.models.when import Period

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
    "FoundStatement",
    "GraphExpansion",
    "GraphNode",
    "GraphPath",
    "GraphPattern",
    "GraphQuery",
    "GraphRelationship",
    "HitSource",
    "HistoryEntry",
    "HybridObject",
    "HybridSearchRequest",
    "HybridRelationship",
    "HybridSearchResult",
    "JoinedRelationships",
    "LikelyDuplicate",
    "MatchedNode",
    "MatchedPath",
    "MatchedRelationship",
    "Matches",
    "NodeSearchResult",
    "Note",
    "FindPathsRequest",
    "FindPathsResult",
    "PatternResult",
    "PropertyReference",
    "QueryCombinator",
    "RankingStrategy",
    "ReasoningContext",
    "Period",
    "RelationshipSearchResult",
    "ResolutionTarget",
    "SearchFilters",
    "SearchHit",
    "SearchOptions",
    "Signal",
    "TimedStatement",
    "Timeline",
    "TraverseResult",
    "TraversalHint",
    "TraversalStep",
    "TraverseRequest",
    "TraversedNode",
    "VectorQuery",
]
