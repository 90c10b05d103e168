"""query_patterns: structured questions over several relationships, answered with ranked, explained
paths.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, JsonValue, ValidationError, model_validator

from kgagent.answers.page import Content
from kgagent.formatting import counted
from kgagent.models.matched_path import PatternResult, PatternStrategy
from kgagent.models.pattern_query import (
    GraphQuery,
    QueryCombinator,
    RankingStrategy,
    ScoreComponent,
)
from kgagent.models.request import parsed_json
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.pattern_guide import INTERESTS_OF_MENTORS
from kgagent.tools.pattern_items import FALLBACK, pattern_items
from kgagent.tools.pattern_references import resolve_values, resolved_targets
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page

_PARTS_OF_A_PATTERN = frozenset({"steps", "constraints", "branches", "cycle"})

_PATTERN_PROBLEM = re.compile(r"\b(patterns|combinators?)\b")

MAX_REPEATED = 200
"""Characters of the question that the answer repeats."""

DEFAULT_MAX_PATHS = 20
"""Lower than the default of the Python API, because every path costs a language model tokens."""

_EXAMPLE = json.dumps({"patterns": INTERESTS_OF_MENTORS["patterns"]})

SHORT_EXAMPLE: JsonValue = {
    "patterns": [
        {
            "steps": [
                {
                    "source_label": "Person",
                    "relation_type": "engages_with",
                    "target_label": "Concept",
                }
            ],
            "constraints": [
                {
                    "type": "PROPERTY_EQUALS",
                    "property_path": "name",
                    "value": "Sailing",
                    "at_step": 0,
                }
            ],
        }
    ]
}
"""Shown with errors about patterns."""


class QueryPatternsArguments(ReadArguments, GraphQuery):
    """Arguments of query_patterns."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {
            "traversal",
            "weights",
            "weight_property",
            "one_path_per",
            "top_k",
            "strict",
            "use_all_relation_hints",
        }
    )

    combinator: QueryCombinator | None = Field(None, description="Combines `patterns`.")
    max_paths: int | None = Field(
        DEFAULT_MAX_PATHS, ge=1, le=200, description="Maximum number of paths."
    )
    top_k: int = Field(
        5, ge=0, le=50, description="Maximum number of texts near the paths; 0 for none."
    )

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, given: Any) -> Any:  # noqa: ANN401
        """Accept {"textQuery": ..., "graphQuery": {...}}, the parts of one pattern, and a
        combinator of `patterns`.
        """
        if not isinstance(given, Mapping):
            return given
        flat = dict(given)
        for name in ("graphQuery", "graph_query"):
            if isinstance(query := parsed_json(flat.get(name)), Mapping):
                flat = {**query, **{key: value for key, value in flat.items() if key != name}}
        combinator = parsed_json(flat.get("combinator"))
        if isinstance(combinator, Mapping) and "patterns" not in combinator and "patterns" in flat:
            flat["combinator"] = {**combinator, "patterns": flat.pop("patterns")}
        pattern = (
            {name: flat.pop(name) for name in _PARTS_OF_A_PATTERN & flat.keys()}
            if "steps" in flat
            else {}
        )
        return (
            {**flat, "patterns": [pattern]}
            if pattern and not flat.keys() & {"patterns", "pattern"}
            else flat | pattern
        )


class PatternToolResult(ReadToolResult):
    """Paths that matched, best first, and what belongs to them.

    Attributes:
        paths: the paths, see `PathItem`.
        nodes: the nodes of the paths, each once.
        entry_points: entity_key of the nodes that targets were resolved to.
        keywords: names and types that occur on most paths.
        chunks: nodes with text near the paths, most similar first.
        explored: number of paths that were examined, by pattern.
        truncated: whether a limit ended the search, so that better paths may exist.
        strategy: what produced the result: patterns, traversal, or hybrid (a hybrid search because
            no path matched).
        query: the question, as it was given.
        hybrid: result of the hybrid search.
        ranking: how the paths are ranked.
        weights: weight of each score component, for HYBRID.
        elapsed_ms: duration of the query in milliseconds.
        metadata: matchedPaths, the number of paths.
    """

    paths: tuple[JsonObject, ...] | None = None
    nodes: tuple[JsonObject, ...] | None = None
    entry_points: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    chunks: tuple[JsonObject, ...] | None = None
    explored: Mapping[str, int] | None = None
    truncated: bool
    strategy: PatternStrategy
    query: str | None = None
    hybrid: JsonObject | None = None
    ranking: RankingStrategy | None = None
    weights: Mapping[ScoreComponent, float] | None = None
    elapsed_ms: float
    metadata: Mapping[str, int]


