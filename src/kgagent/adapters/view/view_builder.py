"""Builds the page's graph from search results."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kgagent.adapters.view.view_model import Match, MatchReason, ViewGraph, ViewNode, ViewRelationship
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphNode,
    GraphRelationship,
    RelationshipSearchResult,
    Signal,
)
from kgagent.models.answer_page import NOTHING_RELEVANT
from kgagent.models.hybrid import (
    RETRIEVER_DESCRIPTIONS,
    FusionStrategy,
    HybridObject,
    HybridRelationship,
    HybridSearchRequest,
    HybridSearchResult,
    RetrieverName,
)
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.fusion_strategies import RRF_K

DEFAULT_NEIGHBORS = 30
"""Default maximum number of neighbors of the matches."""
MAX_NEIGHBORS = 200
MAX_RELATIONSHIPS = 500
"""Maximum number of relationships between the nodes of the page that did not match themselves."""

_RRF = f"reciprocal rank fusion, the sum of 1 / ({RRF_K} + rank) over the retrievers that found it"
_FEATURES = "weighted mean of its features"
_BEST_SIGNAL = "weighted mean of its features, or its name match if that is higher"
_OWN_SCORE = "its score from the retriever whose ranking it was taken from"
SCORE_EXPLANATIONS: Mapping[FusionStrategy, str] = MappingProxyType(
    {
        "calibrated": _FEATURES,
        "rrf": _RRF,
        "weighted": "weighted sum of cosine and text score",
        "interleave": f"{_OWN_SCORE}; the rankings take turns",
        "graph_first": f"{_OWN_SCORE}; semantic search comes first",
        "text_first": f"{_OWN_SCORE}; full-text search comes first",
    }
)
_DEGREE = "number of its relationships"

_RELATIONSHIP_VECTOR = RETRIEVER_DESCRIPTIONS["relationship_vector"]
_VECTOR_RETRIEVERS: tuple[RetrieverName, ...] = ("node_vector", "relationship_vector")
_FULLTEXT_RETRIEVERS: tuple[RetrieverName, ...] = ("node_fulltext", "relationship_fulltext")

RelationshipKey = tuple[str, str, str, str]


async def search_and_build_view(
    retrieval: RetrievalService, request: HybridSearchRequest, *, user_id: str, max_neighbors: int = DEFAULT_NEIGHBORS
) -> ViewGraph:
    """Run a hybrid search and build the graph of its matches and their neighbors.

    Args:
        retrieval: runs the searches.
        request: the query and its options.
        user_id: owner of the graph.
        max_neighbors: maximum number of neighbors, 0 to 200.

    Raises:
        InputError: an argument is invalid.
        SearchError: every retriever failed.
        StoreError: the database failed.
    """
    result = await retrieval.hybrid_search(request, user_id=user_id)
    return await build_search_view(retrieval, request, result, user_id=user_id, max_neighbors=max_neighbors)


async def build_overview(
    retrieval: RetrievalService, *, user_id: str, limit: int, max_neighbors: int = DEFAULT_NEIGHBORS
) -> ViewGraph:
    """Build the graph of the best connected nodes and their neighbors, for a page that nobody has searched on.

    Args:
        retrieval: reads the nodes.
        user_id: owner of the graph.
        limit: maximum number of best connected nodes.
        max_neighbors: maximum number of neighbors, 0 to 200.

    Raises:
        StoreError: the database failed.
    """
    found = await retrieval.best_connected_nodes(user_id=user_id, limit=limit)
    expansion = await retrieval.expand_graph(
        [node.entity_key for node, _ in found],
        user_id=user_id,
        max_relationships=MAX_RELATIONSHIPS,
        max_neighbors=max_neighbors,
    )
    nodes = [
        ViewNode(node=node, match=Match(rank=rank, score=degree, score_explanation=_DEGREE))
        for rank, (node, degree) in enumerate(found, start=1)
    ]
    view = ViewGraph(
        query="",
        single_ranking=True,
        nodes=_with_neighbors(nodes, expansion.neighbors),
        relationships=_without_duplicates((), expansion.relationships),
    )
    return await with_end_nodes(retrieval, user_id, view)


async def build_search_view(
    retrieval: RetrievalService,
    request: HybridSearchRequest,
    result: HybridSearchResult,
    *,
    user_id: str,
    max_neighbors: int = DEFAULT_NEIGHBORS,
) -> ViewGraph:
    """Build the graph of a hybrid search's matches and their neighbors.

    Args:
        retrieval: reads the neighbors.
        request: the query and its options.
        result: the result of the search.
        user_id: owner of the graph.
        max_neighbors: maximum number of neighbors, 0 to 200.

    Raises:
        InputError: an argument is invalid.
        StoreError: the database failed.
    """
    relationships = result.relationships or ()
    end_keys = [key for item in relationships for key in (item.from_entity_key, item.to_entity_key)]
    matching_keys = list(dict.fromkeys((*(item.entity_key for item in result.objects), *end_keys)))
    expansion = await retrieval.expand_graph(
        matching_keys, user_id=user_id, max_relationships=MAX_RELATIONSHIPS, max_neighbors=max_neighbors
    )
    explanation = SCORE_EXPLANATIONS[request.strategy]
    matches = [(item, _hybrid_match(item, explanation)) for item in relationships]
    nodes = [ViewNode(node=_plain_node(item), match=_hybrid_match(item, explanation)) for item in result.objects]
    return await with_end_nodes(
        retrieval,
        user_id,
        ViewGraph(
            query=request.query or "",
            single_ranking=True,
            nodes=_with_neighbors(nodes, expansion.neighbors),
            relationships=_without_duplicates(matches, expansion.relationships),
            warnings=result.warnings,
            opening=NOTHING_RELEVANT if result.is_relevant is False else "",
        ),
    )


async def build_explore_view(
    retrieval: RetrievalService, request: ExploreRequest, result: ExploreResult, *, user_id: str
) -> ViewGraph:
    """Build the graph of an explore result.

    Args:
        retrieval: reads end nodes of relationships that the result does not include.
        request: the request of `explore`.
        result: its result.
        user_id: owner of the graph.

    Raises:
        StoreError: the database failed.
    """
    matching = [item for item in result.relationships if isinstance(item, RelationshipSearchResult)]
    others = [item for item in result.relationships if not isinstance(item, RelationshipSearchResult)]
    nodes = [_explored_node(rank, item) for rank, item in enumerate(result.nodes, start=1)]
    return await with_end_nodes(
        retrieval,
        user_id,
        ViewGraph(
            query=" · ".join((*(query.query for query in request.queries), *request.text_matches)),
            single_ranking=False,
            nodes=_with_neighbors(nodes, result.neighbors),
            relationships=_without_duplicates(
                [(item, _explored_match(rank, item)) for rank, item in enumerate(matching, start=1)], others
            ),
            warnings=result.warnings,
            opening=NOTHING_RELEVANT if result.is_relevant is False else "",
        ),
    )


async def with_end_nodes(retrieval: RetrievalService, user_id: str, view: ViewGraph) -> ViewGraph:
    """Add missing end nodes of relationships, and drop relationships whose end nodes no longer exist.

    Raises:
        StoreError: the database failed.
    """
    end_keys = dict.fromkeys(key for item in view.relationships for key in _end_keys(item.relationship))
    known = {item.node.entity_key for item in view.nodes}
    missing = [key for key in end_keys if key not in known]
    added = await retrieval.nodes(missing, user_id=user_id) if missing else []
    known |= {node.entity_key for node in added}
    return view.model_copy(
        update={
            "nodes": (*view.nodes, *(ViewNode(node=node) for node in added)),
            "relationships": tuple(
                item for item in view.relationships if known.issuperset(_end_keys(item.relationship))
            ),
        }
    )


def _hybrid_match(item: HybridObject | HybridRelationship, explanation: str) -> Match:
    return Match(
        rank=item.rank,
        score=item.score,
        score_explanation=explanation,
        reasons=tuple(
            MatchReason(
                retriever=RETRIEVER_DESCRIPTIONS[name],
                similarity=item.similarity if name in _VECTOR_RETRIEVERS else None,
                text_score=item.text_score if name in _FULLTEXT_RETRIEVERS else None,
            )
            for name in item.found_by
        ),
        path=item.path if isinstance(item, HybridRelationship) else (),
    )


def _explored_node(rank: int, item: ExploredNode) -> ViewNode:
    return ViewNode(
        node=item.node,
        match=Match(
            rank=rank,
            score=item.score,
            score_explanation=_BEST_SIGNAL,
            reasons=tuple(_signal_reason(signal) for signal in item.signals),
        ),
    )


def _signal_reason(signal: Signal) -> MatchReason:
    is_name_match = signal.source == "name_match"
    source = "relationship_vector" if signal.source == "via_relationship" else signal.source
    return MatchReason(
        retriever=RETRIEVER_DESCRIPTIONS[source],
        matched_text=signal.matched,
        rank=signal.rank,
        similarity=None if is_name_match else signal.similarity,
        text_score=signal.similarity if is_name_match else None,
    )


def _explored_match(rank: int, item: RelationshipSearchResult) -> Match:
    reason = MatchReason(retriever=_RELATIONSHIP_VECTOR, similarity=item.similarity)
    return Match(rank=rank, score=item.score, score_explanation=_FEATURES, reasons=(reason,), path=item.path)


def _plain_node(item: HybridObject) -> GraphNode:
    return GraphNode(**{name: getattr(item, name) for name in GraphNode.model_fields})


def _plain_relationship(item: GraphRelationship) -> GraphRelationship:
    fields = {name: getattr(item, name) for name in GraphRelationship.model_fields}
    return GraphRelationship(**{**fields, "similarity": None})


def _with_neighbors(nodes: Sequence[ViewNode], neighbors: Iterable[GraphNode]) -> tuple[ViewNode, ...]:
    by_key = {item.node.entity_key: item for item in nodes}
    for node in neighbors:
        by_key.setdefault(node.entity_key, ViewNode(node=node))
    return tuple(by_key.values())


def _without_duplicates(
    matches: Iterable[tuple[GraphRelationship, Match]], others: Iterable[GraphRelationship]
) -> tuple[ViewRelationship, ...]:
    by_key: dict[RelationshipKey, ViewRelationship] = {}
    for item, match in matches:
        by_key.setdefault(_key(item), ViewRelationship(relationship=_plain_relationship(item), match=match))
    for item in others:
        by_key.setdefault(_key(item), ViewRelationship(relationship=_plain_relationship(item)))
    return tuple(by_key.values())


def _key(item: GraphRelationship) -> RelationshipKey:
    """Identity of a relationship; graphs of old releases may hold several of one Neo4j type between two nodes."""
    return (*item.pair, item.relationship_type)


def _end_keys(item: GraphRelationship) -> tuple[str, str]:
    return item.from_entity_key, item.to_entity_key
