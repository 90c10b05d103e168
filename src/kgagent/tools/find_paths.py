"""find_paths: how two nodes are connected."""

from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.answers.items import Item, JsonRecord, Line, RelationshipItem, RenderState, item_record
from kgagent.answers.page import Content
from kgagent.answers.safe_text import safe_text
from kgagent.answers.safe_triplet import safe_triplet
from kgagent.formatting import counted
from kgagent.models.paths import FindPathsRequest, GraphPath
from kgagent.models.plain import display_name
from kgagent.models.when import with_time
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page


class FindPathsArguments(ReadArguments, FindPathsRequest):
    """Arguments of find_paths."""


class FoundPaths(ReadToolResult):
    """Paths, best first.

    Attributes:
        paths: each with its relationships as triplets (`text`), hops, whether no path is shorter,
            its score and how that was computed, its nodes and relationships.
    """

    paths: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class _PathItem(Item):
    """A path: a line for its triplets, and one for each relationship that is not described yet."""

    number: int
    path: GraphPath

    def names(self) -> Iterator[tuple[str, str]]:
        """All nodes."""
        for item in self._items():
            yield from item.names()

    def lines(self, state: RenderState) -> list[Line]:
        """The path."""
        triplets = "; ".join(
            with_time(safe_triplet(one), safe_text(one.when or ""), state.day, one.last_said)
            for one in self.path.relationships
        )
        lines = [Line(f"Path {self.number}", triplets)]
        for item in self._items():
            if item.stated(state) not in state.stated:
                lines += item.lines(state)
        return lines

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The path with its nodes and relationships."""
        path = self.path
        record = {
            "text": "; ".join(item.stated(state) for item in self._items()),
            "hops": path.hops,
            "is_shortest": path.is_shortest,
            "score": round(path.score, 6),
            "explanation": path.explanation,
            "nodes": [node.to_dict() for node in path.nodes],
            "relationships": [
                _without_names(item_record(item, state)) for item in path.relationships
            ],
        }
        return [("paths", record)]

    def _items(self) -> list[RelationshipItem]:
        return [RelationshipItem(item, "relationships") for item in self.path.relationships]


class FindPaths(Tool[FindPathsArguments]):
    """Finds paths between two nodes."""

    name = "find_paths"
    arguments = FindPathsArguments
    result = FoundPaths
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Find how two nodes are connected: the paths between them through other nodes "
            f"({', '.join(ontology.labels)}), ignoring the direction of relationships. Without a "
            f"query, the shortest "
            "and then the strongest come first; with a query, those that match it best and one of "
            "the shortest. Paths through past relationships follow equal ones."
        )

    def needs_embedder(self, arguments: FindPathsArguments) -> bool:
        """The query is embedded."""
        return arguments.query is not None

    async def run(self, context: ToolContext, arguments: FindPathsArguments) -> FoundPaths:
        """Find paths."""
        result = await context.retrieval.find_paths(arguments, user_id=context.user_id)
        ends = " and ".join(
            display_name({"name": end.name}, end.entity_key) for end in (result.start, result.end)
        )
        if result.paths:
            shortest = counted(min(path.hops for path in result.paths), "hop")
            message = (
                f"Found {counted(len(result.paths), 'path')} between {ends}, the shortest with "
                f"{shortest}"
            )
        else:
            message = (
                f"Found no path of at most {counted(arguments.max_hops, 'hop')} between {ends}"
            )
        content = Content(
            items=[_PathItem(number, path) for number, path in enumerate(result.paths, 1)],
            message=message,
            empty=message,
            sections=("paths",),
            warnings=result.warnings,
        )
        nodes = [node for path in result.paths for node in path.nodes]
        return await render_page(
            FoundPaths,
            context,
            arguments,
            content,
            queries=[arguments.query] if arguments.query else (),
            as_of=arguments.as_of,
            labels={node.entity_key: node.label for node in nodes},
        )


def _without_names(relationship: JsonRecord) -> JsonRecord:
    """A relationship of a path without the names of its ends, which the nodes of the path have."""
    return {
        name: value for name, value in relationship.items() if name not in {"from_name", "to_name"}
    }
