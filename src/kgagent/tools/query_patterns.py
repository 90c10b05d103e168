"""query_patterns: structured questions over several relationships, answered with ranked, explained paths."""

from collections.abc import Mapping

from pydantic import ConfigDict, Field, JsonValue

from kgagent.formatting import counted
from kgagent.graph.records import TIMES
from kgagent.models.graph import GraphModel
from kgagent.models.hybrid import HybridSearchResult
from kgagent.models.matched_path import (
    Chunk,
    FoundBy,
    MatchedNode,
    MatchedPath,
    MatchedRelationship,
    PatternResult,
)
from kgagent.models.pattern import StepDirection
from kgagent.models.pattern_query import GraphQuery, RankingStrategy, ScoreComponent
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext

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


class FollowedRelationship(GraphModel):
    """A relationship of a path, and how the path follows it."""

    neo4j_type: str
    direction: StepDirection
    properties: Mapping[str, JsonValue] | None = None


class RenderedPath(GraphModel):
    """A path that matched.

    Attributes:
        pattern_id: the pattern that it matched.
        path: the path in one line.
        nodes: entity_key of its nodes, whose records are in `nodes` of the result.
        relationships: its relationships, in order.
        score: what it is ranked by.
        explanation: how the score was computed.
        steps: positions in `nodes` of the nodes at which the steps arrive, if a step follows several relationships.
    """

    pattern_id: str
    path: str
    nodes: tuple[str, ...]
    relationships: tuple[FollowedRelationship, ...]
    score: float
    explanation: str
    steps: tuple[int, ...] | None = None


class PatternAnswer(ToolResult):
    """Paths that matched, best first, and what belongs to them.

    Attributes:
        paths: the paths.
        nodes: the nodes of all paths, each once.
        entry_points: entity_key of the nodes that targets were resolved to.
        chunks: nodes with text that are linked with the paths.
        explored: number of paths examined, by pattern.
        truncated: whether a limit ended the search, so that better paths may exist.
        found_by: what answered.
        hybrid: result of a plain search, if nothing matched.
        ranking: how the paths are ranked.
        weights: weight of each score component, for HYBRID.
        warnings: what is missing, and why.
    """

    paths: tuple[RenderedPath, ...] | None = None
    nodes: tuple[MatchedNode, ...] | None = None
    entry_points: tuple[str, ...] | None = None
    chunks: tuple[Chunk, ...] | None = None
    explored: Mapping[str, int] | None = None
    truncated: bool
    found_by: FoundBy
    hybrid: HybridSearchResult | None = None
    ranking: RankingStrategy | None = None
    weights: Mapping[ScoreComponent, float] | None = None
    warnings: tuple[str, ...] | None = None


class QueryPatterns(Tool[QueryPatternsArguments]):
    """Answers structured questions."""

    name = "query_patterns"
    arguments = QueryPatternsArguments
    result = PatternAnswer
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

    async def run(self, context: ToolContext, arguments: QueryPatternsArguments) -> PatternAnswer:
        """Run the query.

        Raises:
            InputError: a name is unknown, or a constraint compares what cannot be compared.
            SearchError: it took too long.
        """
        result = await context.patterns.query(arguments, context.user_id)
        render = _Renderer(context.ontology)
        chunks = (chunk.model_copy(update={"node": render.node(chunk.node)}) for chunk in result.chunks)
        return PatternAnswer(
            message=_message(result, arguments),
            paths=tuple(map(render.path, result.paths)) or None,
            nodes=tuple(map(render.node, result.context.nodes)) or None,
            entry_points=tuple(node.entity_key for node in result.context.entry_points) or None,
            chunks=tuple(chunks) or None,
            explored=result.context.explored or None,
            truncated=result.context.truncated,
            found_by=result.found_by,
            hybrid=result.hybrid,
            ranking=result.ranking,
            weights=result.weights or None,
            warnings=result.warnings or None,
        )


class _Renderer:
    """Renders paths without what kgagent itself stores on every record."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    def path(self, path: MatchedPath) -> RenderedPath:
        """A path with the keys of its nodes; their records are returned once for all paths."""
        is_one_hop_each = path.steps == tuple(range(1, len(path.nodes)))
        return RenderedPath(
            pattern_id=path.pattern_id,
            path=path.to_path_string(),
            nodes=tuple(node.entity_key for node in path.nodes),
            relationships=tuple(map(self._relationship, path.relationships)),
            score=round(path.score, 4),
            explanation=path.explanation,
            steps=None if is_one_hop_each else path.steps,
        )

    def node(self, node: MatchedNode) -> MatchedNode:
        properties = dict(node.properties)
        if self._ontology.labels.keys() & node.labels:
            properties = _without_times(properties)
        return node.model_copy(update={"properties": properties})

    def _relationship(self, relationship: MatchedRelationship) -> FollowedRelationship:
        properties = dict(relationship.properties)
        if relationship.neo4j_type in self._ontology.relationships:
            defaults = self._ontology.relationship_defaults
            properties = {
                name: value for name, value in _without_times(properties).items() if defaults.get(name) != value
            }
        return FollowedRelationship(
            neo4j_type=relationship.neo4j_type, direction=relationship.direction, properties=properties
        )


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
