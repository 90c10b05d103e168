"""hybrid_search: answer one question with ranked nodes and relationships."""

from typing import Literal

from pydantic import ConfigDict, Field

from kgagent.formatting import counted
from kgagent.models.fields import FilledText
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchRequest
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext


class HybridSearchArguments(HybridSearchRequest):
    """Arguments of hybrid_search."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "where was the mother of my mentor born?", "expand_hops": 2, "format": "text"}]
        }
    )

    query: FilledText = Field(description='What to look for: "who taught me to sail?".')
    format: Literal["json", "text"] = Field("json", description="json: full records; text: lines to read.")
    token_budget: int = Field(2_000, ge=1, le=100_000, description="Maximum number of tokens of a text.")


class HybridSearchAnswer(ToolResult):
    """Nodes and relationships, best first.

    Attributes:
        objects: nodes that matched.
        relationships: relationships that matched; absent if they were not searched.
        text: all of it as text; replaces the other fields.
        warnings: what is missing, and why.
    """

    objects: tuple[HybridObject, ...] | None = None
    relationships: tuple[HybridRelationship, ...] | None = None
    text: str | None = None
    warnings: tuple[str, ...] | None = None


class HybridSearch(Tool[HybridSearchArguments]):
    """Answers a question with ranked nodes and relationships."""

    name = "hybrid_search"
    arguments = HybridSearchArguments
    result = HybridSearchAnswer
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Answer one question: the nodes ({', '.join(ontology.labels)}) and relationships that match it best, by "
            "semantic and full-text search. Each relationship has a sentence such as 'Ruth mentor Me'. Use explore to "
            "see the neighbourhood too."
        )

    async def run(self, context: ToolContext, arguments: HybridSearchArguments) -> HybridSearchAnswer:
        """Search.

        Raises:
            InputError: a label is unknown.
            SearchError: every retriever failed.
        """
        result = await context.retrieval.hybrid_search(arguments, user_id=context.user_id)
        nodes, relationships = len(result.objects), len(result.relationships or ())
        message = f"Found {counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
        warnings = result.warnings or None
        if arguments.format == "text":
            text = result.to_llm_context(arguments.token_budget, now=context.write_context.clock())
            return HybridSearchAnswer(message=message, text=text, warnings=warnings)
        return HybridSearchAnswer(
            message=message, objects=result.objects, relationships=result.relationships, warnings=warnings
        )
