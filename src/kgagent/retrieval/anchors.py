"""Nodes that a query means without their full name: the owner by "my sister", others by an alias or a first name."""

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from kgagent.errors import StoreError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.lucene import must_be, quoted, words
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.retrieval.candidates import Candidate, key_of, read_relationship
from kgagent.retrieval.mentions import CONNECTING, mentioned_names, name_words
from kgagent.retrieval.roles import role_keys
from kgagent.retrieval.said_levels import said_levels, with_said_levels
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.vector_targets import EmbeddedQuery, VectorTarget

READ = 2_000
"""Relationships of a node that are compared with a query."""

MATCHES = 20

OTHER_ROLE_COST = 0.3
"""What the owner's other relationships score less if the query calls a node by its role ("my sister")."""

NAMED = 5
"""Nodes whose name has a word of the query that count as meant; of more, the best by full-text search."""

NAMES_READ = 20

Anchors = tuple[frozenset[str], Sequence[Candidate]]
"""Keys of nodes, and the relationships there that are nearest to a query."""


async def owner_matches(
    scope: SearchScope, target: VectorTarget, types: RelationshipFilter, query: EmbeddedQuery, *, timeout: float
) -> Anchors:
    """The graph's owner; nobody if the database fails.

    By "my sister's husband", the sister's relationships matter more than others of the owner.
    """
    owner = scope.ontology.owner_label
    if owner is None:
        return frozenset(), ()
    text = statement("search_owner_relationships", **target.places, owner=Identifier(owner))
    try:
        keys, found = await _anchors(scope, text, _parameters(scope, types, query), timeout)
    except StoreError:  # ranking works without the owner
        return frozenset(), ()
    records = [one.record for one in found if isinstance(one.record, RelationshipRecord)]
    roles = role_keys(query.text, keys, records)
    if not roles:
        return keys, found
    others = {key_of(one) for one in records if roles.isdisjoint((one.from_entity_key, one.to_entity_key))}
    # What such a query says of attitude is not said of the owner's.
    costs = {one.key: OTHER_ROLE_COST if one.key in others else 0.0 for one in found}
    return keys, [replace(one, score=(one.similarity or 0.0) - costs[one.key], text_score=None) for one in found]


async def named_anchors(
    scope: SearchScope,
    target: VectorTarget,
    types: RelationshipFilter,
    query: EmbeddedQuery,
    *,
    phrases: Sequence[str],
    ends: Mapping[str, str],
    hubs: Set[str],
    by_part: bool,
    deadline: float,
) -> Anchors:
    """Nodes that a query names, if not by the names of known nodes, and the best relationships of all that it names.

    It may name a node by its name, by an alias or, if it mentions no other, by a part of its name.

    Args:
        scope: whose nodes.
        target: the relationships that are searched.
        types: which of them to keep.
        query: the query.
        phrases: capitalized phrases of the query that name no known node.
        ends: keys and names of the known nodes.
        hubs: keys of known nodes whose relationships are not read.
        by_part: whether a part of a name may be enough.
        deadline: when nothing more is read, on the clock of `time.monotonic`.
    """
    said = mentioned_names(query.text, set(ends.values()))
    keys = await named_nodes(scope, phrases, by_part=by_part and not said, timeout=deadline - time.monotonic())
    at = [*keys, *(key for key, name in ends.items() if name in said and key not in hubs)][:NAMED]
    found = await matches_at(scope, target, types, query, at, timeout=deadline - time.monotonic())
    return frozenset(keys), found


def consists_of_names(phrase: str, names: Iterable[str]) -> bool:
    """Whether a phrase has no words but those of some names, and connecting words."""
    said = {word for name in mentioned_names(phrase, names) for word in name_words(name)}
    return said.issuperset(set(name_words(phrase)) - CONNECTING)


async def named_nodes(scope: SearchScope, phrases: Sequence[str], *, by_part: bool, timeout: float) -> Sequence[str]:
    """Keys of the nodes that have one of some phrases as their name or an alias; none if the database fails.

    Args:
        scope: whose nodes.
        phrases: capitalized words of a query.
        by_part: whether a part of a name is enough.
        timeout: seconds.
    """
    known = [phrase for phrase in phrases if words(phrase)]
    if not known:
        return ()
    own, wanted = must_be("user_id", [scope.user_id]), " ".join(map(quoted, known))
    parameters = {
        "by_alias": f"{own} +notes_text:({wanted})",
        "by_name": [f"{own} +name:({wanted})"],
        **{"index": NODE_TEXT_INDEX, "limit": NAMES_READ, "of_user": own, "keys": []},
    }
    try:
        rows = await scope.read(scope.statement("find_same_things"), parameters, timeout=timeout)
    except StoreError:  # ranking works without them
        return ()
    return [row["entity_key"] for row in rows if _is_meant(row, known, by_part=by_part)][:NAMED]


async def matches_at(
    scope: SearchScope,
    target: VectorTarget,
    types: RelationshipFilter,
    query: EmbeddedQuery,
    keys: Sequence[str],
    *,
    timeout: float,
) -> Sequence[Candidate]:
    """The relationships of some nodes that are nearest to a query; none if the database fails."""
    if not keys:
        return ()
    text = statement("search_relationships_at_nodes", **{**scope.places, **target.places})
    parameters = _parameters(scope, types, query) | {"keys": keys}
    try:
        return (await _anchors(scope, text, parameters, timeout))[1]
    except StoreError:  # ranking works without them
        return ()


def _is_meant(row: Row, phrases: Sequence[str], *, by_part: bool) -> bool:
    names = [*row["aliases"], *([row["name"]] if row["name"] else [])]
    if by_part:
        return any(mentioned_names(name, phrases) for name in names)
    return any(name_words(phrase) == name_words(name) for phrase in phrases for name in names)


def _parameters(scope: SearchScope, types: RelationshipFilter, query: EmbeddedQuery) -> dict[str, Any]:
    return {
        **types.parameters,
        "vector": scope.store.vector(query.vector),
        "threshold": query.threshold,
        "levels": said_levels(query.text, scope.ontology),
        "hub_limit": READ,
        "limit": MATCHES,
    }


async def _anchors(scope: SearchScope, text: str, parameters: Mapping[str, Any], timeout: float) -> Anchors:
    rows = await scope.read(text, parameters, timeout=timeout)
    matches = [match for row in rows for match in row["matches"] if match["relationship"]]
    found = [(read_relationship(match["relationship"]), match["similarity"]) for match in matches]
    candidates = [Candidate(key_of(record), similarity, record, similarity) for record, similarity in found]
    return frozenset(row["entity_key"] for row in rows), with_said_levels(candidates, parameters["levels"])
