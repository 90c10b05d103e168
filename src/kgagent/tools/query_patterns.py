"""query_patterns: structured questions over several relationships, answered with ranked, explained paths."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, Field, JsonValue, model_validator

from kgagent.formatting import counted
from kgagent.graph.property_names import TIMES
from kgagent.models.graph import GraphModel
from kgagent.models.hybrid import HybridSearchResult
from kgagent.models.matched_path import (
    Chunk,
    MatchedNode,
    MatchedPath,
    MatchedRelationship,
    PatternResult,
    PatternStrategy,
)
from kgagent.models.pattern import StepDirection
from kgagent.models.pattern_query import GraphQuery, RankingStrategy, ScoreComponent
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext

DEFAULT_MAX_PATHS = 20
"""Lower than the default of the Python API, because every path costs a language model tokens."""


def _patient_step(relation_type: str, target_label: str) -> dict[str, JsonValue]:
    return {"source_label": "Patient", "relation_type": relation_type, "target_label": target_label}


def _patient_has(relation_type: str, target_label: str, name: str) -> dict[str, JsonValue]:
    """A pattern: a patient has a relationship with a node of that name."""
    constraint: JsonValue = {"type": "PROPERTY_EQUALS", "property_path": "name", "value": name, "at_step": 0}
    return {"steps": [_patient_step(relation_type, target_label)], "constraints": [constraint]}


EXAMPLES: list[JsonValue] = [
    {
        "query": "Which patients take a drug that is contraindicated for a condition of theirs?",
        "patterns": [
            {
                "steps": [
                    _patient_step("PRESCRIBED_MEDICATION", "Medication"),
                    {"relation_type": "CONTRAINDICATED_FOR", "target_label": "Condition"},
                    {"relation_type": "HAS_CONDITION", "target_label": "Patient", "direction": "INCOMING"},
                ],
                "cycle": True,
            }
        ],
    },
    {
        "query": "Which patients match all 5 risk criteria?",
        "combinator": {
            "type": "INTERSECTION",
            "join_on": "start",
            "patterns": [
                _patient_has("HAS_CONDITION", "Condition", "Rheumatoid arthritis"),
                _patient_has("PRESCRIBED_MEDICATION", "Medication", "Albuterol"),
                _patient_has("HAS_CONDITION", "Condition", "Diabetes"),
                {
                    "steps": [
                        _patient_step("TREATED_BY", "Doctor"),
                        {"relation_type": "TREATED_BY", "target_label": "Patient", "direction": "INCOMING"},
                    ]
                },
                {
                    "steps": [_patient_step("HAS_RESULT", "LabResult")],
                    "constraints": [{"type": "GREATER_THAN", "property_path": "value", "value": 7, "at_step": 0}],
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
    },
    {
        "query": "Who do my mentors work with?",
        "targets": [{"description": "Me"}],
        "traversal": {"relation_types": ["has_relationship_with"], "max_depth": 2},
    },
]
"""Examples of arguments; the labels and types are those of an imaginary graph."""


class QueryPatternsArguments(GraphQuery, Arguments):
    """Arguments of query_patterns."""

    model_config = ConfigDict(json_schema_extra={"examples": EXAMPLES})
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"weights", "strict", "use_all_relation_hints"})

    max_paths: int | None = Field(DEFAULT_MAX_PATHS, ge=1, le=200, description="Maximum number of paths.")
    top_k: int = Field(5, ge=0, le=50, description="Maximum number of texts near the paths; 0 for none.")

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, given: Any) -> Any:  # noqa: ANN401
        """Accept the form {"textQuery": ..., "graphQuery": {...}}."""
        if not isinstance(given, Mapping):
            return given
        nested = [name for name in ("graphQuery", "graph_query") if isinstance(given.get(name), Mapping)]
        texts = [name for name in ("textQuery", "text_query") if name in given]
        flat = {name: value for name, value in given.items() if name not in {*nested, *texts}}
        for name in nested:
            flat = {**given[name], **flat}
        for name in texts:
            flat.setdefault("query", given[name])
        return flat


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
        keywords: names and types that occur on most paths.
        chunks: nodes with text near the paths, most similar first.
        explored: number of paths that were examined, by pattern.
        truncated: whether a limit ended the search, so that better paths may exist.
        strategy: what produced the result: patterns, traversal, or hybrid (a hybrid search because no path matched).
        query: the question, as it was given.
        hybrid: result of the hybrid search.
        ranking: how the paths are ranked.
        weights: weight of each score component, for HYBRID.
        warnings: what was omitted, ignored or assumed, and why.
        elapsed_ms: duration of the query in milliseconds.
        metadata: matchedPaths, the number of returned paths.
    """

    paths: tuple[RenderedPath, ...] | None = None
    nodes: tuple[MatchedNode, ...] | None = None
    entry_points: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    chunks: tuple[Chunk, ...] | None = None
    explored: Mapping[str, int] | None = None
    truncated: bool
    strategy: PatternStrategy
    query: str | None = None
    hybrid: HybridSearchResult | None = None
    ranking: RankingStrategy | None = None
    weights: Mapping[ScoreComponent, float] | None = None
    warnings: tuple[str, ...] | None = None
    elapsed_ms: float
    metadata: Mapping[str, int]


