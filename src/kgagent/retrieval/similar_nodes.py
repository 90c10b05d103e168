"""Finding nodes that may represent the same thing as a new one, by name and by embedding."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from kgagent.concurrency import task_group
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.reference_forms import alias_query, name_query, normalised_name, similar_name_query
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models import GraphNode
from kgagent.models.aliases import aliases_in
from kgagent.retrieval.scope import SearchScope
from kgagent.retrieval.vector_retrievers import VectorRetrievers
from kgagent.retrieval.vector_search import VectorQuery
from kgagent.turns import in_turns

SIMILAR_EMBEDDING = 0.75
"""Minimum cosine of embeddings. With the local model, 1 of 3,062 pairs of different nodes of one label in the
sample graph reached it, and 8 of 13 pairs of descriptions of the same thing."""

MIN_COMMON_WORDS = 2
COMMON_SHARE = 0.6
"""Share of the words of the shorter name that another name must contain."""

MIN_SPELLING_LENGTH = 5
SIMILAR_SPELLING = 0.85
"""Minimum ratio of `difflib`, for spelling variants such as "Jon Smith" and "John Smith"."""

MAX_SIMILAR = 3
_NAMES_COMPARED = 20
_FETCH = 200
_WORD = re.compile(r"\w+")


async def find_similar_nodes(
    scope: SearchScope,
    new: Sequence[GraphNode],
    embeddings: Mapping[str, Sequence[float]],
    *,
    nodes: NodeRepository,
    vectors: VectorRetrievers,
) -> dict[str, tuple[GraphNode, ...]]:
    """Find, for each new node, up to three older nodes that may be the same thing.

    They have the same name or alias under any label, or a similar name, alias or embedding under its label.

    Returns:
        The similar nodes by the key of the new one, names first; nodes without any are missing.

    Raises:
        StoreError: the database failed.
    """
    if not new:
        return {}
    async with task_group() as group:
        named = group.create_task(_by_name(scope, new))
        near = group.create_task(_by_embedding(scope, new, embeddings, vectors))
    keys = {
        item.entity_key: list(
            dict.fromkeys((*named.result().get(item.entity_key, ()), *near.result().get(item.entity_key, ())))
        )[:MAX_SIMILAR]
        for item in new
    }
    older = await nodes.get(scope.user_id, [key for similar in keys.values() for key in similar])
    found = {node.entity_key: node for node in older}
    return {own: tuple(found[key] for key in similar if key in found) for own, similar in keys.items() if similar}


def are_similar_names(one: str, other: str) -> bool:
    """Whether two names may be those of the same thing.

    They are if one has all words of the other, if they share most words, or if they are spelt almost alike; unless both
    contain numbers that differ.
    """
    words, others = _words(one), _words(other)
    if not words or not others:
        return False
    numbers, other_numbers = ({word for word in each if word.isdigit()} for each in (words, others))
    if numbers and other_numbers and numbers != other_numbers:
        return False
    common, fewer = len({*words} & {*others}), min(len({*words}), len({*others}))
    if common == fewer or (common >= MIN_COMMON_WORDS and common >= COMMON_SHARE * fewer):
        return True
    spelt, other_spelt = " ".join(words), " ".join(others)
    return (
        min(len(spelt), len(other_spelt)) >= MIN_SPELLING_LENGTH
        and SequenceMatcher(None, spelt, other_spelt).ratio() >= SIMILAR_SPELLING
    )


async def _by_name(scope: SearchScope, new: Sequence[GraphNode]) -> dict[str, list[str]]:
    """Older nodes by name: the same name or alias under any label, then similar ones under the same label."""
    made = await in_turns(lambda item: list(_name_queries(scope.user_id, item)), new)
    queries = [query for queries_of_item in made for query in queries_of_item]
    rows = await scope.read(
        statement("find_similar_names"),
        {
            "index": NODE_TEXT_INDEX,
            "queries": [{"position": number, **query} for number, (_, query) in enumerate(queries)],
            "excluded": [item.entity_key for item in new],
            **{"fetch": _FETCH, "limit": _NAMES_COMPARED},
        },
    )
    found: dict[str, list[str]] = {}
    ordered = sorted(rows, key=lambda row: row["position"])
    similar = await in_turns(lambda row: _is_similar(*queries[row["position"]], row), ordered)
    for row, is_similar in zip(ordered, similar, strict=True):
        if is_similar:
            item, _ = queries[row["position"]]
            found.setdefault(item.entity_key, []).append(row["entity_key"])
    return found


def _name_queries(user_id: str, item: GraphNode) -> Iterator[tuple[GraphNode, dict[str, object]]]:
    for name in (item.name, *aliases_in(item.properties)):
        yield item, {"label": None, "text": name_query(name, user_id)}
        yield item, {"label": None, "text": alias_query(name, user_id), "of_alias": True}
    plain = normalised_name(item.name)
    if (similar := similar_name_query(plain, user_id)) and (alias := similar_name_query(plain, user_id, "notes_text")):
        yield item, {"label": item.label, "text": similar}
        yield item, {"label": item.label, "text": alias, "of_alias": True}


def _is_similar(item: GraphNode, query: Mapping[str, object], row: Row) -> bool:
    names = row["aliases"] if "of_alias" in query else [row["name"] or ""]
    if query["label"] is None:
        own = {normalised_name(name) for name in (item.name, *aliases_in(item.properties))}
        return not own.isdisjoint(map(normalised_name, names))
    return any(are_similar_names(item.name, each) for each in names)


async def _by_embedding(
    scope: SearchScope,
    new: Sequence[GraphNode],
    embeddings: Mapping[str, Sequence[float]],
    vectors: VectorRetrievers,
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    created = {item.entity_key for item in new}
    for label in dict.fromkeys(item.label for item in new):
        queries = {
            item.entity_key: VectorQuery(embeddings[item.entity_key], SIMILAR_EMBEDDING)
            for item in new
            if item.label == label and item.description and item.entity_key in embeddings
        }
        # A new node is among the nearest of its own embedding, and others of this call may be.
        limit = MAX_SIMILAR + len(queries)
        rankings = await vectors.nodes(scope, list(queries.values()), labels=[label], limit=limit) if queries else []
        for key, ranking in zip(queries, rankings, strict=True):
            # The embedding of a name alone says what kind of name it is.
            near = [
                one.record.text("entity_key")
                for one in ranking.candidates
                if one.record is not None and one.record.text("description")
            ]
            found[key] = [other for other in near if other not in created][:MAX_SIMILAR]
    return found


def _words(name: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", name).casefold())
