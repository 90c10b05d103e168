"""What tools that read have in common: the arguments that limit an answer, and the answer within
its token budget.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from pydantic import Field, JsonValue

from kgagent.answers.conflicts import conflicts
from kgagent.answers.items import RenderState, namesakes
from kgagent.answers.page import NOTHING_RELEVANT, Content, json_page, nothing_about, text_page
from kgagent.errors import InputError
from kgagent.graph.reference_forms import message_key
from kgagent.models.fields import ShortText
from kgagent.models.graph import GraphRelationship
from kgagent.models.hybrid import HybridSearchResult
from kgagent.models.request import RequestModel
from kgagent.models.search import ExploreResult
from kgagent.models.when import day_of_question, period_of
from kgagent.names import plain_words
from kgagent.tools.arguments import Format
from kgagent.tools.base import ToolResult
from kgagent.tools.context import ToolContext

DEFAULT_TOKEN_BUDGET = 2_000
MAX_TOKEN_BUDGET = 20_000
BUDGET_DESCRIPTION = "Maximum tokens."
NEAREST = 5
"""Items that are shown if none is relevant."""

JsonObject = Mapping[str, JsonValue]

_CURSOR = re.compile(r"(\d{1,9})-([0-9a-f]{6})")
_LIMITS = frozenset({"token_budget", "cursor"})


class ReadArguments(RequestModel):
    """Arguments of every tool that reads."""

    format: Format = None
    token_budget: int = Field(
        DEFAULT_TOKEN_BUDGET, ge=100, le=MAX_TOKEN_BUDGET, description=BUDGET_DESCRIPTION
    )
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"format"})
    cursor: ShortText | None = Field(None, description="Continues a result.")


class ReadToolResult(ToolResult):
    """An answer within its token budget.

    Attributes:
        total: number of items of the complete answer.
        next_cursor: continues the answer; None if it is complete.
        warnings: what is missing, and why.
        text: the answer for a model; not part of the payload.
    """

    total: int
    next_cursor: str | None = None
    warnings: tuple[str, ...] | None = None
    text: str = Field("", exclude=True)

    def to_text(self) -> str:
        """The answer for a model."""
        return self.text


ResultT = TypeVar("ResultT", bound=ReadToolResult)


async def render_page(
    result: type[ResultT],
    context: ToolContext,
    arguments: ReadArguments,
    content: Content,
    *,
    queries: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
    as_of: str | None = None,
    token_budget: int | None = None,
    places: Sequence[int] = (),
) -> ResultT:
    """Render what fits the token budget, from the cursor on.

    Args:
        result: the tool's result model.
        context: the user's graph.
        arguments: format, budget and cursor.
        content: the complete answer.
        queries: what was asked; decides which of many notes are shown if no search scored them.
        labels: labels of nodes by entity_key, as far as known.
        sources: names of the sources of notes by entity_key; None shows no sources.
        as_of: the time asked for; relationships that had ended by then are marked.
        token_budget: maximum number of tokens; None: that of the arguments.
        places: what the cursor says of each item and of the end, if it does not count items; the
            content then begins at the cursor.

    Raises:
        InputError: the cursor belongs to other arguments, or the budget is too small for one item
            as JSON.
    """
    made, now = cursor_maker(arguments, context), context.write_context.clock()
    offset = 0 if places else cursor_offset(arguments, context)
    asked = (
        frozenset(word for query in queries for word in plain_words(query))
        - context.ontology.stop_words
    )
    keys = {key: message_key(key) for key in namesakes(content.items)}
    day = day_of_question(None if as_of is None else period_of(as_of), now)
    shown = (getattr(item, "relationship", None) for item in content.items)
    relationships = [one for one in shown if isinstance(one, GraphRelationship)]
    conflicting = conflicts(relationships, context.ontology, day)

    def new_state() -> RenderState:
        return RenderState(
            now=now,
            asked=asked,
            as_of=as_of,
            conflicts=conflicting,
            keys=keys,
            labels=labels or {},
            sources=sources,
            defaults=context.ontology.relationship_defaults,
            own=context.ontology.labels.keys() | context.ontology.relationships.keys(),
            node_hint="get_relationship of it alone" if context.offers("get_relationship") else "",
            relationship_hint="get_relationship" if context.offers("get_relationship") else "",
            budget_hint="raise token_budget" if arguments.token_budget < MAX_TOKEN_BUDGET else "",
        )

    render = text_page if arguments.format == "text" else json_page
    # Long texts take a while, during which other users' calls go on.
    budget = token_budget or arguments.token_budget

    def cursor(item: int) -> str:
        return made(places[item] if places else item)

    page = await asyncio.to_thread(render, content, new_state, budget, offset=offset, cursor=cursor)
    return result.model_validate({**page.payload, "text": page.text})


def with_relevance(
    content: Content,
    result: ExploreResult | HybridSearchResult,
    unknown: str = "",
    *,
    at_most: int | None = None,
) -> Content:
    """Add what a search says about the relevance of its items: if none stands out, only the nearest
    few are shown.

    Args:
        content: the items.
        result: the result of the search.
        unknown: names that no node has, the first line of the answer.
        at_most: number of items of a page if some stand out.
    """
    fields = {"is_relevant": result.is_relevant, "relevance": result.relevance}
    assessed = {name: value for name, value in fields.items() if value is not None}
    nodes = result.nodes if isinstance(result, ExploreResult) else result.objects
    if result.is_relevant is not False or not (nodes or result.relationships):
        opening = unknown or (
            nothing_about(result.named) if isinstance(result, HybridSearchResult) else ""
        )
        return replace(content, fields=assessed, opening=opening, at_most=at_most)
    opening = "\n".join(filter(None, (unknown, NOTHING_RELEVANT)))
    return replace(content, fields=assessed, opening=opening, at_most=NEAREST)


def cursor_offset(arguments: ReadArguments, context: ToolContext) -> int:
    """The number of items that earlier answers have shown.

    Raises:
        InputError: the cursor belongs to other arguments, or other readable owners.
    """
    if arguments.cursor is None:
        return 0
    match = _CURSOR.fullmatch(arguments.cursor.strip())
    if match is None or match[2] != _fingerprint(arguments, context):
        raise InputError(
            f"cursor {arguments.cursor[:40]!r} does not belong to these arguments. Repeat the "
            f"arguments of the call "
            "that returned it, or omit cursor"
        )
    return int(match[1])


def cursor_maker(arguments: ReadArguments, context: ToolContext) -> Callable[[int], str]:
    """Returns a function from a number of items to the cursor that continues after them."""
    fingerprint = _fingerprint(arguments, context)
    return lambda position: f"{position}-{fingerprint}"


def _fingerprint(arguments: ReadArguments, context: ToolContext) -> str:
    """Equal for calls that read the same owners and differ only in what limits the answer."""
    given: dict[str, Any] = arguments.model_dump(mode="json", exclude=set(_LIMITS))
    if context.readable:
        given["readable"] = list(context.readable)
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:6]
