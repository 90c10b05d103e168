"""Finding nodes that may represent the same thing as a new one, by name and by embedding."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import islice

from kgagent.concurrency import task_group
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.reference_forms import (
    NO_NAMES,
    alias_query,
    are_spelt_alike,
    name_query,
    normalised_name,
    similar_name_query,
)
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models import GraphNode
from kgagent.models.plain import aliases_in
from kgagent.plain_names import without_accents
from kgagent.retrieval.candidates import Candidate
from kgagent.retrieval.scope import SearchScope
from kgagent.retrieval.vector_search import VectorRetrievers
from kgagent.retrieval.vector_targets import EmbeddedQuery
from kgagent.turns import in_turns

SIMILAR_EMBEDDING = 0.75
"""Minimum cosine of embeddings. With the local model, 1 of 3,062 pairs of different nodes of one label in the
sample graph reached it, and 8 of 13 pairs of descriptions of the same thing."""

SAME_EMBEDDING = 0.85
"""Cosine from which the names need not be similar: "Apiculture" and "Beekeeping". Below, different things of one kind
have similar descriptions, too: "City in Hesse"."""

MIN_COMMON_WORDS = 2
COMMON_SHARE = 0.6
"""Share of the words of the shorter name that another name must contain."""

MIN_SPELLING_LENGTH = 5
SIMILAR_SPELLING = 0.85
"""Minimum ratio of `difflib`, for spelling variants such as "Jon Smith" and "John Smith"."""

MAX_SIMILAR = 3
_NAMES_COMPARED = 20
_NEAR_COMPARED = 10
_WORDS_COMPARED = 8
_LONGEST_WORD = 30
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


def are_similar_names(one: str, other: str, *, of_people: bool = True) -> bool:
    """Whether two names may be those of the same thing.

    They are if one has all words of the other, if they share most words, or if they are spelt almost alike; unless both
    contain numbers that differ. One word in common is enough for names of people, but otherwise only if both begin
    with it: "Kantorei Kassel" is not Kassel.
    """
    words, others = _words(without_accents(one)), _words(without_accents(other))
    if not words or not others:
        return False
    numbers, other_numbers = ({word for word in each if word.isdigit()} for each in (words, others))
    if numbers and other_numbers and numbers != other_numbers:
        return False
    common, fewer = len({*words} & {*others}), min(len({*words}), len({*others}))
    is_part = common == fewer and (of_people or not _is_only_specified(words, others))
    if is_part or (common >= MIN_COMMON_WORDS and common >= COMMON_SHARE * fewer):
        return True
    spelt, other_spelt = " ".join(words), " ".join(others)
    return (
        min(len(spelt), len(other_spelt)) >= MIN_SPELLING_LENGTH
        and SequenceMatcher(None, spelt, other_spelt).ratio() >= SIMILAR_SPELLING
    )


def may_be_same(one: str, other: str, *, of_people: bool = True) -> bool:
    """Whether two nodes with similar embeddings may be the same thing by their names.

    Each word of one must be a word of the other, an initial of it or spelt alike: "Dr. R. Voss", "Renate Voss".
    """
    words, others = _meaningful(one), _meaningful(other)
    if not words or not others or (not of_people and _is_only_specified(_words(one), _words(other))):
        return False
    fewer, more = sorted((words, others), key=len)
    return all(any(_are_alike(word, each) for each in more) for word in fewer)


def _is_only_specified(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of two names is a single word that the other contains, but does not begin with."""
    fewer, more = sorted((words, others), key=len)
    longer = [word for word in more if word not in NO_NAMES]
    return len(fewer) == 1 and fewer[0] in longer[1:]


def _meaningful(name: str) -> list[str]:
    words = (word for word in _words(without_accents(name)) if word not in NO_NAMES and not word.isdigit())
    return [word[:_LONGEST_WORD] for word in islice(words, _WORDS_COMPARED)]


def _are_alike(word: str, other: str) -> bool:
    if min(len(word), len(other)) == 1:
        return word[0] == other[0]
    return are_spelt_alike(word, other)


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
    # A node that another transaction deletes meanwhile has no key.
    ordered = sorted((row for row in rows if row["entity_key"]), key=lambda row: row["position"])
    people = scope.ontology.owner_label
    similar = await in_turns(lambda row: _is_similar(*queries[row["position"]], row, people), ordered)
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


def _is_similar(item: GraphNode, query: Mapping[str, object], row: Row, people: str | None) -> bool:
    names = row["aliases"] if "of_alias" in query else [row["name"] or ""]
    if query["label"] is None:
        own = {normalised_name(name) for name in (item.name, *aliases_in(item.properties))}
        return not own.isdisjoint(map(normalised_name, names))
    return any(are_similar_names(item.name, each, of_people=item.label == people) for each in names)


async def _by_embedding(
    scope: SearchScope,
    new: Sequence[GraphNode],
    embeddings: Mapping[str, Sequence[float]],
    vectors: VectorRetrievers,
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    created = {item.entity_key: item for item in new}
    for label in dict.fromkeys(item.label for item in new):
        queries = {
            item.entity_key: EmbeddedQuery(embeddings[item.entity_key], SIMILAR_EMBEDDING)
            for item in new
            if item.label == label and item.description and item.entity_key in embeddings
        }
        # A new node is among the nearest of its own embedding, and others of this call may be.
        limit = _NEAR_COMPARED + len(queries)
        rankings = await vectors.nodes(scope, list(queries.values()), labels=[label], limit=limit) if queries else []
        for key, ranking in zip(queries, rankings, strict=True):
            item = created[key]
            older = [one for one in ranking.candidates if _key(one) not in created][:_NEAR_COMPARED]
            similar = await in_turns(partial(_is_near, item, of_people=label == scope.ontology.owner_label), older)
            found[key] = [_key(one) for one, is_near in zip(older, similar, strict=True) if is_near][:MAX_SIMILAR]
    return found


def _key(candidate: Candidate) -> str:
    return candidate.record.text("entity_key") if candidate.record is not None else ""


def _is_near(item: GraphNode, candidate: Candidate, *, of_people: bool) -> bool:
    """Whether a node that is near by embedding may be the same; that of a name alone says what kind of name it is."""
    record = candidate.record
    if record is None or not record.text("description"):
        return False
    names = (record.text("name"), *aliases_in(record.properties))
    return (candidate.similarity or 0.0) >= SAME_EMBEDDING or any(
        may_be_same(item.name, name, of_people=of_people) for name in names
    )


def _words(name: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", name).casefold())
