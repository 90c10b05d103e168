"""The part of an answer that fits a token budget, as text or as JSON, and how to continue it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kgagent.answers.items import MIN_NOTE_TOKENS, Item, JsonRecord, Line, RenderState
from kgagent.answers.safe_text import safe_name, safe_text
from kgagent.answers.token_budget import cut, cut_record, estimated_tokens, json_tokens
from kgagent.errors import InputError
from kgagent.formatting import in_one_line

NOTHING_RELEVANT = "Nothing clearly relevant found. The nearest:"
NOTHING_ABOUT = "Nothing clearly relevant about {}. About others:"

ITEM_BUDGET_DIVISOR = 4
"""An item gets at most a quarter of the budget, so that one long text does not fill the answer."""

MIN_ITEM_TOKENS = 150
MIN_RECORD_TOKENS = 500
"""Tokens that an item may have in any case, as lines and as JSON."""

WARNINGS_BUDGET_DIVISOR = 4
"""Warnings get at most a quarter of the budget."""

ENVELOPE_TOKENS = 24
"""Tokens that the names of lists and a longer cursor may need, beside the fields that are always
there.
"""

CursorOf = Callable[[int], str]
"""Returns the cursor that continues at an item."""

FittedLine = tuple[Line, str]
"""A line, and its text as it fits."""


@dataclass(frozen=True)
class Content:
    """What an answer says, complete.

    Attributes:
        items: best first.
        message: what was found, in one line.
        opening: line before the items of a text.
        empty: text if there are no items.
        warnings: what is missing, and why.
        sections: fields of the payload that are always lists; "hybrid.objects" is the field
            `objects` of `hybrid`.
        fields: other fields of the payload.
        at_most: number of items of a page, beside the budget.
        total: number of all items; default: those in `items`.
        first: position of the first of `items` among all.
    """

    items: Sequence[Item]
    message: str = ""
    opening: str = ""
    empty: str = "Nothing found"
    warnings: Sequence[str] = ()
    sections: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    at_most: int | None = None
    total: int | None = None
    first: int = 0

    @property
    def count(self) -> int:
        """Number of all items."""
        return self.first + len(self.items) if self.total is None else self.total


@dataclass(frozen=True)
class Page:
    """What fits the budget.

    Attributes:
        text: the page as text; empty for JSON.
        payload: the items of the page as JSON types.
    """

    text: str
    payload: JsonRecord


def nothing_about(names: Sequence[str]) -> str:
    """What an answer begins with if a query names nodes, and none of the best items is about them;
    else empty.
    """
    return NOTHING_ABOUT.format(" or ".join(map(safe_name, names))) if names else ""


def text_page(
    content: Content,
    new_state: Callable[[], RenderState],
    budget: int,
    *,
    offset: int = 0,
    cursor: CursorOf | None = None,
) -> Page:
    """Render items as lines until the budget is used up; a last line says how many are shown and
    how to continue.

    If all items fit, what is left of the budget is spent on what some lines omit (`Line.rest`).

    Args:
        content: what to render.
        new_state: makes the state of one rendering.
        budget: maximum number of tokens.
        offset: number of items to skip.
        cursor: returns what continues the answer; without it the last line only counts.

    Raises:
        InputError: the offset is beyond the end.
    """
    warnings = _fitted_warnings(content.warnings, budget // WARNINGS_BUDGET_DIVISOR)
    frame = [line for line in (content.opening, *warnings) if line]
    room = budget - _tokens(frame)
    items = _items_from(content, offset)
    most = max(budget // ITEM_BUDGET_DIVISOR, MIN_ITEM_TOKENS)
    fill = partial(_fill_text, items, at_most=content.at_most, most=most)
    shown, fitted = fill(new_state(), room=room)
    if offset + len(shown) < content.count:
        footer_tokens = estimated_tokens(_footer(content, offset, content.count, cursor)) + 1
        shown, fitted = fill(new_state(), room=room - footer_tokens)
    # In less room, long items are cut shorter, so that even all items may fit.
    if offset + len(shown) < content.count:
        footer = _footer(content, offset, offset + len(shown), cursor)
        lines = joined(fitted)
    else:
        footer = ""
        lines = joined(_completed(fitted, room))
    if not items and not offset:
        lines = [content.empty] if estimated_tokens(content.empty) <= room else []
    # A search that was skipped comes first: "nothing found" alone would say that there is nothing.
    body = (
        [content.opening, *lines, *warnings, footer]
        if items
        else [content.opening, *warnings, *lines, footer]
    )
    payload = _payload(content, [item.records(state) for state in [new_state()] for item in shown])
    text = cut("\n".join(filter(None, body)), budget)
    return Page(text, payload | _continuation(content, offset + len(shown), cursor))


def json_page(
    content: Content,
    new_state: Callable[[], RenderState],
    budget: int,
    *,
    offset: int = 0,
    cursor: CursorOf,
) -> Page:
    """Collect the records of items until the budget is used up; see `text_page`.

    Raises:
        InputError: the budget is too small for the next item, or the offset is beyond the end.
    """
    warnings = _fitted_warnings(content.warnings, budget // WARNINGS_BUDGET_DIVISOR)
    message = cut(content.message, budget // WARNINGS_BUDGET_DIVISOR)
    fitted = {"message": message, **({"warnings": warnings} if warnings else {})}
    frame = _payload(content, []) | fitted | _continuation(content, offset, cursor)
    room = budget - json_tokens({"success": True, **frame}) - ENVELOPE_TOKENS
    state = new_state()
    kept: list[list[tuple[str, JsonRecord]]] = []
    for item in _items_from(content, offset)[: content.at_most]:
        records = item.records(state)
        cost = sum(json_tokens(record) for _, record in records)
        most = max(budget // ITEM_BUDGET_DIVISOR, MIN_RECORD_TOKENS)
        if kept and room < cost <= most:
            break
        if cost > (most := min(room, most)):
            records = _cut_records(records, most) or _cut_records(records, room) or records
            cost = sum(json_tokens(record) for _, record in records)
            if cost > room:
                break
        kept.append(records)
        room -= cost
    while True:
        payload = (
            _payload(content, kept) | fitted | _continuation(content, offset + len(kept), cursor)
        )
        is_short = json_tokens({"success": True, **payload}) <= budget
        if is_short or not kept:
            break
        kept.pop()
    if not is_short or (not kept and offset < content.count):
        raise InputError(
            f"token_budget {budget:,} is too small for this answer as JSON. Double it, or use "
            f"format text"
        )
    return Page("", payload)


def _items_from(content: Content, offset: int) -> Sequence[Item]:
    if offset and offset >= content.count:
        raise InputError(
            f"cursor is beyond the end: the result has only {content.count:,} items now. Omit "
            f"cursor"
        )
    return content.items[offset - content.first :]


def _cut_records(
    records: Sequence[tuple[str, JsonRecord]], room: int
) -> list[tuple[str, JsonRecord]]:
    """All records of an item within some tokens, or none."""
    cut_ones = [(section, cut_record(record, room // len(records))) for section, record in records]
    fitted = [(section, record) for section, record in cut_ones if record is not None]
    return fitted if len(fitted) == len(records) else []


def _fill_text(
    items: Iterable[Item],
    state: RenderState,
    *,
    room: int,
    at_most: int | None,
    most: int,
) -> tuple[list[Item], list[FittedLine]]:
    """The items of a page and their lines; items without a line belong to the page of the item
    before.
    """
    shown: list[Item] = []
    lines: list[FittedLine] = []
    for item in items:
        full = item.lines(state)
        if full and at_most is not None and len(shown) >= at_most:
            break
        fitted = _fitted_lines(full, min(room, most))
        if full and not fitted and not lines:
            fitted = _fitted_lines(full, room) or _head(full, room)
        # What fits a page of its own is not cut at the end of one.
        if full and (
            not fitted or (lines and room < _tokens(line.text() for line in full) <= most)
        ):
            break
        room -= _tokens(fitted)
        shown.append(item)
        lines += zip(full, fitted, strict=False)
    return shown, lines


def _tokens(lines: Iterable[str]) -> int:
    """Tokens of lines with what separates them."""
    return sum(estimated_tokens(line) + 1 for line in lines)


def joined(lines: Iterable[FittedLine]) -> list[str]:
    """The texts of lines; the statements of a record stand on its line."""
    texts: list[str] = []
    at: dict[str, int] = {}
    is_bare: set[int] = set()
    for line, text in lines:
        if not line.head and line.key in at:
            position = at[line.key]
            texts[position] += f"{': ' if position in is_bare else ' | '}{text}"
            is_bare.discard(position)
            continue
        at[line.key] = len(texts)
        if not line.description and not line.notes:
            is_bare.add(len(texts))
        texts.append(text)
    return [text if text.isprintable() else in_one_line(text) for text in texts]


def _completed(lines: Iterable[FittedLine], room: int) -> list[FittedLine]:
    """The lines, with what is left of the room spent on what they omit, best first."""
    fitted = list(lines)
    left = room - _tokens(text for _, text in fitted)
    shown: list[FittedLine] = []
    for line, text in fitted:
        more = ""
        if (
            line.rest is not None
            and left >= MIN_NOTE_TOKENS
            and (line.others or text != line.text())
        ):
            before = estimated_tokens(text)
            more = line.fitted(before + left, in_full=True)
            left += before - estimated_tokens(more) if more else 0
        shown.append((line, more or text))
    return shown


def _fitted_lines(lines: Sequence[Line], room: int) -> list[str]:
    """All lines of an item within some tokens, or none; long lines share the room."""
    fitted = []
    left = room
    for place, line in enumerate(lines):
        later = lines[place + 1 :]
        needed = _tokens(other.text() for other in later)
        text = line.fitted(max(left - needed, left // (len(later) + 1)) - 1)
        if not text:
            return []
        fitted.append(text)
        left -= estimated_tokens(text) + 1
    return fitted


def _head(lines: Sequence[Line], room: int) -> list[str]:
    """An item in one line, cut at any place."""
    shown = cut("; ".join(line.text() for line in lines), room - 1)
    return [shown] if shown else []


def _fitted_warnings(warnings: Sequence[str], room: int) -> list[str]:
    shown: list[str] = []
    for place, warning in enumerate(warnings):
        line = safe_text(warning)
        cost = estimated_tokens(line) + 1
        if cost > room - 8:
            return [*shown, f"+{len(warnings) - place} warnings"]
        shown.append(line)
        room -= cost
    return shown


def _footer(content: Content, offset: int, end: int, cursor: CursorOf | None) -> str:
    shown = f"{end - offset:,}" if not offset else f"{offset + 1:,} to {end:,}"
    is_of_statements = any(getattr(item, "shown", None) for item in content.items)
    counted = f"{shown} of {content.count:,} {'statements ' if is_of_statements else ''}shown"
    return f'{counted}; continue with cursor "{cursor(end)}"' if cursor else counted


def _continuation(content: Content, end: int, cursor: CursorOf | None) -> JsonRecord:
    more = {"next_cursor": cursor(end)} if cursor and end < content.count else {}
    return {"total": content.count, **more}


def _payload(content: Content, kept: Sequence[Sequence[tuple[str, JsonRecord]]]) -> JsonRecord:
    payload: JsonRecord = {"message": content.message, **content.fields}
    for section in content.sections:
        _list_at(payload, section)
    for records in kept:
        for section, record in records:
            _list_at(payload, section).append(record)
    if content.warnings:
        payload["warnings"] = list(content.warnings)
    plain: JsonRecord = json.loads(json.dumps(payload))
    return plain


def _list_at(payload: JsonRecord, section: str) -> list[JsonRecord]:
    *outer, name = section.split(".")
    for part in outer:
        payload = payload.setdefault(part, {})
    records: list[JsonRecord] = payload.setdefault(name, [])
    return records
