"""traverse: follow the relationships of a node, hop by hop."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import Field

from kgagent.answers.items import (
    Item,
    JsonRecord,
    Line,
    NodeItem,
    RelationshipItem,
    RenderState,
    item_record,
    relationship_text,
    time_of,
)
from kgagent.answers.page import Content
from kgagent.answers.token_budget import cut_record
from kgagent.formatting import counted
from kgagent.models.traversal import (
    MAX_TRAVERSED_HOPS,
    MAX_TRAVERSED_NODES,
    TraversedNode,
    TraverseRequest,
    TraverseResult,
)
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import (
    JsonObject,
    ReadArguments,
    ReadToolResult,
    cursor_offset,
    render_page,
)
from kgagent.tools.references import NodeReference, RelationshipReference

SHORTEST_LINE = 8
"""Tokens of the shortest line about a node; decides how many nodes are read for one answer."""


class TraverseArguments(ReadArguments, TraverseRequest):
    """Arguments of traverse."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("name", "node", "key", "id"), "entity_key"
    )

    limit: int | None = Field(
        None, ge=1, le=MAX_TRAVERSED_NODES, description="Maximum number of nodes."
    )  # type: ignore[assignment]
    verbose: bool = Field(False, description="Return descriptions, notes and properties too.")


class Traversal(ReadToolResult):
    """The nodes that a traversal reached, nearest first.

    Attributes:
        start: the node that it started from.
        is_complete: whether no node was omitted because of `limit`.
        nodes: the nodes that it reached, each with its distance (`hops`) and up to three
            relationships that lead to it.
    """

    start: JsonObject
    is_complete: bool
    nodes: tuple[JsonObject, ...] = ()


class Traverse(Tool[TraverseArguments]):
    """Follows relationships from a node."""

    name = "traverse"
    arguments = TraverseArguments
    result = Traversal
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Follow the relationships of a node, up to {MAX_TRAVERSED_HOPS} hops; the nearest and "
            f"most strongly "
            "connected nodes first, past relationships last. "
            "sort=date lists what is connected to a node, newest first, with dates. "
            "find_paths finds how two nodes are connected. "
            f"Neo4j types: {', '.join(ontology.relationships)}."
        )

    async def run(self, context: ToolContext, arguments: TraverseArguments) -> Traversal:
        """Follow the relationships."""
        position = cursor_offset(arguments, context)
        if arguments.hops == 1:
            # One hop is read page by page, so that the neighbors of a hub can be listed to the end.
            page = arguments.token_budget // SHORTEST_LINE
            left = (
                page if arguments.limit is None else min(page, max(arguments.limit - position, 1))
            )
            request = arguments.model_copy(update={"skip": position, "limit": left})
        else:
            request = arguments.model_copy(update={"limit": arguments.limit or MAX_TRAVERSED_NODES})
        result = await context.retrieval.traverse(request, user_id=context.user_id)
        nodes = (result.start, *(item.node for item in result.reached))
        state = RenderState(
            context.write_context.clock(),
            defaults=context.ontology.relationship_defaults,
            as_of=arguments.as_of,
        )
        return await render_page(
            Traversal,
            context,
            arguments,
            replace(_content(result, arguments, request.skip, state), warnings=result.warnings),
            labels={node.entity_key: node.label for node in nodes},
            as_of=arguments.as_of,
        )


def _content(
    result: TraverseResult, arguments: TraverseArguments, first: int, state: RenderState
) -> Content:
    total = first + len(result.reached) if result.total is None else result.total
    if arguments.limit is not None:
        total = min(total, arguments.limit)
    is_cut = not result.is_complete and (arguments.hops > 1 or arguments.limit is not None)
    more = "; there are more: use fewer hops, another limit, or filter by type" if is_cut else ""
    start = result.start
    name = start.name or start.entity_key
    message = f"Reached {counted(total, 'node')} from {name}{more}"
    return Content(
        items=[_ReachedItem(item, arguments) for item in result.reached],
        message=message,
        opening=message if is_cut else "",
        empty=f"Found no matching relationship between {name} and another node",
        sections=("nodes",),
        fields={
            "start": cut_record(item_record(start, state), arguments.token_budget // 4) or {}
            if arguments.verbose
            else NodeReference.of(start).to_dict(),
            "is_complete": not is_cut,
        },
        total=total,
        first=first,
    )


@dataclass(frozen=True)
class _ReachedItem(Item):
    """A node that was reached, with the relationships that lead to it."""

    reached: TraversedNode
    arguments: TraverseArguments

    def names(self) -> Iterator[tuple[str, str]]:
        """All nodes."""
        for item in self._items():
            yield from item.names()

    def lines(self, state: RenderState) -> list[Line]:
        """The relationships and, if all is asked for, the node."""
        if self.arguments.verbose:
            lines = [line for item in self._items() for line in item.lines(state)]
        else:
            lines = [Line(relationship_text(item, state)) for item in self.reached.relationships]
        [first, *others] = lines
        hops = f" ({self.reached.hops} hops)" if self.reached.hops > 1 else ""
        date = f"{self._date} " if self._date else ""
        return [replace(first, head=f"{date}{first.head}{hops}"), *others]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The node with the relationships in it."""
        node, relationships = self.reached.node, self.reached.relationships
        if self.arguments.verbose:
            record = item_record(node, state)
            led: list[JsonRecord] = [item_record(item, state) for item in relationships]
        else:
            record = NodeReference.of(node).to_dict()
            led = [
                RelationshipReference.of(item).to_dict() | time_of(item, state)
                for item in relationships
            ]
        dated = {"date": self._date} if self._date else {}
        return [("nodes", record | {"hops": self.reached.hops} | dated | {"relationships": led})]

    @property
    def _date(self) -> str:
        """When the newest of the relationships was recorded, if that is what nodes are sorted
        by.
        """
        if self.arguments.sort != "date":
            return ""
        dates = (item.properties.get("created_at") for item in self.reached.relationships)
        return max((date[:10] for date in dates if isinstance(date, str)), default="")

    def _items(self) -> list[Item]:
        return [
            *(
                RelationshipItem(item, "relationships", in_full=True)
                for item in self.reached.relationships
            ),
            NodeItem(self.reached.node, "nodes", is_named=True, in_full=True),
        ]
