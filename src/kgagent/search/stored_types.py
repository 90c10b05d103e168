"""Filters by free type: the stored spellings of the given types, and a warning about types that no
relationship has.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from kgagent.errors import StoreError
from kgagent.graph.reference_forms import similar_name_query
from kgagent.graph.schema_parts import RELATIONSHIP_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models import ExploreResult, HybridSearchResult, TraverseResult
from kgagent.models.free_types import split_types
from kgagent.models.search import SearchFilters
from kgagent.models.traversal import TraverseRequest
from kgagent.names import normalised_type, shorten_name
from kgagent.search.scope import SearchScope

RequestT = TypeVar("RequestT", bound=TraverseRequest | SearchFilters)
ResultT = TypeVar("ResultT", bound=HybridSearchResult | ExploreResult | TraverseResult)

MAX_CHECKED = 50
"""Types of a filter that are looked up; of more of them, none is."""

MAX_NEAREST = 3
"""Stored types that a warning names."""

_WINDOW = 200


async def with_stored_types(
    scope: SearchScope, request: RequestT
) -> tuple[RequestT, tuple[str, ...]]:
    """A request with the stored spellings of the types that it filters by, and warnings of types
    that do not exist.
    """
    given: Sequence[str] | None = request.relationship_types
    if not given:
        return request, ()
    stored, warnings = await spellings(scope.store, scope.user_id, given)
    types = [name for given_type in given for name in stored[given_type]]
    if request.as_of or request.known_as_of:
        # Types of another time are only in histories.
        types, warnings = [*types, *given], ()
    return cast(
        "RequestT", request.model_copy(update={"relationship_types": tuple(dict.fromkeys(types))})
    ), warnings


def with_warnings(result: ResultT, warnings: Sequence[str]) -> ResultT:
    """A result with more warnings, which come first."""
    return cast("ResultT", result.model_copy(update={"warnings": (*warnings, *result.warnings)}))


async def spellings(
    store: Store, user_id: str, given: Sequence[str]
) -> tuple[Mapping[str, Sequence[str]], tuple[str, ...]]:
    """The stored spellings of each type, or the type itself if there are none; and warnings of the
    latter.
    """
    types: dict[str, Sequence[str]] = {name: [name] for name in given}
    try:
        similar = await _similar(store, user_id, list(types)) if len(types) <= MAX_CHECKED else {}
    except StoreError:
        # The search reports it.
        return types, ()
    warnings = []
    for given_type, names in similar.items():
        form = normalised_type(given_type)
        exact = [name for name in names if given_type in _listed(name)]
        same = exact or [name for name in names if form in map(normalised_type, _listed(name))]
        types[given_type] = same or [given_type]
        if not same:
            nearest = (
                f". Nearest: {', '.join(map(shorten_name, names[:MAX_NEAREST]))}" if names else ""
            )
            warnings.append(f"No relationship has the type {shorten_name(given_type)!r}{nearest}")
    return types, tuple(warnings)


async def _similar(store: Store, user_id: str, given: Sequence[str]) -> dict[str, list[str]]:
    """For each given type, the stored ones with one of its words or a similar word, best match
    first.
    """
    forms = [
        (name, separator.join(normalised_type(name).split()))
        for name in given
        for separator in (" ", "_")
    ]
    queries = [
        (name, similar_name_query(form, store.owners(user_id), "relationship_type"))
        for name, form in forms
    ]
    asked = [(name, query) for name, query in queries if query is not None]
    similar: dict[str, list[str]] = {name: [] for name in given}
    if asked:
        parameters = {
            "queries": [query for _, query in asked],
            "index": RELATIONSHIP_TEXT_INDEX,
            "window": _WINDOW,
        }
        rows = await store.read(
            statement("find_relationship_types"), {"user_id": user_id, **parameters}
        )
        for (name, _), row in zip(asked, rows, strict=True):
            similar[name] += [stored for stored in row["types"] if stored not in similar[name]]
    return similar


def _listed(name: str) -> list[str]:
    """A stored type, and each of several that it lists."""
    return [name, *split_types(name)]
