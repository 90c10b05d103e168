"""query_patterns: structured questions over several relationships, answered with ranked, explained paths."""

from collections.abc import Mapping

from pydantic import ConfigDict, Field, JsonValue

from kgagent.formatting import counted
from kgagent.graph.records import TIMES
from kgagent.models.graph import without_empty
from kgagent.models.matched_path import MatchedNode, MatchedPath, MatchedRelationship, PatternResult
from kgagent.models.pattern_query import GraphQuery
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, Payload, Tool, ToolContext

MAX_TOLD = 20
"""Paths that a model is told unless it asks for more."""

EXAMPLES: list[JsonValue] = [
    {
        "query": "Which patients take a drug that is contraindicated for a condition of theirs?",
        "patterns": [
            {
                "pattern_id": "contraindicated",
                "steps": [
                    {
                        "source_label": "Patient",
                        "relation_type": "PRESCRIBED_MEDICATION",
                        "target_label": "Medication",
                    },
                    {"relation_type": "CONTRAINDICATED_FOR", "target_label": "Condition"},
                    {"relation_type": "HAS_CONDITION", "target_label": "Patient", "direction": "INCOMING"},
                ],
                "cycle": True,
            }
        ],
    },
    {
        "combinator": {
            "type": "INTERSECTION",
            "patterns": [
                {
                    "pattern_id": "has_asthma",
                    "steps": [
                        {"source_label": "Patient", "relation_type": "HAS_CONDITION", "target_label": "Condition"}
                    ],
                    "constraints": [
                        {"type": "PROPERTY_EQUALS", "property_path": "name", "value": "Asthma", "at_step": 0}
                    ],
                },
                {
                    "pattern_id": "takes_two_drugs",
                    "steps": [{"source_label": "Patient", "relation_type": "TREATED_BY", "target_label": "Doctor"}],
                    "branches": [
                        {
                            "at_step": "start",
                            "steps": [{"relation_type": "PRESCRIBED_MEDICATION", "target_label": "Medication"}],
                            "at_least": 2,
                        }
                    ],
                },
            ],
        },
        "max_paths": 50,
    },
    {
        "query": "Who do my mentors work with?",
        "targets": [{"description": "Me"}],
        "traversal": {"relation_types": ["has_relationship_with"], "max_depth": 2},
    },
]
"""What a model is shown; the labels and types are those of an imaginary graph."""


class QueryPatternsArguments(GraphQuery, Arguments):
    """Arguments of query_patterns."""

    model_config = ConfigDict(json_schema_extra={"examples": EXAMPLES})

    max_paths: int | None = Field(MAX_TOLD, ge=1, le=200, description="Paths at the most.")
    top_k: int = Field(5, ge=0, le=50, description="Texts linked with the paths at the most; 0 for none.")


class QueryPatterns(Tool[QueryPatternsArguments]):
    """Answers structured questions."""

    name = "query_patterns"
    arguments = QueryPatternsArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Answer a structured question over several relationships, such as which A is joined through B with the "
            "same C, exactly and with the paths as evidence. A pattern is a list of steps (source_label, "
            "relation_type, target_label, direction, min_hops and max_hops), with constraints on properties "
            "(at_step: the node that the step arrives at, from 0; start; -1 any), branches (what must, must not "
            "(at_most 0), or must at least so often lead away from a node), cycle (ends where it starts). Several "
            "patterns combine by INTERSECTION, UNION or SEQUENTIAL. Targets name nodes to start from. relation_type "
            "is the type in the database "
            f"(here {', '.join(ontology.relationships)}; describe_graph tells all that exist); a word such as 'mentor' "
            "is the property relationship_type of a relationship: constrain it with on: relationship. "
            "For questions in plain words use hybrid_search."
        )

    async def run(self, context: ToolContext, arguments: QueryPatternsArguments) -> Payload:
        """Ask.

        Raises:
            InputError: a name is unknown, or a constraint compares what cannot be compared.
            SearchError: it took too long.
        """
        result = await context.patterns.query(arguments, context.user_id)
        told = _Teller(context.ontology)
        answer = {
            "message": _message(result, arguments),
            "paths": [told.path(path) for path in result.paths],
            "nodes": [told.node(node) for node in result.context.nodes],
            "entry_points": [node.entity_key for node in result.context.entry_points],
            "chunks": [chunk.to_dict() | {"node": told.node(chunk.node)} for chunk in result.chunks],
            "explored": dict(result.context.explored),
            "truncated": result.context.truncated,
        }
        others: Payload = without_empty(
            result.model_dump(mode="json", exclude_none=True, exclude={"context", "chunks"})
        )
        return {key: value for key, value in answer.items() if value not in ([], {})} | others


class _Teller:
    """Tells paths, without what kgagent writes on everything."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    def path(self, path: MatchedPath) -> Payload:
        """A path without its nodes, which are told once for all paths."""
        told: Payload = {
            "pattern_id": path.pattern_id,
            "path": path.to_path_string(),
            "nodes": [node.entity_key for node in path.nodes],
            "relationships": [self._relationship(relationship) for relationship in path.relationships],
            "score": round(path.score, 4),
            "explanation": path.explanation,
        }
        return told if path.steps == tuple(range(1, len(path.nodes))) else {**told, "steps": list(path.steps)}

    def node(self, node: MatchedNode) -> Payload:
        properties = dict(node.properties)
        if self._ontology.labels.keys() & node.labels:
            properties = _without_times(properties)
        return node.model_copy(update={"properties": properties}).to_dict()

    def _relationship(self, relationship: MatchedRelationship) -> Payload:
        properties = dict(relationship.properties)
        if relationship.neo4j_type in self._ontology.relationships:
            defaults = self._ontology.relationship_defaults
            properties = {
                name: value for name, value in _without_times(properties).items() if defaults.get(name) != value
            }
        properties = without_empty(properties)
        told = {"neo4j_type": relationship.neo4j_type, "direction": relationship.direction.value}
        return {**told, "properties": properties} if properties else told


def _without_times(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in properties.items() if name not in TIMES}


def _message(result: PatternResult, asked: GraphQuery) -> str:
    if result.found_by != "hybrid":
        found = f"Found {counted(len(result.paths), 'path')}"
        return f"{found}, and more exist" if result.context.truncated else found
    instead = "what a plain search finds stands in hybrid" if result.hybrid else ""
    if not asked.all_patterns and asked.traversal is None:
        return f"Neither a pattern nor a traversal was asked for; {instead or 'the targets stand in nodes'}"
    if not asked.all_patterns and not asked.targets:
        return f"A traversal starts from targets, and none was given; {instead}"
    what = "pattern" if asked.all_patterns else "traversal"
    if not instead:
        return "No path was found, and no query was given to search for"
    return f"No path was found; {instead}, and is no answer to the {what}"
