"""explore: broad search with the neighborhood of what matched."""

from pydantic import ConfigDict, Field

from kgagent.formatting import counted
from kgagent.models import ExploredNode, ExploreRequest, GraphNode, GraphRelationship, RelationshipSearchResult
from kgagent.models.rendering import explored_text
from kgagent.models.search import Signal
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Format
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.references import NodeReference


class ExploreArguments(ExploreRequest):
    """Arguments of explore."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "queries": [{"query": "who are my mentors?", "threshold": 0.4}],
                    "text_matches": ["Ruth"],
                    "labels": ["Person"],
                },
            ]
        }
    )

    format: Format = None
    return_explanations: bool = Field(False, description="Whether to return why each node was found.")


class FoundNode(GraphNode):
    """A node that matched.

    Attributes:
        score: what it is ranked by.
        found_by: the searches that found it.
    """

    score: float
    found_by: tuple[Signal, ...] | None = None


class ExploreAnswer(ToolResult):
    """What matched and its neighborhood.

    Attributes:
        nodes: nodes that matched, best first.
        edges: relationships that matched, and those among and around the nodes.
        neighbours: nodes one hop from those that matched.
        warnings: what is missing, and why.
    """

    nodes: tuple[FoundNode, ...] | None = None
    edges: tuple[RelationshipSearchResult | GraphRelationship, ...] | None = None
    neighbours: tuple[NodeReference, ...] | None = None
    warnings: tuple[str, ...] | None = None
    lines: str = Field("", exclude=True)

    def to_text(self) -> str:
        """As a model reads it."""
        return "\n".join(filter(None, (self.lines or "Nothing found", *(self.warnings or ()))))


class Explore(Tool[ExploreArguments]):
    """Explores the graph."""

    name = "explore"
    arguments = ExploreArguments
    result = ExploreAnswer
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Search the knowledge graph broadly: nodes ({', '.join(ontology.labels)}) by semantic search and by name, "
            "relationships by semantic search, and what surrounds the matches. Use it for a new topic, and before you "
            "write, to find entity_keys. hybrid_search answers a single question in less space. Give queries, "
            "text_matches or both."
        )

    async def run(self, context: ToolContext, arguments: ExploreArguments) -> ExploreAnswer:
        """Explore.

        Raises:
            InputError: there is nothing to search for, or a label is unknown.
        """
        result = await context.retrieval.explore(arguments, user_id=context.user_id)
        message = f"Found {counted(len(result.nodes), 'node')} and {counted(len(result.relationships), 'relationship')}"
        warnings = result.warnings or None
        return ExploreAnswer(
            message=message,
            nodes=tuple(_found(item, explain=arguments.return_explanations) for item in result.nodes),
            edges=result.relationships,
            neighbours=tuple(map(NodeReference.of, result.neighbours)),
            warnings=warnings,
            lines=explored_text(result, context.write_context.clock(), explain=arguments.return_explanations),
        )


def _found(item: ExploredNode, *, explain: bool) -> FoundNode:
    return FoundNode(**dict(item.node), score=round(item.score, 6), found_by=item.signals if explain else None)
