"""The items of a search in the order of their statements, which is how a model reads them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise, zip_longest

from kgagent.answers.items import (
    Item,
    NodeItem,
    RelationshipItem,
    Shown,
    current_notes,
    near_best,
    scored_statements,
    without,
)
from kgagent.models.note import Note

MIN_STATEMENTS = 10
"""Minimum number of statements on a first page, whatever they score."""

ScoredItem = NodeItem | RelationshipItem


def by_statement(items: Iterable[Item], now: datetime) -> list[Item]:
    """Sort items by statement: an item with several statements becomes an item for each.

    Items without scored statements, and those that something else ranked, such as a reranker, stay whole. Items without
    a score follow. The order stays if it is not that of the scores, or if no statement is scored.

    Args:
        items: what a search found, best first.
        now: notes that have expired by then are omitted.
    """
    given = list(items)
    scored = [one for one in given if isinstance(one, ScoredItem) and one.score is not None]
    if any((first.score or 0.0) < (second.score or 0.0) for first, second in pairwise(scored)):
        return given
    split = [one for item in scored for one in _statements(item, now)]
    if all(one.shown is None for one in split):
        return given
    split.sort(key=lambda one: -(one.score or 0.0))
    others = [one for one in given if not isinstance(one, ScoredItem) or one.score is None]
    return [*split, *others]


def page_length(items: Sequence[Item]) -> int:
    """The number of items on a first page: those that score near the best one, or at least some statements.

    Args:
        items: in the order of their statements.
    """
    enough, length, statements = near_best(items), 0, 0
    for item in items:
        if item.score is None or (item.score < enough and statements >= MIN_STATEMENTS):
            break
        length += 1
        statements += item.has_line
    return length


def with_counts(items: Sequence[Item], length: int, now: datetime) -> list[Item]:
    """The items, with the number of notes that a page does not show at the end of the first line of their record.

    Args:
        items: in the order of their statements.
        length: number of items on the page.
        now: notes that have expired by then are not counted.
    """
    counted, page = list(items), items[:length]
    on_page = defaultdict[int, list[Note]](list)
    for item in page:
        if isinstance(item, ScoredItem) and item.shown is not None:
            on_page[id(item.described)] += item.shown.notes
    for position, (item, following) in enumerate(zip_longest(page, page[1:])):
        if not isinstance(item, ScoredItem) or item.shown is None or id(item.described) not in on_page:
            continue
        if isinstance(following, ScoredItem) and following.described is item.described:
            continue  # its statement stands on the same line
        others = without(current_notes(item.described, now), on_page.pop(id(item.described)))
        counted[position] = replace(item, shown=item.shown._replace(others=others))
    return counted


def _statements(item: ScoredItem, now: datetime) -> Iterator[ScoredItem]:
    scored = scored_statements(item.described, now) if item.has_line and not item.in_full else []
    if not scored or scored[0][0] != item.score:
        yield item
        return
    for score, note in scored:
        description, notes = (item.described.description, ()) if note is None else ("", (note,))
        shown = Shown(description, notes, (), is_statement=True)
        yield replace(item, score=score, shown=shown)
