"""hybrid_search: answer one question with ranked nodes and relationships."""

import asyncio
from dataclasses import replace
from datetime import datetime
from itertools import chain

from pydantic import ConfigDict, Field

from kgagent.answers.found import hybrid_items
from kgagent.answers.page import Content
from kgagent.answers.statement_order import by_statement, page_length, with_counts
from kgagent.formatting import counted
from kgagent.models.fields import FilledText
from kgagent.models.hybrid import HybridSearchRequest, HybridSearchResult
from kgagent.ontology import Ontology
from kgagent.tools.arguments import known_labels
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import JsonObject, ReadArguments, ReadToolResult, render_page, with_relevance


class HybridSearchArguments(ReadArguments, HybridSearchRequest):
    """Arguments of hybrid_search."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "where was the mother of my mentor born?", "expand_hops": 2}]}
    )

    query: FilledText = Field(description='What to look for: "who taught me to sail?".')


class HybridSearchToolResult(ReadToolResult):
    """Nodes and relationships, best first.

    Attributes:
        objects: nodes that matched.
        relationships: relationships that matched; absent if they were not searched.
        is_relevant: whether any item stands out; absent if that was not assessed.
        relevance: how far the best item stands out; 0.5 and more is relevant.
    """

    objects: tuple[JsonObject, ...] = ()
    relationships: tuple[JsonObject, ...] | None = None
    is_relevant: bool | None = None
    relevance: float | None = None


class HybridSearch(Tool[HybridSearchArguments]):
    """Answers a question with ranked nodes and relationships."""

    name = "hybrid_search"
    arguments = HybridSearchArguments
    result = HybridSearchToolResult
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Answer one question: the nodes ({', '.join(ontology.labels)}) and relationships that match it best, by "
            "semantic and full-text search. Use explore to see the neighborhood too."
        )

    def needs_embedder(self, arguments: HybridSearchArguments) -> bool:  # noqa: ARG002
        """The query is embedded."""
        return True

    async def run(self, context: ToolContext, arguments: HybridSearchArguments) -> HybridSearchToolResult:
        """Search."""
        labels = known_labels(context.ontology, arguments.labels)
        # A relationship brings its two nodes, which have no line of their own and do not count.
        limit = arguments.limit and 3 * arguments.limit
        request = arguments.model_copy(update={"labels": labels, "limit": limit})
        result = await context.retrieval.hybrid_search(request, user_id=context.user_id)
        reached = []
        if arguments.limit and (last := _last_rank(result, arguments.limit)):
            result, reached = _up_to(result, last), [f"limit {arguments.limit} reached"]
        now = context.write_context.clock() if arguments.format == "text" else None
        is_scored = arguments.strategy == "calibrated"
        is_short = arguments.cursor is None and is_scored
        # Records with many notes take a while, during which other users' calls go on.
        content = await asyncio.to_thread(found_content, result, now, most=arguments.limit, is_short=is_short)
        return await render_page(
            HybridSearchToolResult,
            context,
            arguments,
            replace(content, warnings=(*result.warnings, *reached)),
            queries=() if is_scored else [arguments.query],
            labels=labels_of(result, context.ontology),
            marks_past=arguments.as_of is None,
        )


def _last_rank(result: HybridSearchResult, limit: int) -> int | None:
    """The rank of the last of so many items that were found by themselves; None if there are fewer."""
    found = [item.rank for item in result.items if item.found_by != ("via_relationship",)]
    return found[limit - 1] if len(found) >= limit else None


def _up_to(result: HybridSearchResult, rank: int) -> HybridSearchResult:
    """The items up to a rank."""
    lists = {"objects": result.objects, "relationships": result.relationships}
    kept = {name: items and tuple(one for one in items if one.rank <= rank) for name, items in lists.items()}
    return result.model_copy(update=kept)


def labels_of(result: HybridSearchResult, ontology: Ontology) -> dict[str, str]:
    """Labels of the nodes that were found, and of the ends of relationships whose type joins nodes of one label."""
    labels = {node.entity_key: node.label for node in result.objects}
    for relationship in result.relationships or ():
        definition = ontology.relationships.get(relationship.neo4j_type)
        possible = set(chain.from_iterable(definition.pairs)) if definition is not None else set()
        if len(possible) == 1:
            for key in (relationship.from_entity_key, relationship.to_entity_key):
                labels.setdefault(key, *possible)
    return labels


def found_content(
    result: HybridSearchResult, now: datetime | None, *, most: int | None = None, is_short: bool = True
) -> Content:
    """What an answer has.

    Args:
        result: the result of the search.
        now: for an answer sorted by statement, notes that have expired by then are omitted; None: for one of records.
        most: maximum number of lines.
        is_short: without `most`, whether a page that is sorted by statement ends with those that score near the best
            one, or with some more if they are few; otherwise it uses the token budget.
    """
    nodes, relationships = len(result.objects), len(result.relationships or ())
    items = hybrid_items(result)
    length = None
    if now is not None:
        items = by_statement(items, now)
        if most is not None:
            items = [one for one in items if one.has_line][:most]
            items = with_counts(items, most, now)
        elif is_short:
            length = page_length(items)
            items = with_counts(items, length, now)
    content = Content(
        items=items,
        message=f"Found {counted(nodes, 'node')} and {counted(relationships, 'relationship')}",
        sections=("objects",) if result.relationships is None else ("objects", "relationships"),
    )
    return with_relevance(content, result, at_most=length)
