"""Builds the page's graph from the result of a search, or from the best connected nodes."""

from collections.abc import Sequence
from typing import TypeVar

from kgagent.adapters.view.view_model import (
    Match,
    MatchReason,
    ViewGraph,
    ViewNode,
    ViewRelationship,
)
from kgagent.answers.page import NOTHING_RELEVANT
from kgagent.models.hybrid import (
    RETRIEVER_DESCRIPTIONS,
    HybridObject,
    HybridSearchResult,
    RankedItem,
    RetrieverName,
)
from kgagent.models.passage import Passage
from kgagent.models.when import day_number, is_past
from kgagent.search import RetrievalService

ViewT = TypeVar("ViewT", ViewNode, ViewRelationship)

DEFAULT_NEIGHBORS = 30
"""Default maximum number of neighbors of the matches."""
MAX_NEIGHBORS = 200
MAX_RELATIONSHIPS = 500
"""Maximum number of relationships between the nodes of the page that did not match themselves."""


async def build_view(
    retrieval: RetrievalService,
    result: HybridSearchResult,
    *,
    user_id: str,
    query: str,
    max_neighbors: int = DEFAULT_NEIGHBORS,
) -> ViewGraph:
    """Build the graph of the items of a search and what is around them.

    Args:
        retrieval: reads what the result does not contain.
        result: what was found.
        user_id: owner of the graph.
        query: the text that was searched for.
        max_neighbors: maximum number of neighbors to read, 0 to 200.

    Raises:
        InputError: `max_neighbors` is invalid.
        StoreError: the database failed.
    """
    nodes = [_found_node(found) for found in result.objects]
    relationships = [
        ViewRelationship(relationship=found, match=_match(found, found.path))
        for found in result.relationships or ()
    ]
    view = ViewGraph(
        query=query,
        warnings=result.warnings,
        opening=NOTHING_RELEVANT if result.is_relevant is False else "",
    )
    return await _completed(retrieval, user_id, view, nodes, relationships, max_neighbors)


async def build_overview(
    retrieval: RetrievalService, *, user_id: str, limit: int, max_neighbors: int = DEFAULT_NEIGHBORS
) -> ViewGraph:
    """Build the graph of the best connected nodes and their neighbors, for a page that nobody has
    searched on.

    Args:
        retrieval: reads the nodes.
        user_id: owner of the graph.
        limit: maximum number of best connected nodes.
        max_neighbors: maximum number of neighbors, 0 to 200.

    Raises:
        StoreError: the database failed.
    """
    best = await retrieval.best_connected_nodes(user_id=user_id, limit=limit)
    nodes = [
        ViewNode(node=node, match=Match(rank=rank, score=degree))
        for rank, (node, degree) in enumerate(best, start=1)
    ]
    return await _completed(retrieval, user_id, ViewGraph(query=""), nodes, (), max_neighbors)


async def _completed(  # noqa: PLR0917
    retrieval: RetrievalService,
    user_id: str,
    view: ViewGraph,
    nodes: Sequence[ViewNode],
    found: Sequence[ViewRelationship],
    max_neighbors: int,
) -> ViewGraph:
    """Add the items and what is around them, each once, with their histories; relationships whose
    end nodes no longer exist are dropped.
    """
    ends = (key for item in found for key in _end_keys(item))
    keys = list(dict.fromkeys((*(item.node.entity_key for item in nodes), *ends)))
    expansion = await retrieval.expand_graph(
        keys, user_id=user_id, max_relationships=MAX_RELATIONSHIPS, max_neighbors=max_neighbors
    )
    around = [ViewRelationship(relationship=item) for item in expansion.relationships]
    relationships = [*found, *around]
    by_key = {item.node.entity_key: item for item in nodes}
    missing = list(
        dict.fromkeys(key for item in relationships for key in _end_keys(item) if key not in by_key)
    )
    for node in expansion.neighbors:
        by_key.setdefault(node.entity_key, ViewNode(node=node))
    if unread := [key for key in missing if key not in by_key]:
        by_key |= {
            node.entity_key: ViewNode(node=node)
            for node in await retrieval.nodes(unread, user_id=user_id)
        }
    distinct: dict[tuple[str, ...], ViewRelationship] = {}
    for item in relationships:
        if by_key.keys() >= {*_end_keys(item)}:
            distinct.setdefault(item.relationship.identity, item)
    histories = await retrieval.histories(list(by_key), user_id=user_id)

    day = day_number(retrieval.scope.clock())

    def with_history(item: ViewT, *identity: str, **more: bool) -> ViewT:
        return item.model_copy(update={"history": histories.get(identity, ()), **more})

    with_histories = {
        "nodes": tuple(with_history(item, key) for key, item in by_key.items()),
        "relationships": tuple(
            with_history(
                item,
                *item.relationship.identity,
                past=is_past(item.relationship.when, day, item.relationship.last_said),
            )
            for item in distinct.values()
        ),
    }
    known = {key: item.node.name for key, item in by_key.items()}
    described = (*(item.node for item in by_key.values()), *(r.relationship for r in relationships))
    named = {note.source_entity_key or "" for one in described for note in one.notes}
    unread = sorted(named - known.keys() - {""})
    read = await retrieval.nodes(unread, user_id=user_id) if unread else []
    names = known | {node.entity_key: node.name for node in read}
    of_passages = {key for key, item in by_key.items() if item.passages}
    sources = {key: names[key] for key in (named & names.keys()) | of_passages}
    return view.model_copy(update={**with_histories, "sources": sources})


def _found_node(found: HybridObject) -> ViewNode:
    passages = tuple(note for note in found.notes if isinstance(note, Passage))
    notes = tuple(note for note in found.notes if not isinstance(note, Passage))
    return ViewNode(
        node=found.model_copy(update={"notes": notes}),
        passages=tuple(passage.searched_text for passage in passages),
        match=_match(found),
    )


def _match(item: RankedItem, path: Sequence[str] = ()) -> Match:
    return Match(
        rank=item.rank,
        score=item.score,
        contributions=item.contributions,
        reasons=tuple(_reason(name, item) for name in item.found_by),
        path=tuple(path),
    )


def _reason(retriever: RetrieverName, item: RankedItem) -> MatchReason:
    return MatchReason(
        retriever=RETRIEVER_DESCRIPTIONS[retriever],
        similarity=item.similarity if retriever.endswith("_vector") else None,
        text_score=item.text_score if retriever.endswith("_fulltext") else None,
    )


def _end_keys(item: ViewRelationship) -> tuple[str, str]:
    return item.relationship.from_entity_key, item.relationship.to_entity_key
