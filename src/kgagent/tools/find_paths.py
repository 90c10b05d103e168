"""find_paths: how two nodes are connected."""

from kgagent.formatting import counted
from kgagent.models import GraphRelationship
from kgagent.models.graph import GraphModel, display_name
from kgagent.models.paths import FindPathsRequest, GraphPath, PathNode
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext


class RenderedPath(GraphModel):
    """A path between the two nodes.

    Attributes:
        text: its relationships as triplets.
        hops: number of its relationships.
        is_shortest: whether no path is shorter.
        score: what it is ranked by.
        explanation: how the score was computed.
        nodes: its nodes, from one end to the other.
        relationships: its relationships, in the same order.
    """

    text: str
    hops: int
    is_shortest: bool
    score: float
    explanation: str
    nodes: tuple[PathNode, ...]
    relationships: tuple[GraphRelationship, ...]

    @classmethod
    def of(cls, path: GraphPath) -> "RenderedPath":
        """A path as the tool returns it."""
        return cls(
            text=path.text,
            hops=path.hops,
            is_shortest=path.is_shortest,
            score=round(path.score, 6),
            explanation=path.explanation,
            nodes=path.nodes,
            relationships=path.relationships,
        )


class FoundPaths(ToolResult):
    """Paths, best first.

    Attributes:
        paths: the paths.
        warnings: why paths may be missing.
    """

    paths: tuple[RenderedPath, ...]
    warnings: tuple[str, ...] | None = None


class FindPaths(Tool[FindPathsRequest]):
    """Finds paths between two nodes."""

    name = "find_paths"
    arguments = FindPathsRequest
    result = FoundPaths
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Find how two nodes are connected: the paths between them through other nodes "
            f"({', '.join(ontology.labels)}), ignoring the direction of relationships. Without a query, the shortest "
            "and then the strongest come first; with a query, the paths that match it best and one of the shortest. "
            "Use get_relationship to read the relationship between two nodes."
        )

    async def run(self, context: ToolContext, arguments: FindPathsRequest) -> FoundPaths:
        """Find paths.

        Raises:
            InputError: a node does not exist, or both are the same.
        """
        result = await context.retrieval.find_paths(arguments, user_id=context.user_id)
        ends = " and ".join(display_name({"name": end.name}, end.entity_key) for end in (result.start, result.end))
        if result.paths:
            shortest = counted(min(path.hops for path in result.paths), "hop")
            message = f"Found {counted(len(result.paths), 'path')} between {ends}, the shortest with {shortest}"
        else:
            message = f"Found no path of at most {counted(arguments.max_hops, 'hop')} between {ends}"
        return FoundPaths(
            message=message, paths=tuple(map(RenderedPath.of, result.paths)), warnings=result.warnings or None
        )
