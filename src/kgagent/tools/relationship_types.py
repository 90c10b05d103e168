"""Filters by free type: the types that the user has for the given ones, and a warning if there is none."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import StoreError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.reference_forms import normalised_name, similar_name_query
from kgagent.graph.schema_parts import RELATIONSHIP_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.suggestions import closest_names, list_names, shorten_name
from kgagent.tools.context import ToolContext
from kgagent.turns import in_turns

MAX_CHECKED = 50
"""Types of a filter that are compared with the stored ones; more are taken as they are."""

MAX_EXPLAINED = 3
"""Unknown types for each of which a warning names the nearest ones."""

MAX_TYPES = 2_000
"""Different types of a user that are compared."""

MAX_MISSPELLED = 200
"""Different types of a user that are compared letter by letter, which takes longest; of more, the index finds the
nearest."""

MAX_NEAREST = 3
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
    """The stored spellings of each type, or the type itself if there are none, and warnings of the latter."""
    as_given = {one: [one] for one in given}
    if not given or len(given) > MAX_CHECKED:
        return as_given, ()
    try:
        similar = await _similar(context, given)
        compared = await in_turns(lambda one: (one, _same(one, similar[one])), as_given)
        unknown = [one for one, names in compared if not names]
        known = await _all(context) if unknown else []
    except StoreError:
        # The search reports it.
        return as_given, ()
    forms = await in_turns(_folded, known)
    by_form: dict[str, list[str]] = {}
    for name, form in zip(known, forms, strict=True):
        by_form.setdefault(form, []).append(name)
    found = dict(compared) | {one: _same(one, by_form.get(_folded(one), ())) for one in unknown}
    missing = [one for one in unknown if not found[one]]
    explained = missing[:MAX_EXPLAINED]
    # One comparison may take long.
    warnings = await asyncio.to_thread(lambda: [_warning(one, similar[one], known) for one in explained])
    if len(missing) > MAX_EXPLAINED:
        warnings.append(f"No relationship has {len(missing) - MAX_EXPLAINED} other types of those given")
    return {one: names or [one] for one, names in found.items()}, tuple(warnings)


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
    misspelled = closest_names(one, known) if len(known) <= MAX_MISSPELLED else ()
    nearest = list(dict.fromkeys((*closest_names(one, similar), *similar, *misspelled)))[:MAX_NEAREST]
    listed = f"Nearest: {', '.join(map(shorten_name, nearest))}" if nearest else f"There are: {list_names(known)}"
    return f"No relationship has the type {shorten_name(one)!r}. {listed}"
