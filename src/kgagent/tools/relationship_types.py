"""Filters by free type: the types that the user has for the given ones, and a warning if there is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgagent.errors import StoreError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.reference_forms import normalised_name, similar_name_query
from kgagent.graph.schema_parts import RELATIONSHIP_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.suggestions import closest_names, list_names, shorten_name
from kgagent.tools.context import ToolContext

MAX_CHECKED = 50
"""Types of a filter that are compared with the stored ones; more are taken as they are."""

MAX_TYPES = 2_000
"""Different types of a user that are compared."""

MAX_NEAREST = 3
_WINDOW = 200


@dataclass(frozen=True)
class TypeFilter:
    """Free types to filter by, as they are stored, and what is wrong with the given ones; None does not filter."""

    types: tuple[str, ...] | None
    warnings: tuple[str, ...] = ()


async def stored_types(context: ToolContext, given: Sequence[str] | None) -> TypeFilter:
    """Replace each type by the stored ones that differ only in letter case, spaces, hyphens and underscores."""
    if not given or len(given) > MAX_CHECKED:
        return TypeFilter(None if given is None else tuple(given))
    try:
        similar = await _similar(context, given)
        unknown = [one for one in given if not _same(one, similar[one])]
        known = await _all(context) if unknown else []
    except StoreError:
        # The search reports it.
        return TypeFilter(tuple(given))
    found = {one: _same(one, similar[one]) or _same(one, known) for one in given}
    return TypeFilter(
        tuple(dict.fromkeys(name for one, names in found.items() for name in names or [one])),
        tuple(_warning(one, similar[one], known) for one, names in found.items() if not names),
    )


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
    text = statement("distinct_relationship_values", property=Identifier("relationship_type"))
    rows = await context.relationships.store.read(
        text, {"user_id": context.user_id, "limit": MAX_TYPES, "types": list(context.ontology.relationships)}
    )
    return [row["value"] for row in rows if isinstance(row["value"], str)]


def _same(one: str, stored: Iterable[str]) -> list[str]:
    """The stored type, or those that are written differently."""
    names = list(stored)
    return [one] if one in names else [name for name in names if _folded(name) == _folded(one)]


def _folded(name: str) -> str:
    return normalised_name(name.replace("_", " ").replace("-", " "))


def _warning(one: str, similar: Sequence[str], known: Sequence[str]) -> str:
    nearest = list(dict.fromkeys((*closest_names(one, similar), *similar, *closest_names(one, known))))[:MAX_NEAREST]
    listed = f"Nearest: {', '.join(map(shorten_name, nearest))}" if nearest else f"There are: {list_names(known)}"
    return f"No relationship has the type {shorten_name(one)!r}. {listed}"