class QueryPatterns(Tool[QueryPatternsArguments]):
    """Runs pattern queries."""

    name = "query_patterns"
    arguments = QueryPatternsArguments
    result = PatternToolResult
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Answer a structured question exactly, with the paths as evidence: which A are "
            "connected through B to the "
            "same C, how often, or not at all. describe_graph lists the names that exist, and with "
            "topic 'patterns' "
            "shows worked examples. relation_type is a Neo4j type; a word such as 'mentor' is the "
            "property "
            f"relationship_type of a relationship. Example, what mentors are interested in: "
            f"{_EXAMPLE}."
        )

    def explain_invalid(self, error: ValidationError, given: Mapping[str, Any]) -> str:
        """Say what is wrong, with a short example."""
        problem = super().explain_invalid(error, given)
        return (
            f"{problem}. Example: {json.dumps(SHORT_EXAMPLE)}"
            if _PATTERN_PROBLEM.search(problem)
            else problem
        )

    def needs_embedder(self, arguments: QueryPatternsArguments) -> bool:  # noqa: ARG002
        """The query and the descriptions of targets are embedded."""
        return True

    async def run(
        self, context: ToolContext, arguments: QueryPatternsArguments
    ) -> PatternToolResult:
        """Run the query.

        Raises:
            InputError: a name does not exist, or a constraint compares values that cannot be
                compared.
            NotFoundError: no target exists, or nothing matched and the query is strict.
            SearchError: the query took too long.
        """
        targets = await resolved_targets(context, arguments.targets)
        query = arguments.model_copy(update={"targets": targets})
        result = await _result(context, query)
        message = _message(result, arguments)
        content = Content(
            items=pattern_items(result),
            message=message,
            opening=message,
            empty="",
            warnings=result.warnings,
            sections=()
            if result.hybrid is None
            else (f"{FALLBACK}.objects", f"{FALLBACK}.relationships"),
            fields=_fields(result),
        )
        return await render_page(
            PatternToolResult,
            context,
            arguments,
            content,
            queries=_searched_texts(arguments),
            as_of=arguments.as_of,
            labels={node.entity_key: node.label for node in result.context.nodes},
        )


async def _result(context: ToolContext, query: GraphQuery) -> PatternResult:
    """The result of a query with what its names and types mean."""
    values = await resolve_values(context, query)
    result = await context.patterns.query(values.query, context.user_id)
    said = (*values.notices, *values.problems)
    is_matched = result.strategy != "hybrid"
    warnings = (
        (*said, *result.warnings) if is_matched else (*result.warnings, *said, *values.ambiguous)
    )
    return result.model_copy(update={"warnings": tuple(dict.fromkeys(warnings))})


def _searched_texts(query: GraphQuery) -> list[str]:
    """The question, and what constraints require of notes."""
    constraints = (one for pattern in query.all_patterns for one in pattern.constraints)
    values = (one.value for one in constraints if one.property_path.partition(".")[0] == "notes")
    return [text for text in (query.query, *values) if isinstance(text, str)]


def _fields(result: PatternResult) -> dict[str, Any]:
    fields = {
        "explored": result.context.explored or None,
        "truncated": result.context.truncated,
        "strategy": result.strategy,
        "query": None if result.query is None else result.query[:MAX_REPEATED],
        "ranking": result.ranking,
        "weights": result.weights or None,
        "elapsed_ms": result.elapsed_ms,
        "metadata": result.metadata,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _message(result: PatternResult, query: GraphQuery) -> str:
    if result.strategy != "hybrid":
        found = f"Found {counted(len(result.paths), 'path')}"
        examined = sum(result.context.explored.values())
        is_cut = result.context.truncated or (
            len(result.paths) == query.max_paths and examined > len(result.paths)
        )
        return f"{found}, and more exist" if is_cut else found
    is_walk = query.all_patterns or (query.targets and query.traversal is not None)
    found = (
        "No path was found" if is_walk else "There are no patterns, and no targets with a traversal"
    )
    return f"{found}; `hybrid` has the results of a hybrid search" if result.hybrid else found
