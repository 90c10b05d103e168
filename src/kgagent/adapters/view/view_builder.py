"""Builds the page's graph from the result of a search, or from what a tool that searches has
answered.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from kgagent.adapters.view.view_model import (
    Match,
    MatchReason,
    ViewGraph,
    ViewNode,
    ViewRelationship,
)
from kgagent.answers.items import JsonRecord
from kgagent.answers.page import NOTHING_RELEVANT
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.models.hybrid import RETRIEVER_DESCRIPTIONS, RetrieverName
from kgagent.search import RetrievalService

ItemT = TypeVar("ItemT", bound=GraphModel)
ViewT = TypeVar("ViewT", ViewNode, ViewRelationship)

DEFAULT_NEIGHBORS = 30
"""Default maximum number of neighbors of the matches."""
MAX_NEIGHBORS = 200
MAX_RELATIONSHIPS = 500
"""Maximum number of relationships between the nodes of the page that did not match themselves."""

_NODES = ("nodes", "objects")
_RELATIONSHIPS = ("edges", "relationships")


async def build_view(
    retrieval: RetrievalService,
    answer: JsonRecord,
    *,
    user_id: str,
    queries: Iterable[str],
    max_neighbors: int | None = None,
) -> ViewGraph:
    """Build the graph of the items of a search.

    Args:
        retrieval: reads what the answer does not contain.
        answer: the result of `hybrid_search` or `explore` as JSON types, or the payload of these
            tools.
        user_id: owner of the graph.
        queries: the texts that were searched for.
        max_neighbors: maximum number of neighbors to read, 0 to 200; None: only those of the
            answer.

    Raises:
        InputError: `max_neighbors` is invalid.
        StoreError: the database failed.
    """
    nodes = [
        ViewNode(
            node=_item(GraphNode, {**record, **record.get("node", {})}), match=_match(rank, record)
        )
        for rank, record in enumerate(_records(answer, *_NODES), start=1)
    ]
    neighbors = [_item(GraphNode, record) for record in _records(answer, "neighbors")]
    relationships = [
        ViewRelationship(
            relationship=_item(GraphRelationship, record),
            match=_match(rank, record) if "score" in record else None,
        )
        for rank, record in enumerate(_records(answer, *_RELATIONSHIPS), start=1)
    ]
    if max_neighbors is not None:
        ends = (key for item in relationships for key in _end_keys(item))
        keys = list(dict.fromkeys((*(item.node.entity_key for item in nodes), *ends)))
        expansion = await retrieval.expand_graph(
            keys, user_id=user_id, max_relationships=MAX_RELATIONSHIPS, max_neighbors=max_neighbors
        )
        neighbors += expansion.neighbors
        relationships += (ViewRelationship(relationship=item) for item in expansion.relationships)
    view = ViewGraph(
        query=" · ".join(queries),
        single_ranking="objects" in answer,
        warnings=tuple(answer.get("warnings") or ()),
        opening=NOTHING_RELEVANT if answer.get("is_relevant") is False else "",
    )
    return await _completed(
        retrieval, user_id, view, nodes=nodes, neighbors=neighbors, relationships=relationships
    )


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
    expansion = await retrieval.expand_graph(
        [node.entity_key for node, _ in best],
        user_id=user_id,
        max_relationships=MAX_RELATIONSHIPS,
        max_neighbors=max_neighbors,
    )
    nodes = [
        ViewNode(node=node, match=Match(rank=rank, score=degree))
        for rank, (node, degree) in enumerate(best, start=1)
    ]
    relationships = [ViewRelationship(relationship=item) for item in expansion.relationships]
    view = ViewGraph(query="", single_ranking=True)
    return await _completed(
        retrieval,
        user_id,
        view,
        nodes=nodes,
        neighbors=expansion.neighbors,
        relationships=relationships,
    )


async def _completed(
    retrieval: RetrievalService,
    user_id: str,
    view: ViewGraph,
    *,
    nodes: Sequence[ViewNode],
    neighbors: Iterable[GraphNode],
    relationships: Sequence[ViewRelationship],
) -> ViewGraph:
    """Add the items with their histories, each once; relationships whose end nodes no longer exist
    are dropped.
    """
    by_key = {item.node.entity_key: item for item in nodes}
    missing = list(
        dict.fromkeys(key for item in relationships for key in _end_keys(item) if key not in by_key)
    )
    for node in neighbors:
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

    def with_history(item: ViewT, *identity: str) -> ViewT:
        return item.model_copy(update={"history": histories.get(identity, ())})

    with_histories = {
        "nodes": tuple(with_history(item, key) for key, item in by_key.items()),
        "relationships": tuple(
            with_history(item, *item.relationship.identity) for item in distinct.values()
        ),
    }
    return view.model_copy(update=with_histories)


def _records(answer: JsonRecord, *sections: str) -> Iterator[JsonRecord]:
    for section in sections:
        yield from answer.get(section) or ()


def _item(model: type[ItemT], record: JsonRecord) -> ItemT:
    """The item of a record; answers leave out empty texts, so those that a model requires are
    filled in.
    """
    empty = {name: "" for name, field in model.model_fields.items() if field.is_required()}
    given = {name: record[name] for name in model.model_fields if name in record}
    notes = [{"content": "", **note} for note in record.get("notes") or ()]
    return model.model_validate({**empty, **given, "notes": notes})


def _match(rank: int, record: JsonRecord) -> Match:
    reasons = [
        _reason(found_by, record)
        for found_by in record.get("found_by") or record.get("signals") or ()
    ]
    return Match(
        rank=record.get("rank", rank),
        score=record.get("score", 0.0),
        contributions=record.get("contributions") or {},
        reasons=tuple(reasons)
        or (MatchReason(retriever="search", similarity=record.get("similarity")),),
        path=tuple(record.get("path") or ()),
    )


def _reason(found_by: RetrieverName | JsonRecord, record: JsonRecord) -> MatchReason:
    """Why an item matches: the name of a retriever or, in the result of `explore`, a signal."""
    if isinstance(found_by, str):
        return MatchReason(
            retriever=RETRIEVER_DESCRIPTIONS[found_by],
            similarity=record.get("similarity") if found_by.endswith("_vector") else None,
            text_score=record.get("text_score") if found_by.endswith("_fulltext") else None,
        )
    measure = "text_score" if found_by["source"] == "name_match" else "similarity"
    return MatchReason(
        retriever=RETRIEVER_DESCRIPTIONS[found_by["source"]],
        matched_text=found_by["matched"],
        rank=found_by["rank"],
        **{measure: found_by["similarity"]},
    )


def _end_keys(item: ViewRelationship) -> tuple[str, str]:
    return item.relationship.from_entity_key, item.relationship.to_entity_key
