"""The items of a search in the order of their statements, which is how a model reads them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from kgagent.models.answer_items import (
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


class _Ranked(NamedTuple):
    """A statement, or an item as a whole if its statements are not scored.

    Attributes:
        score: what it ranks by.
        place: rank of its item.
        item: the item.
        note: the note; None is the description.
        is_whole: whether it is the item as a whole.
    """

    score: float
    place: int
    item: ScoredItem
    note: Note | None = None
    is_whole: bool = False


def by_statement(items: Iterable[Item], now: datetime) -> list[Item]:
    """Sort items by statement.

    An item with statements at several places becomes an item for each place, with the statements there. Items without
    scored statements, and those that something else ranked, such as a reranker, stay whole; items without a score
    follow. Without scored statements, the order stays.

    Args:
        items: what a search found, best first.
        now: notes that have expired by then are omitted.
    """
    given, ranked, others = list(items), list[_Ranked](), list[Item]()
    for place, item in enumerate(given):
        if isinstance(item, ScoredItem) and item.score is not None:
            ranked += _ranked(item, item.score, place, now)
        else:
            others.append(item)
    if all(one.is_whole for one in ranked):
        return given
    ranked.sort(key=lambda one: (-one.score, one.place))
    runs = [list(run) for _, run in groupby(ranked, key=attrgetter("place"))]
    ordered: list[ScoredItem] = [_item_of(run) for run in runs]
    near = [note for item in ordered[: page_length(ordered)] for note in _notes(item)]
    first: set[int] = set()
    for position, run in enumerate(runs):
        if run[0].place not in first and not run[0].is_whole:
            ordered[position] = _with_others(ordered[position], near, now)
        first.add(run[0].place)
    return [*ordered, *others]


def page_length(items: Sequence[Item]) -> int:
    """The number of items on a first page: those with a statement near the best one, or with at least some statements.

    Args:
        items: in the order of their statements.
    """
    enough, length, statements = near_best(items), 0, 0
    for item in items:
        if item.score is None or (item.score < enough and statements >= MIN_STATEMENTS):
            break
        length += 1
        if isinstance(item, ScoredItem) and item.has_line:
            statements += max(1, len(_notes(item)) + bool(item.shown and item.shown.description))
    return length


def _ranked(item: ScoredItem, score: float, place: int, now: datetime) -> Iterator[_Ranked]:
    scored = scored_statements(item.described, now) if item.has_line and not item.in_full else []
    if not scored or scored[0][0] != score:
        yield _Ranked(score, place, item, is_whole=True)
    else:
        yield from (_Ranked(own, place, item, note) for own, note in scored)


def _item_of(run: Sequence[_Ranked]) -> ScoredItem:
    """One item with the statements that follow each other."""
    best = run[0]
    if best.is_whole:
        return best.item
    notes = [one.note for one in run if one.note is not None]
    description = best.item.described.description if len(notes) < len(run) else ""
    return replace(best.item, score=best.score, shown=Shown(description, notes, ()))


def _with_others(item: ScoredItem, near: Sequence[Note], now: datetime) -> ScoredItem:
    """The first item of a record, which counts the notes that the first page does not show."""
    others = without(current_notes(item.described, now), [*near, *_notes(item)])
    shown = item.shown or Shown("", (), ())
    return replace(item, shown=shown._replace(others=others))


def _notes(item: ScoredItem) -> Sequence[Note]:
    return () if item.shown is None else item.shown.notes
