"""explore: broad search with the neighborhood of what matched."""

import asyncio
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from kgagent.answers.found import by_statement
from kgagent.answers.items import (
    Item,
    JsonRecord,
    Line,
    NodeItem,
    RelationshipItem,
    RenderState,
)
from kgagent.answers.page import Content
from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphNode,
    RelationshipSearchResult,
)
from kgagent.names import normalised_name, shorten_name
from kgagent.ontology import Ontology
from kgagent.search.explore import NOTHING_ASKED
from kgagent.tools.arguments import known_labels
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import REPEAT_ARGUMENTS
from kgagent.tools.read_results import (
    JsonObject,
    ReadArguments,
    ReadToolResult,
    render_page,
    with_relevance,
)
from kgagent.tools.references import NodeReference


class ExploreArguments(ReadArguments, ExploreRequest):
    """Arguments of explore."""

    refused: ClassVar[frozenset[str]] = frozenset({"min_trust"})

    return_explanations: bool = Field(
        False, description="Whether to return why each node was found."
    )


class ExploreToolResult(ReadToolResult):
    """What matched and its neighborhood.

    Attributes:
        nodes: nodes that matched, best first.
        edges: relationships that matched, and those among and around the nodes.
        neighbors: nodes one hop from those that matched.
        is_relevant: whether any item stands out; absent if that was not assessed.
        relevance: how far the best item stands out; 0.5 and more is relevant.
    """

    nodes: tuple[JsonObject, ...] = ()
    edges: tuple[JsonObject, ...] = ()
    neighbors: tuple[JsonObject, ...] = ()
    is_relevant: bool | None = None
    relevance: float | None = None


class Explore(Tool[ExploreArguments]):
    """Explores the graph."""

    name = "explore"
    arguments = ExploreArguments
    result = ExploreToolResult
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Search the knowledge graph broadly: nodes ({', '.join(ontology.labels)}) and "
            f"relationships by semantic "
            "search and by name, with their neighborhood. Use it for a new topic. "
            "hybrid_search answers one question in fewer tokens. Give queries, text_matches or "
            "both."
        )

    def needs_embedder(self, arguments: ExploreArguments) -> bool:
        """The queries are embedded."""
        return bool(arguments.queries)

    async def run(self, context: ToolContext, arguments: ExploreArguments) -> ExploreToolResult:
        """Explore."""
        if arguments.cursor and not arguments.queries and not arguments.text_matches:
            raise InputError(f"{NOTHING_ASKED}. {REPEAT_ARGUMENTS}")
        arguments = await _with_owner_named(context, arguments)
        labels = known_labels(context.ontology, arguments.labels)
        request = arguments.model_copy(update={"labels": labels, "min_trust": context.min_trust})
        result = await context.retrieval.explore(request, user_id=context.user_id)
        unknown = (
            _unknown(arguments.text_matches, result) if result.nodes or result.relationships else ""
        )
        items = explored_items(result, explain=arguments.return_explanations)
        if arguments.format == "text" and not arguments.return_explanations:
            items = await asyncio.to_thread(by_statement, items, context.write_context.clock())
        content = Content(
            items=items,
            message=f"Found {counted(len(result.nodes), 'node')} and "
            f"{counted(len(result.relationships), 'relationship')}",
            sections=("nodes", "edges", "neighbors"),
            warnings=result.warnings,
        )
        nodes = (*(item.node for item in result.nodes), *result.neighbors)
        return await render_page(
            ExploreToolResult,
            context,
            arguments,
            with_relevance(content, result, unknown),
            queries=[one.query for one in arguments.queries],
            labels={node.entity_key: node.label for node in nodes},
            as_of=arguments.as_of,
        )


def _unknown(names: Iterable[str], result: ExploreResult) -> str:
    """Which of the names that were searched no node has."""
    matched = {
        signal.matched
        for item in result.nodes
        for signal in item.signals
        if signal.source == "name_match"
    }
    unknown = [name for name in dict.fromkeys(names) if name not in matched]
    return " ".join(f'No node is named "{shorten_name(name)}".' for name in unknown)


async def _with_owner_named(context: ToolContext, arguments: ExploreArguments) -> ExploreArguments:
    """Arguments in which "me" among the names is the name of the owner, if the graph has one."""
    words = context.ontology.owner_words
    meant = {text for text in arguments.text_matches if normalised_name(text) in words}
    owner = await context.resolver.owner(context.user_id) if meant else None
    if owner is None:
        return arguments
    names = tuple(owner.name if text in meant else text for text in arguments.text_matches)
    return arguments.model_copy(update={"text_matches": names})


def explored_items(result: ExploreResult, *, explain: bool = False) -> list[Item]:
    """The items of a result: what matched, best first, and then what surrounds it."""
    joined = {
        key for edge in result.relationships for key in (edge.from_entity_key, edge.to_entity_key)
    }
    matched = [edge for edge in result.relationships if isinstance(edge, RelationshipSearchResult)]
    around = [
        edge for edge in result.relationships if not isinstance(edge, RelationshipSearchResult)
    ]
    scored: list[tuple[float, Item]] = [
        *(
            (edge.score, RelationshipItem(edge, "edges", score=edge.score, path=edge.path))
            for edge in matched
        ),
        *((item.score, _node_item(item, joined, explain=explain)) for item in result.nodes),
    ]
    return [
        *(item for _, item in sorted(scored, key=lambda pair: -pair[0])),
        *(RelationshipItem(edge, "edges") for edge in around),
        *(NeighborItem(node, is_named=node.entity_key in joined) for node in result.neighbors),
    ]


@dataclass(frozen=True)
class NeighborItem(Item):
    """A node next to those that matched; a relationship usually names it."""

    node: GraphNode
    is_named: bool

    def names(self) -> Iterator[tuple[str, str]]:
        """The node."""
        yield self.node.entity_key, self.node.name

    def lines(self, state: RenderState) -> list[Line]:
        """The node, if no relationship names it."""
        return (
            []
            if self.is_named
            else [Line(state.name(self.node.entity_key, self.node.name, self.node.label))]
        )

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """A reference to the node."""
        return [("neighbors", NodeReference.of(self.node).to_dict())]


def _node_item(item: ExploredNode, joined: Collection[str], *, explain: bool) -> NodeItem:
    more: JsonRecord = {"score": round(item.score, 6)}
    remark = ""
    if explain:
        more["found_by"] = [signal.to_dict() for signal in item.signals]
        reasons = (f"{s.source} #{s.rank} {s.similarity:.2f} {s.matched!r}" for s in item.signals)
        remark = f" [score {item.score:.4f}; {'; '.join(reasons)}]"
    is_named = item.node.entity_key in joined and not explain
    score = None if explain else item.score
    return NodeItem(
        item.node, "nodes", more, remark, score, is_named=is_named, in_full=item.is_named_exactly
    )
