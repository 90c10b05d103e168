"""What is recalled for a prompt: statements that hold now, as fenced text within a token budget."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from kgagent.answers.fence import fenced
from kgagent.answers.found import by_statement, first_page, hybrid_items, plain_state
from kgagent.answers.items import Item, RecordItem
from kgagent.answers.page import Content, nothing_about, text_page
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.models.history import FormerDescription
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult
from kgagent.models.note import Note
from kgagent.models.passage import Passage
from kgagent.models.when import (
    Period,
    day_number,
    first_day,
    last_day,
    overlaps,
    period_of,
    periods_of,
)
from kgagent.names import plain_words, words_in_some_form

ItemT = TypeVar("ItemT", HybridObject, HybridRelationship)

FALL = 0.7
"""Share of the best score of the record before, below which a record is not recalled, nor what
follows it.
"""

_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


async def recalled(graph: KnowledgeGraph, user_id: str, prompt: str, token_budget: int) -> str:
    """The lines that matter for a prompt; empty if nothing relevant is found.

    Args:
        graph: an open graph.
        user_id: owner of the graph.
        prompt: what the user wrote.
        token_budget: maximum number of tokens.

    Raises:
        KgAgentError: the search failed.
    """
    result = await graph.search(prompt, user_id=user_id, with_ends=False)
    now, stop_words = datetime.now(UTC), graph.ontology.stop_words
    kept = without_former(result, prompt, now, stop_words)
    items = by_statement(hybrid_items(kept), now)
    if result.is_relevant is False or not items:
        return ""
    at_most = min(first_page(items), _before_fall(items))
    content = Content(items, opening=nothing_about(result.named), at_most=at_most)
    page = text_page(content, lambda: plain_state(result, now), token_budget)
    if not (page.payload.get("objects") or page.payload.get("relationships")):
        return ""
    # With too few statements to tell what stands out, the words of the prompt tell it.
    asked = words_in_some_form(kept.asked, plain_words(page.text))
    is_about_it = result.is_relevant or 2 * len(asked) >= len(kept.asked) > 0
    return fenced(page.text) if is_about_it else ""


def without_former(
    result: HybridSearchResult, prompt: str, now: datetime, stop_words: frozenset[str]
) -> HybridSearchResult:
    """A result without what no longer holds: relationships and notes whose period has ended, and
    passages that say what such a relationship says, and were said before it ended.

    What held in a year that the prompt names stays.
    """
    years = tuple(period_of(year) for year in _YEAR.findall(prompt))
    present = _Present(day_number(now), years)
    relationships = result.relationships or ()
    current = [one for one in relationships if present.has(one)]
    former = [
        (last_day(one.when), frozenset(plain_words(told)) - stop_words)
        for one in relationships
        for told in (_replaced(one, current) if present.has_ended(one.when) else ())
    ]
    kept = replace(present, former=former).kept
    return result.model_copy(
        update={"objects": tuple(kept(result.objects)), "relationships": tuple(kept(current))}
    )


@dataclass(frozen=True)
class _Present:
    """What holds today, or held in some years; `former` are the words for what held until a day."""

    today: int
    years: Sequence[Period]
    former: Sequence[tuple[int, frozenset[str]]] = ()

    def has(self, relationship: HybridRelationship) -> bool:
        """Whether a relationship holds, and those that led to it."""
        is_led_by_former = relationship.path and "past" in relationship.contributions
        return not self.has_ended(relationship.when) and (bool(self.years) or not is_led_by_former)

    def has_ended(self, when: str | None) -> bool:
        """Whether something held for a period that has ended; a single date is that of an event."""
        if when is None or "/" not in when or last_day(when) > self.today:
            return False
        return not any(overlaps(periods_of(when), year) for year in self.years)

    def kept(self, items: Iterable[ItemT]) -> Iterator[ItemT]:
        """The items with those of their statements that hold; none without such a statement."""
        for item in items:
            found = [one for one in item.statements if one.note is None or self._holds(one.note)]
            if found or not item.statements:
                notes = tuple(filter(self._holds, item.notes))
                yield item.model_copy(update={"statements": tuple(found), "notes": notes})

    def _holds(self, note: Note) -> bool:
        if not isinstance(note, Passage):
            return not isinstance(note, FormerDescription) and not self.has_ended(note.when)
        said, words = first_day(note.when) or 0, plain_words(note.content)
        return not any(
            said <= until and len(words_in_some_form(told, words)) == len(told)
            for until, told in self.former
        )


def _before_fall(items: Sequence[Item]) -> int:
    known, last = set[str](), 0.0
    for at, item in enumerate(items):
        if isinstance(item, RecordItem) and item.key not in known:
            score = item.score or 0.0
            if score < FALL * last:
                return at
            known.add(item.key)
            last = score
    return len(items)


def _replaced(ended: HybridRelationship, current: Iterable[HybridRelationship]) -> list[str]:
    """The type of an ended relationship with the name of each node that it does not share with one
    of its type that holds now; nothing if there is none.
    """
    same_type = [one for one in current if one.relationship_type == ended.relationship_type]
    keys = {key for one in same_type for key in (one.from_entity_key, one.to_entity_key)}
    ends = {ended.from_entity_key: ended.from_name, ended.to_entity_key: ended.to_name}
    names = [] if keys.isdisjoint(ends) else [ends[key] for key in ends.keys() - keys]
    return [f"{ended.relationship_type} {name}" for name in names]
