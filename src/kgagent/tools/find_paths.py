"""find_paths: how two nodes are related."""

from pydantic import Field

from kgagent.formatting import counted
from kgagent.models.paths import MAX_PATH_HOPS, MAX_PATHS, FindPathsRequest, GraphPath
from kgagent.models.triplet import display_name
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, EntityKey, FilledText, Payload, Tool, ToolContext


class FindPathsArguments(Arguments):
    """Arguments of find_paths."""

    from_entity_key: EntityKey = Field(description="entity_key of the node at one end.")
    to_entity_key: EntityKey = Field(description="entity_key of the node at the other end.")
    query: FilledText | None = Field(
        None,
        max_length=8_000,
        description='What the paths should be about, such as "how did they meet at work?"; leave out for the shortest.',
    )
    max_hops: int = Field(4, ge=1, le=MAX_PATH_HOPS, description="Relationships of a path at the most, 1 to 6.")
    max_paths: int = Field(5, ge=1, le=MAX_PATHS, description="Paths at the most, best first.")


class FindPaths(Tool[FindPathsArguments]):
    """Finds paths."""

    name = "find_paths"
    arguments = FindPathsArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Find out how two nodes are related: the paths between them over the nodes in between "
            f"({', '.join(ontology.labels)}), whichever way the relationships point. Without a query the shortest come "
            "first, of one length the strongest; with a query those whose relationships are most like it, and one of "
            "the shortest. Use get_relationship for what joins two nodes directly."
        )

    async def run(self, context: ToolContext, arguments: FindPathsArguments) -> Payload:
        """Find them.

        Raises:
            InputError: a node does not exist, or both are one.
        """
        request = FindPathsRequest(**arguments.model_dump())
        found = await context.retrieval.find_paths(request, user_id=context.user_id)
        names = " and ".join(display_name({"name": end.name}, end.entity_key) for end in (found.start, found.end))
        if found.paths:
            shortest = counted(_fewest(found.paths), "hop")
            message = f"Found {counted(len(found.paths), 'path')} between {names}, the shortest of {shortest}"
        else:
            message = f"No path of at most {counted(arguments.max_hops, 'hop')} joins {names}"
        answer: Payload = {"message": message, "paths": [_path(path) for path in found.paths]}
        return answer | ({"warnings": list(found.warnings)} if found.warnings else {})


def _fewest(paths: tuple[GraphPath, ...]) -> int:
    return min(path.hops for path in paths)


def _path(path: GraphPath) -> Payload:
    return {
        "text": path.text,
        "hops": path.hops,
        "is_shortest": path.is_shortest,
        "score": round(path.score, 6),
        "explanation": path.explanation,
        "nodes": [node.to_dict() for node in path.nodes],
        "relationships": [relationship.to_dict() for relationship in path.relationships],
    }
