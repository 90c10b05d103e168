"""explore: broad investigation of what the graph knows."""

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from kgagent.formatting import counted
from kgagent.models import ExploreRequest, ExploreResult, VectorQuery
from kgagent.models.search import Threshold
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, ExpandHops, FilledText, Payload, ShortText, Tool, ToolContext
from kgagent.tools.explore_text import as_text


class ExploreQuery(Arguments):
    """A text to search for by meaning."""

    query: FilledText = Field(description='What to look for, in words: "mentor relationships", "friends from college".')
    threshold: Threshold = Field(
        0.3, description="Least cosine similarity of a hit, -1 to 1. Lower finds more; 0.3 is a good start."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        """A model that gives a bare text means the query."""
        return {"query": given} if isinstance(given, str) else given


class ExploreArguments(Arguments):
    """Arguments of explore."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"queries": [{"query": "who are my mentors?"}], "node_types": ["Person"]},
                {"queries": [{"query": "sailing", "threshold": 0.4}], "text_matches": ["Ruth"], "format": "text"},
            ]
        }
    )

    queries: list[ExploreQuery] = Field(
        default_factory=list,
        max_length=20,
        description="Texts to search nodes and relationships for by meaning.",
    )
    text_matches: list[FilledText] = Field(
        default_factory=list, max_length=20, description="Names, or parts of names, of nodes to find."
    )
    search_relationships: bool = Field(
        True, description="Whether relationships are searched too, and the nodes found that they join."
    )
    node_types: list[ShortText] | None = Field(None, max_length=50, description="Labels to keep to; leave out for all.")
    max_results_per_type: int = Field(10, ge=1, le=100, description="Nodes of each label at the most.")
    expand_hops: ExpandHops = None
    format: Literal["json", "text"] = Field("json", description="json: structured; text: compact lines to read.")
    return_explanations: bool = Field(
        False, description="Whether each node says which searches found it, and how well."
    )


class Explore(Tool[ExploreArguments]):
    """Explores the graph."""

    name = "explore"
    arguments = ExploreArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Look broadly through the knowledge graph: what does the user know about a topic, a "
            "person or a relationship? "
            f"Finds nodes ({', '.join(ontology.labels)}) by meaning and by name, and relationships by "
            "meaning, together "
            "with the nodes they join even where those do not mention the topic; then adds what surrounds the hits. "
            "Give queries, text_matches or both."
        )

    async def run(self, context: ToolContext, arguments: ExploreArguments) -> Payload:
        """Explore.

        Raises:
            InputError: nothing was asked for, or a label is unknown.
        """
        request = ExploreRequest(
            queries=tuple(VectorQuery(query=q.query, threshold=q.threshold) for q in arguments.queries),
            text_matches=tuple(arguments.text_matches),
            search_relationships=arguments.search_relationships,
            labels=None if arguments.node_types is None else tuple(arguments.node_types),
            limit_per_label=arguments.max_results_per_type,
            expand_hops=arguments.expand_hops,
        )
        result = await context.retrieval.explore(request, user_id=context.user_id)
        message = f"Found {counted(len(result.nodes), 'node')} and {counted(len(result.relationships), 'relationship')}"
        if arguments.format == "text":
            now = context.writing.clock()
            return {"message": message, "text": as_text(result, explain=arguments.return_explanations, now=now)}
        return {"message": message, **_payload(result, explain=arguments.return_explanations)}


def _payload(result: ExploreResult, *, explain: bool) -> Payload:
    nodes = []
    for item in result.nodes:
        node = item.node.to_dict() | {"score": round(item.score, 6)}
        if explain:
            node["found_by"] = [signal.to_dict() for signal in item.signals]
        nodes.append(node)
    return {
        "nodes": nodes,
        "edges": [relationship.to_dict() for relationship in result.relationships],
        "neighbours": [{"entity_key": n.entity_key, "label": n.label, "name": n.name} for n in result.neighbours],
    }
