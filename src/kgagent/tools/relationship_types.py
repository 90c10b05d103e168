"""Filters by free type: the types that the user has for the given ones, and a warning if there is none."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise

from kgagent.errors import StoreError
from kgagent.formatting import counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.reference_forms import similar_name_query
from kgagent.graph.schema_parts import RELATIONSHIP_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.plain_names import normalised_name
from kgagent.suggestions import closest_names, list_names, shorten_name
from kgagent.tools.context import ToolContext
from kgagent.turns import in_turns

MAX_CHECKED, MAX_LENGTH = 50, 200
"""Types of a filter that are compared with the stored ones, and characters of a type; others are taken as they are."""

MAX_EXPLAINED, MAX_NEAREST = 3, 3
"""Unknown types for which a warning names the nearest ones, and how many it names."""

MAX_TYPES, MAX_COMPARED = 2_000, 50
"""Different types of a user that are read; and those of them that are compared letter by letter with an unknown one."""

_WINDOW = 200


@dataclass(frozen=True)
class TypeFilter:
    """Free types to filter by, as they are stored, and what is wrong with the given ones; None does not filter."""

    types: tuple[str, ...] | None
    warnings: tuple[str, ...] = ()


async def stored_types(context: ToolContext, given: Sequence[str] | None) -> TypeFilter:
    """Replace each type by the stored ones that differ only in letter case, spaces, hyphens and underscores."""
    if given is None:
        return TypeFilter(None)
    stored, warnings = await spellings(context, given)
    return TypeFilter(tuple(dict.fromkeys(name for one in given for name in stored[one])), warnings)


async def spellings(context: ToolContext, given: Sequence[str]) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
    """The stored spellings of each type, or the type itself if there are none; and warnings of the latter."""
    checked = [one for one in dict.fromkeys(given) if len(one) <= MAX_LENGTH]
    found: dict[str, Sequence[str]] = {one: [one] for one in given}
    if not checked or len(checked) > MAX_CHECKED:
        return found, ()
    try:
        similar = await _similar(context, checked)
        same = dict(zip(checked, await in_turns(lambda one: _same(one, similar[one]), checked), strict=True))
        known = [] if all(same.values()) else await _all(context)
    except StoreError:
        # The search reports it.
        return found, ()
    by_form: dict[str, list[str]] = {}
    for name, form in zip(known, await in_turns(_folded, known), strict=True):
        by_form.setdefault(form, []).append(name)
    same |= {one: _same(one, by_form.get(_folded(one), ())) for one in checked if not same[one]}
    unknown = [one for one in checked if not same[one]]
    explained = unknown[:MAX_EXPLAINED]
    # Comparing letter by letter takes long.
    warnings = await asyncio.to_thread(lambda: [_warning(one, similar[one], known) for one in explained])
    if more := len(unknown) - len(explained):
        warnings.append(f"{counted(more, 'other given type')} {'is' if more == 1 else 'are'} unknown, too")
    return found | {one: names for one, names in same.items() if names}, tuple(warnings)


async def _similar(context: ToolContext, given: Sequence[str]) -> dict[str, list[str]]:
    """Stored types with a word of each given one, or a similar word."""
    queries = {one: similar_name_query(one, context.user_id, "relationship_type") for one in given}
    asked = {one: query for one, query in queries.items() if query is not None}
    rows = await context.relationships.store.read(
        statement("find_relationship_types"),
        {
            "user_id": context.user_id,
            "queries": list(asked.values()),
            **{"index": RELATIONSHIP_TEXT_INDEX, "window": _WINDOW},
        },
    )
    return {one: [] for one in given} | {one: row["types"] for one, row in zip(asked, rows, strict=True)}


async def _all(context: ToolContext) -> list[str]:
    labels, types = Identifier.any_of(context.ontology.labels), Identifier.any_of(context.ontology.relationships)
    [row] = await context.relationships.store.read(
        statement("known_relationship_types", labels=labels, types=types),
        {"user_id": context.user_id, "limit": MAX_TYPES},
    )
    return list(row["types"])


def _same(one: str, stored: Iterable[str]) -> list[str]:
    """The stored type, or those that are written differently."""
    names = list(stored)
    return [one] if one in names else [name for name in names if _folded(name) == _folded(one)]


def _folded(name: str) -> str:
    return normalised_name(name.replace("_", " ").replace("-", " "))


def _warning(one: str, similar: Sequence[str], known: Sequence[str]) -> str:
    pairs = _pairs(one)
    likely = nlargest(MAX_COMPARED, known, key=lambda name: len(pairs & _pairs(name)))
    nearest = list(dict.fromkeys((*closest_names(one, similar), *similar, *closest_names(one, likely))))[:MAX_NEAREST]
    listed = f"Nearest: {', '.join(map(shorten_name, nearest))}" if nearest else f"There are: {list_names(known)}"
    return f"No relationship has the type {shorten_name(one)!r}. {listed}"


def _pairs(name: str) -> set[tuple[str, str]]:
    """The pairs of successive letters."""
    return set(pairwise(_folded(name)))