class QueryPatterns(Tool[QueryPatternsArguments]):
    """Runs pattern queries."""

    name = "query_patterns"
    arguments = QueryPatternsArguments
    result = PatternAnswer
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Answer a structured question over several relationships exactly, with the paths as evidence, such as "
            "which A is connected through B to the same C. Each pattern is a path of steps, with constraints on "
            "properties and branches (what must or must not lead away from a node). Combine patterns with "
            "INTERSECTION, UNION or SEQUENTIAL. Targets are nodes to start from. relation_type is a Neo4j type (here "
            f"{', '.join(ontology.relationships)}); call describe_graph for the labels, types and properties that "
            "exist. A word such as 'mentor' is the property relationship_type of a relationship: omit relation_type "
            'and add a constraint with "on": "relationship". For questions in plain words use hybrid_search.'
        )

    async def run(self, context: ToolContext, arguments: QueryPatternsArguments) -> PatternAnswer:
        """Run the query.

        Raises:
            InputError: a name does not exist, or a constraint compares values that cannot be compared.
            NotFoundError: no target exists, or nothing matched and the query is strict.
            SearchError: the query took too long.
        """
        result = await context.patterns.query(arguments, context.user_id)
        render = _Renderer(context.ontology)
        chunks = (chunk.model_copy(update={"node": render.node(chunk.node)}) for chunk in result.chunks)
        return PatternAnswer(
            message=_message(result, arguments),
            paths=tuple(map(render.path, result.paths)) or None,
            nodes=tuple(map(render.node, result.context.nodes)) or None,
            entry_points=tuple(node.entity_key for node in result.context.entry_points) or None,
            keywords=result.context.keywords or None,
            chunks=tuple(chunks) or None,
            explored=result.context.explored or None,
            truncated=result.context.truncated,
            strategy=result.strategy,
            query=result.query,
            hybrid=result.hybrid,
            ranking=result.ranking,
            weights=result.weights or None,
            warnings=result.warnings or None,
            elapsed_ms=result.elapsed_ms,
            metadata=result.metadata,
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


def _message(result: PatternResult, query: GraphQuery) -> str:
    if result.strategy != "hybrid":
        found = f"Found {counted(len(result.paths), 'path')}"
        return f"{found}, and more exist" if result.context.truncated else found
    fallback = "hybrid has the results of a hybrid search" if result.hybrid else ""
    if not query.all_patterns and query.traversal is None:
        return f"The query has neither patterns nor a traversal; {fallback or 'nodes has the targets'}"
    if not query.all_patterns and not query.targets:
        return f"A traversal needs targets, but none were given; {fallback}"
    if not fallback:
        return "No path was found, and there is no query to search for"
    return f"No path was found; {fallback}, which do not answer the {'pattern' if query.all_patterns else 'traversal'}"
