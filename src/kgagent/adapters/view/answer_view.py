"""Builds the page's graph from what a tool that searches has answered."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kgagent.adapters.view.view_builder import with_end_nodes
from kgagent.adapters.view.view_model import Match, MatchReason, ViewGraph, ViewNode, ViewRelationship
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.answer_items import JsonRecord
from kgagent.models.answer_page import NOTHING_RELEVANT
from kgagent.models.graph import GraphModel
from kgagent.retrieval import RetrievalService

ItemT = TypeVar("ItemT", bound=GraphModel)

SEARCHES = ("explore", "hybrid_search")
"""The tools whose answers are graphs."""

_NODES = ("nodes", "objects")
_RELATIONSHIPS = ("edges", "relationships")


async def build_answer_view(
    retrieval: RetrievalService, tool: str, arguments: JsonRecord, payload: JsonRecord, *, user_id: str
) -> ViewGraph:
    """Build the graph of the items that an answer contains.

    Args:
        retrieval: reads end nodes of relationships that the answer does not contain.
        tool: name of the tool.
        arguments: the arguments of the call, as a model wrote them.
        payload: the answer.
        user_id: owner of the graph.

    Raises:
        StoreError: the database failed.
    """
    nodes = [
        ViewNode(node=_item(GraphNode, record), match=_match(rank, record, tool))
        for rank, record in enumerate(_records(payload, *_NODES), start=1)
    ]
    known = {item.node.entity_key for item in nodes}
    neighbors = [_item(GraphNode, record) for record in _records(payload, "neighbors")]
    relationships = [
        ViewRelationship(
            relationship=_item(GraphRelationship, record),
            match=None if record.get("similarity") is None else _match(rank, record, tool),
        )
        for rank, record in enumerate(_records(payload, *_RELATIONSHIPS), start=1)
    ]
    view = ViewGraph(
        query=" · ".join(_asked(arguments)) or tool,
        single_ranking=False,
        nodes=(*nodes, *(ViewNode(node=node) for node in neighbors if node.entity_key not in known)),
        relationships=tuple(relationships),
        warnings=tuple(payload.get("warnings") or ()),
        opening=NOTHING_RELEVANT if payload.get("is_relevant") is False else "",
    )
    return await with_end_nodes(retrieval, user_id, view)


def _records(payload: JsonRecord, *sections: str) -> Iterator[JsonRecord]:
    for section in sections:
        yield from payload.get(section) or ()


def _item(model: type[ItemT], record: JsonRecord) -> ItemT:
    """The item of a record; payloads leave out empty texts, so those that a model requires are filled in."""
    empty = {name: "" for name, field in model.model_fields.items() if field.is_required()}
    given = {name: record[name] for name in model.model_fields if name in record}
    notes = [{"content": "", **note} for note in record.get("notes") or ()]
    return model.model_validate({**empty, **given, "notes": notes})


def _match(rank: int, record: JsonRecord, tool: str) -> Match:
    reason = MatchReason(retriever=tool, similarity=record.get("similarity"))
    score = record.get("score", record.get("similarity"))
    return Match(rank=rank, score=0.0 if score is None else score, score_explanation="", reasons=(reason,))


def _asked(arguments: JsonRecord) -> Iterator[str]:
    """The texts that were searched for, in any form that the tools accept."""
    for name in ("query", "queries", "text_matches"):
        given = arguments.get(name)
        for one in given if isinstance(given, list) else [given]:
            text = one.get("query") if isinstance(one, Mapping) else one
            if isinstance(text, str) and text.strip():
                yield text
