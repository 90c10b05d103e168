"""hybrid_search: answer one question with ranked nodes and relationships."""

from pydantic import ConfigDict, Field

from kgagent.formatting import counted
from kgagent.models.fields import FilledText
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchRequest
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Format
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext


class HybridSearchArguments(HybridSearchRequest):
    """Arguments of hybrid_search."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "where was the mother of my mentor born?", "expand_hops": 2}]}
    )

    query: FilledText = Field(description='What to look for: "who taught me to sail?".')
    format: Format = None
    token_budget: int = Field(2_000, ge=1, le=100_000, description="Maximum number of tokens of a text.")


class HybridSearchAnswer(ToolResult):
    """Nodes and relationships, best first.

    Attributes:
        objects: nodes that matched.
        relationships: relationships that matched; absent if they were not searched.
        warnings: what is missing, and why.
    """

    objects: tuple[HybridObject, ...] | None = None
    relationships: tuple[HybridRelationship, ...] | None = None
    warnings: tuple[str, ...] | None = None
    lines: str = Field("", exclude=True)

    def to_text(self) -> str:
        """As a model reads it."""
        return "\n".join(filter(None, (self.lines or "Nothing found", *(self.warnings or ()))))


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
            "see the neighborhood too."
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
        return HybridSearchAnswer(
            message=message,
            objects=result.objects,
            relationships=result.relationships,
            warnings=warnings,
            lines=result.to_llm_context(arguments.token_budget, now=context.write_context.clock()),
        )
