"""hybrid_search: one question, answered with ranked nodes and relationships."""

from typing import Literal

from pydantic import ConfigDict, Field

from kgagent.formatting import counted
from kgagent.models.hybrid import FusionStrategy, HybridSearchRequest, HybridSearchResult
from kgagent.models.search import Threshold
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, ExpandHops, FilledText, Payload, ShortText, Tool, ToolContext


class HybridSearchArguments(Arguments):
    """Arguments of hybrid_search."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "who taught me to sail?", "limit": 10},
                {"query": "where was the mother of my mentor born?", "expand_hops": 2},
            ]
        }
    )

    query: FilledText = Field(description='What to look for, in words: "who taught me to sail?".')
    limit: int = Field(20, ge=1, le=100, description="Nodes and relationships together at the most.")
    search_relationships: bool = Field(True, description="Whether relationships are searched too.")
    relationship_limit: int = Field(
        50, ge=1, le=100, description="Relationships that are looked at before the best of all are chosen."
    )
    node_types: list[ShortText] | None = Field(
        None, max_length=50, description="Labels of nodes to keep to; leave out for all."
    )
    relationship_types: list[ShortText] | None = Field(
        None,
        max_length=50,
        description='Types of relationships to keep to, as they are stored ("mentor"); leave out for all.',
    )
    threshold: Threshold = Field(
        0.3, description="Least cosine similarity of what is found by meaning, -1 to 1; words are found whatever it is."
    )
    strategy: FusionStrategy = Field(
        "rrf",
        description="How the rankings become one. rrf is good for nearly all; interleave takes one of each ranking in "
        "turn; text_first puts all nodes that hold the words first, graph_first all nodes that are like the query.",
    )
    expand_hops: ExpandHops = None
    format: Literal["json", "text"] = Field("json", description="json: structured; text: lines to read.")
    token_budget: int = Field(2_000, ge=1, le=100_000, description="With text, tokens at the most.")


class HybridSearch(Tool[HybridSearchArguments]):
    """Answers a question with ranked nodes and relationships."""

    name = "hybrid_search"
    arguments = HybridSearchArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Find what the knowledge graph has on one question, best first: nodes "
            f"({', '.join(ontology.labels)}) and relationships, by meaning and by their exact words together. "
            "Relationships come with a sentence such as 'Ruth mentor Me'. Quicker and shorter than explore, which also "
            "shows what surrounds the hits."
        )

    async def run(self, context: ToolContext, arguments: HybridSearchArguments) -> Payload:
        """Search.

        Raises:
            InputError: a label is unknown.
            SearchError: every part of the search failed.
        """
        options = HybridSearchRequest(
            query=arguments.query,
            limit=arguments.limit,
            search_relationships=arguments.search_relationships,
            relationship_limit=arguments.relationship_limit,
            labels=None if arguments.node_types is None else tuple(arguments.node_types),
            relationship_types=None if arguments.relationship_types is None else tuple(arguments.relationship_types),
            threshold=arguments.threshold,
            strategy=arguments.strategy,
            expand_hops=arguments.expand_hops,
        )
        result = await context.retrieval.hybrid_search(options, user_id=context.user_id)
        if arguments.format == "json":
            return {"message": _message(result), **result.to_dict()}
        text = result.to_llm_context(arguments.token_budget, now=context.writing.clock())
        warnings = {"warnings": list(result.warnings)} if result.warnings else {}
        return {"message": _message(result), "text": text, **warnings}


def _message(result: HybridSearchResult) -> str:
    nodes, relationships = len(result.objects), len(result.relationships or ())
    return f"Found {counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
