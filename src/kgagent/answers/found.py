"""The results of searches as items of answers, in the order of their statements, and as context for
a model.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kgagent.answers.items import (
    Cited,
    Item,
    Line,
    NodeItem,
    RelationshipItem,
    RenderState,
    Shown,
    current_notes,
    scored_statements,
)
from kgagent.answers.page import NOTHING_RELEVANT, Content, joined, nothing_about, text_page
from kgagent.models.hybrid import HybridRelationship, HybridSearchResult
from kgagent.models.note import Note
from kgagent.models.passage import Passage
from kgagent.names import contains_words, plain_sentence

FIRST_PAGE_TOKENS = 700
"""Estimated tokens of the first page of a search, about 450 of a usual model; the next ones use the
budget given.
"""

FALL = 0.45
"""Share of the best score below which a statement is left for the next page, unless the page has
few.
"""

FEW_STATEMENTS = 5

ScoredItem = NodeItem | RelationshipItem


def llm_context(
    result: HybridSearchResult, token_budget: int = 2_000, *, now: datetime | None = None
) -> str:
    """Render results as text for a model, most relevant first: a line for each record, with its
    statements.

    A long line is shortened; a last line counts the statements that do not fit.

    Args:
        result: the result of a hybrid search.
        token_budget: maximum number of tokens.
        now: notes that have expired by then are omitted; default: the current time.
    """
    now = now or datetime.now(UTC)
    content = Content(
        by_statement(hybrid_items(result), now),
        opening=NOTHING_RELEVANT
        if result.is_relevant is False and result.items
        else nothing_about(result.named),
    )
    return text_page(content, lambda: plain_state(result, now), token_budget).text


def plain_state(result: HybridSearchResult, now: datetime | None = None) -> RenderState:
    """How the items of a result are rendered without a graph: without keys and properties.

    Args:
        result: the result of a hybrid search.
        now: notes that have expired by then are omitted; default: the current time.
    """
    return RenderState(
        now or datetime.now(UTC), result.asked, labels=result.labels, with_properties=False
    )


def hybrid_items(
    result: HybridSearchResult, field: str = "", limit: int | None = None
) -> list[Item]:
    """The best items of a result, for the lists `objects` and `relationships` of a field of the
    answer.
    """
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


def by_statement(items: Iterable[Item], now: datetime) -> list[Item]:
    """Items in the order of their statements: one with scored statements becomes an item for each.

    Items without a score follow; without any scored statement, the order stays. A note and the
    passage that it quotes are one item.

    Args:
        items: what a search found, best first.
        now: notes that have expired by then are omitted.
    """
    given = list(items)
    scored = (item for item in given if isinstance(item, ScoredItem) and item.score is not None)
    split = [one for item in scored for one in _each(item, now)]
    if all(one.shown is None for one in split):
        return given
    split.sort(key=lambda one: -(one.score or 0.0))
    return [
        *_with_cited(split),
        *(one for one in given if not isinstance(one, ScoredItem) or one.score is None),
    ]


def lines_of(
    items: Iterable[Item], state: RenderState, most: int | None = None
) -> tuple[list[str], list[Item]]:
    """Lines without a token budget, with the first item of each.

    Args:
        items: best first.
        state: how they are rendered.
        most: maximum number of lines; None: all. The statements that follow belong to the next
            lines.
    """
    fitted: list[tuple[Line, str]] = []
    first: list[Item] = []
    for item in by_statement(items, state.now):
        for line in item.lines(state):
            if line.head:
                first.append(item)
            fitted.append((line, line.text()))
        if most is not None and len(first) > most:
            break
    return joined(fitted)[:most], first[:most]


def first_page(items: Sequence[Item]) -> int:
    """The number of items on a first page, beside its tokens: those before the score falls, or a
    few.

    Args:
        items: in the order of their statements.
    """
    scores = [item.score for item in items if item.score is not None]
    if not scores:
        return len(items)
    length = next((at for at, score in enumerate(scores) if score < FALL * scores[0]), len(scores))
    return max(length, min(FEW_STATEMENTS, len(items)))


def _with_cited(items: Sequence[ScoredItem]) -> Iterable[ScoredItem]:
    """Statements, best first, where the best note that quotes a passage stands for it too, in the
    better place of both.
    """
    passages: dict[str, dict[str, NodeItem]] = {}
    for item in items:
        note = _note(item)
        if isinstance(item, NodeItem) and isinstance(note, Passage):
            passages.setdefault(item.key, {})[plain_sentence(note.content)] = item
    for_both: dict[int, ScoredItem] = {}
    for item in items if passages else ():
        note = _note(item)
        if note is None or not note.quote:
            continue
        of_source = passages.get(note.source_entity_key or "", {})
        quote = plain_sentence(note.quote)
        said = next((text for text in of_source if contains_words(text, quote)), None)
        if said is not None:
            passage = of_source.pop(said)
            for_both[id(item)] = for_both[id(passage)] = _citing(item, passage)
    distinct = {id(one): one for one in (for_both.get(id(item), item) for item in items)}
    return distinct.values()


def _citing(item: ScoredItem, passage: NodeItem) -> ScoredItem:
    """The item of a note with the passage that it quotes, and the better score of both."""
    shown, words = item.shown, _note(passage)
    assert shown and shown.statement and isinstance(words, Passage)  # noqa: S101, PT018
    cited, statement, score = Cited(passage.node.name, words), shown.statement, item.score
    if passage.score is not None and score is not None and passage.score > score:
        score = passage.score
        better = {"score": score, "contributions": passage.contributions}
        statement = statement.model_copy(update=better)
    return replace(item, score=score, shown=shown._replace(statement=statement, cited=cited))


def _note(item: ScoredItem) -> Note | None:
    """The note or passage that an item shows."""
    return item.shown.statement.note if item.shown and item.shown.statement else None


def _each(item: ScoredItem, now: datetime) -> Iterator[ScoredItem]:
    statements = [] if item.in_full else scored_statements(item.described, now)
    if not statements or (isinstance(item, NodeItem) and item.is_only_named):
        yield item
        return
    scored = {one.note.identity for one in statements if one.note is not None}
    unscored = [note for note in current_notes(item.described, now) if note.identity not in scored]
    for one in statements:
        description, notes = (
            (item.described.description, ()) if one.note is None else ("", (one.note,))
        )
        others = unscored if one is statements[-1] else ()
        yield replace(item, score=one.score, shown=Shown(description, notes, others, one))
