"""The results of searches as items of answers, and as context for a model."""

from datetime import UTC, datetime

from kgagent.answers.items import Item, NodeItem, RelationshipItem, RenderState, near_best
from kgagent.answers.page import NOTHING_RELEVANT, Content, text_page
from kgagent.answers.query_words import QueryWords
from kgagent.answers.statement_order import by_statement
from kgagent.models.hybrid import HybridRelationship, HybridSearchResult


def llm_context(result: HybridSearchResult, token_budget: int = 2_000, *, now: datetime | None = None) -> str:
    """Render results as text for a model, most relevant first: a line for each statement or several.

    A long line is shortened; a last line counts the items that do not fit.

    Args:
        result: the result of a hybrid search.
        token_budget: maximum number of tokens.
        now: notes that have expired by then are omitted; default: the current time.
    """
    now = now or datetime.now(UTC)
    content = Content(
        by_statement(hybrid_items(result), now),
        opening=NOTHING_RELEVANT if result.is_relevant is False and result.items else "",
    )
    return text_page(content, lambda: plain_state(result, now), token_budget).text


def plain_state(result: HybridSearchResult, now: datetime | None = None) -> RenderState:
    """How the items of a result are rendered without a graph: without keys and properties.

    Args:
        result: the result of a hybrid search.
        now: notes that have expired by then are omitted; default: the current time.
    """
    items = hybrid_items(result)
    words = QueryWords.of(result.words, (text for item in items for text in item.statements()))
    labels = {node.entity_key: node.label for node in result.objects}
    return RenderState(now or datetime.now(UTC), words, near_best(items), labels=labels, with_properties=False)


def hybrid_items(result: HybridSearchResult, field: str = "", limit: int | None = None) -> list[Item]:
    """The best items of a result, for the lists `objects` and `relationships` of a field of the answer."""
    nodes, edges = (f"{field}.{name}".removeprefix(".") for name in ("objects", "relationships"))
    items = result.items[:limit]
    relationships = [item for item in items if isinstance(item, HybridRelationship)]
    joined = {key for item in relationships for key in (item.from_entity_key, item.to_entity_key)}
    return [
        RelationshipItem(item, edges, score=item.score, path=item.path)
        if isinstance(item, HybridRelationship)
        else NodeItem(
            item,
            nodes,
            score=item.score,
            is_named=item.entity_key in joined,
            is_only_named=item.entity_key in joined and item.found_by == ("via_relationship",),
        )
        for item in items
    ]
