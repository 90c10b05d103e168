"""From what a search found to what the page shows."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kgagent.adapters.view.model import Reason, SeenNode, SeenRelationship, Standing, ViewGraph
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphNode,
    GraphRelationship,
    RelationshipSearchResult,
    Signal,
)
from kgagent.models.hybrid import (
    FusionStrategy,
    HybridObject,
    HybridRelationship,
    HybridSearchOptions,
    HybridSearchResult,
    RetrieverName,
)
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.fusion import RRF_K
from kgagent.retrieval.hybrid_parts import RETRIEVER_DESCRIPTIONS

AROUND = 30
"""Nodes next to those that matched, unless more or fewer are asked for."""
MAX_AROUND = 200
AMONG = 500
"""Relationships among the nodes that matched, at the most."""

_BY_RECIPROCAL_RANK = f"reciprocal rank fusion: the sum of 1 / ({RRF_K} + place) over the searches that found it"
SCORE_MEANINGS: Mapping[FusionStrategy, str] = MappingProxyType(
    {
        "rrf": _BY_RECIPROCAL_RANK,
        "weighted": "the weighted sum of its cosine and its text score",
        "interleave": "its own in the search that it was taken from, as the searches take turns",
        "graph_first": "its own in the search that it was taken from, searches by meaning first",
        "text_first": "its own in the search that it was taken from, searches by words first",
    }
)
_BY_COSINE = "plain cosine with the query; where a path led to it, that of the path less what each step costs"
_SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "node_vector": "nodes by meaning",
        "via_relationship": "relationships by meaning",
        "name_match": "nodes by name",
    }
)
_MEANING: tuple[RetrieverName, ...] = ("node_vector", "relationship_vector")
_WORDS: tuple[RetrieverName, ...] = ("node_fulltext", "relationship_fulltext")

Pair = tuple[str, str, str, str]


async def searched_graph(
    retrieval: RetrievalService, query: str, user_id: str, options: HybridSearchOptions, *, around: int = AROUND
) -> ViewGraph:
    """Search for one question, and show what was found among what surrounds it.

    Args:
        retrieval: the searches.
        query: what to look for.
        user_id: whose graph.
        options: of the hybrid search.
        around: neighbours at the most, 0 to 200.

    Raises:
        InputError: an argument is not one that it may be.
        SearchError: every part of the search failed.
        StoreError: the database failed.
    """
    result = await retrieval.hybrid_search(options.model_copy(update={"query": query}), user_id=user_id)
    return await surrounded_graph(retrieval, query, user_id, result, options.strategy, around=around)


async def surrounded_graph(
    retrieval: RetrievalService,
    query: str,
    user_id: str,
    result: HybridSearchResult,
    strategy: FusionStrategy,
    *,
    around: int = AROUND,
) -> ViewGraph:
    """Show what a hybrid search found among what surrounds it; arguments and errors are those of `searched_graph`."""
    relationships = result.relationships or ()
    ends = [key for found in relationships for key in (found.from_entity_key, found.to_entity_key)]
    centre = list(dict.fromkeys((*(item.entity_key for item in result.objects), *ends)))
    expansion = await retrieval.expand_graph(centre, user_id=user_id, max_relationships=AMONG, max_neighbours=around)
    meaning = SCORE_MEANINGS[strategy]
    matched = [(item, _hybrid_standing(item, meaning)) for item in relationships]
    nodes = [SeenNode(node=_plain_node(item), standing=_hybrid_standing(item, meaning)) for item in result.objects]
    return await _complete(
        retrieval,
        user_id,
        ViewGraph(
            asked=query,
            ranked_together=True,
            nodes=_with_neighbours(nodes, expansion.neighbours),
            relationships=_each_once(matched, expansion.relationships),
            warnings=result.warnings,
        ),
    )


async def explored_graph(
    retrieval: RetrievalService, request: ExploreRequest, user_id: str, result: ExploreResult
) -> ViewGraph:
    """Show what `explore` found.

    Args:
        retrieval: reads nodes that relationships lead to and that `explore` leaves out.
        request: what `explore` was asked.
        user_id: whose graph.
        result: what it answered.

    Raises:
        StoreError: the database failed.
    """
    matched = [found for found in result.relationships if isinstance(found, RelationshipSearchResult)]
    others = [found for found in result.relationships if not isinstance(found, RelationshipSearchResult)]
    nodes = [_explored_node(rank, found) for rank, found in enumerate(result.nodes, start=1)]
    return await _complete(
        retrieval,
        user_id,
        ViewGraph(
            asked=" · ".join((*(query.query for query in request.queries), *request.text_matches)),
            ranked_together=False,
            nodes=_with_neighbours(nodes, result.neighbours),
            relationships=_each_once(
                [(found, _explored_standing(rank, found)) for rank, found in enumerate(matched, start=1)], others
            ),
            warnings=result.warnings,
        ),
    )


async def _complete(retrieval: RetrievalService, user_id: str, seen: ViewGraph) -> ViewGraph:
    """Add the nodes at ends of relationships that are not there, and drop relationships that lead to none."""
    ends = dict.fromkeys(key for item in seen.relationships for key in _ends(item.relationship))
    known = {item.node.entity_key for item in seen.nodes}
    missing = [key for key in ends if key not in known]
    added = await retrieval.nodes(missing, user_id=user_id) if missing else []
    known |= {node.entity_key for node in added}
    return seen.model_copy(
        update={
            "nodes": (*seen.nodes, *(SeenNode(node=node) for node in added)),
            "relationships": tuple(item for item in seen.relationships if known.issuperset(_ends(item.relationship))),
        }
    )


def _hybrid_standing(item: HybridObject | HybridRelationship, meaning: str) -> Standing:
    return Standing(
        rank=item.rank,
        score=item.score,
        score_meaning=meaning,
        reasons=tuple(
            Reason(
                found_among=RETRIEVER_DESCRIPTIONS[finder],
                similarity=item.similarity if finder in _MEANING else None,
                text_score=item.text_score if finder in _WORDS else None,
            )
            for finder in item.found_by
        ),
        path=item.path if isinstance(item, HybridRelationship) else (),
    )


def _explored_node(rank: int, found: ExploredNode) -> SeenNode:
    return SeenNode(
        node=found.node,
        standing=Standing(
            rank=rank,
            score=found.score,
            score_meaning=_BY_RECIPROCAL_RANK,
            reasons=tuple(_signal(signal) for signal in found.signals),
        ),
    )


def _signal(signal: Signal) -> Reason:
    by_text = signal.source == "name_match"
    return Reason(
        found_among=_SIGNALS[signal.source],
        matched=signal.matched,
        rank=signal.rank,
        similarity=None if by_text else signal.similarity,
        text_score=signal.similarity if by_text else None,
    )


def _explored_standing(rank: int, found: RelationshipSearchResult) -> Standing:
    reason = Reason(found_among=_SIGNALS["via_relationship"], similarity=found.similarity)
    return Standing(rank=rank, score=found.score, score_meaning=_BY_COSINE, reasons=(reason,), path=found.path)


def _plain_node(item: HybridObject) -> GraphNode:
    return GraphNode(**{name: getattr(item, name) for name in GraphNode.model_fields})


def _plain_relationship(item: GraphRelationship) -> GraphRelationship:
    told = {name: getattr(item, name) for name in GraphRelationship.model_fields}
    return GraphRelationship(**{**told, "similarity": None})


def _with_neighbours(nodes: Sequence[SeenNode], neighbours: Iterable[GraphNode]) -> tuple[SeenNode, ...]:
    seen = {item.node.entity_key: item for item in nodes}
    for node in neighbours:
        seen.setdefault(node.entity_key, SeenNode(node=node))
    return tuple(seen.values())


def _each_once(
    matched: Iterable[tuple[GraphRelationship, Standing]], others: Iterable[GraphRelationship]
) -> tuple[SeenRelationship, ...]:
    seen: dict[Pair, SeenRelationship] = {}
    for item, standing in matched:
        seen.setdefault(_identity(item), SeenRelationship(relationship=_plain_relationship(item), standing=standing))
    for item in others:
        seen.setdefault(_identity(item), SeenRelationship(relationship=_plain_relationship(item)))
    return tuple(seen.values())


def _identity(item: GraphRelationship) -> Pair:
    """Old graphs have several relationships of one type between two nodes."""
    return (*item.pair, item.relationship_type)


def _ends(item: GraphRelationship) -> tuple[str, str]:
    return item.from_entity_key, item.to_entity_key
