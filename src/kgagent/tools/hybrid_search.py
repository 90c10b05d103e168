"""hybrid_search: answer one question with ranked nodes and relationships."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from pydantic import Field

from kgagent.answers.found import FIRST_PAGE_TOKENS, by_statement, first_page, hybrid_items
from kgagent.answers.items import Item
from kgagent.answers.page import Content
from kgagent.formatting import counted
from kgagent.models.fields import FilledText
from kgagent.models.hybrid import HOST_ONLY, HybridSearchRequest, HybridSearchResult
from kgagent.ontology import Ontology
from kgagent.search.hybrid import CALIBRATED
from kgagent.search.search import READ
from kgagent.tools.arguments import known_labels
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import (
    JsonObject,
    ReadArguments,
    ReadToolResult,
    render_page,
    with_relevance,
)


class HybridSearchArguments(ReadArguments, HybridSearchRequest):
    """Arguments of hybrid_search."""

    refused: ClassVar[frozenset[str]] = HOST_ONLY

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
            f"Answer one question: the nodes ({', '.join(ontology.labels)}) and relationships that "
            f"match it best, by "
            "semantic and full-text search. Use explore to see the neighborhood too."
        )

    def needs_embedder(self, arguments: HybridSearchArguments) -> bool:  # noqa: ARG002
        """The query is embedded."""
        return True

    async def run(
        self, context: ToolContext, arguments: HybridSearchArguments
    ) -> HybridSearchToolResult:
        """Search."""
        labels = known_labels(context.ontology, arguments.labels)
        is_text = arguments.format == "text"
        # As text, a relationship names its nodes; as JSON, they are results beside it.
        limit = READ if arguments.limit is None and is_text else arguments.limit
        request = arguments.model_copy(
            update={
                "labels": labels,
                "limit": limit,
                "with_ends": not is_text,
                "min_trust": context.min_trust,
            }
        )
        result = await context.retrieval.hybrid_search(request, user_id=context.user_id)
        is_full = len(result.items) == arguments.limit
        reached = [f"limit {arguments.limit} reached"] if is_full else []
        now = context.write_context.clock()
        # Records with many notes take a while, during which other users' calls go on.
        items = await asyncio.to_thread(found_items, result, now if is_text else None)
        is_ranked = arguments.strategy == CALIBRATED
        is_first = is_text and is_ranked and arguments.cursor is None and arguments.limit is None
        content = found_content(result, items, at_most=first_page(items) if is_first else None)
        return await render_page(
            HybridSearchToolResult,
            context,
            arguments,
            replace(content, warnings=(*result.warnings, *reached)),
            queries=[arguments.query],
            labels=result.labels,
            as_of=arguments.as_of,
            token_budget=FIRST_PAGE_TOKENS
            if is_first and "token_budget" not in arguments.model_fields_set
            else None,
        )


def found_items(result: HybridSearchResult, now: datetime | None) -> list[Item]:
    """The items of an answer: statements if notes that have expired by `now` are omitted, records
    if it is None.
    """
    items = hybrid_items(result)
    return items if now is None else by_statement(items, now)


def found_content(
    result: HybridSearchResult, items: Sequence[Item], *, at_most: int | None = None
) -> Content:
    """What an answer has.

    Args:
        result: the result of the search.
        items: its items.
        at_most: number of items of a page if some stand out.
    """
    nodes, relationships = len(result.objects), len(result.relationships or ())
    content = Content(
        items=items,
        message=f"Found {counted(nodes, 'node')} and {counted(relationships, 'relationship')}",
        sections=("objects",) if result.relationships is None else ("objects", "relationships"),
    )
    return with_relevance(content, result, at_most=at_most)
