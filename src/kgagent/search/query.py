"""Reading a query: its words, the nodes that it names, and the levels of attitude and proximity that it says.

A name is what the graph calls a node: its name and its other names, found by one full-text statement. The owner of the
graph is also named by the words that the ontology has for it ("me", "my").
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent.graph.identifiers import Identifier
from kgagent.graph.lucene import any_word, must_be
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.ontology import Ontology
from kgagent.plain_names import MIN_FORM_LENGTH, folded_words, plain_text, words_in_some_form
from kgagent.search import scoring
from kgagent.search.candidates import Candidate, Ranking, key_of, read_relationship
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.vector_targets import EmbeddedQuery, VectorTarget
from kgagent.turns import in_turns

MAX_WORDS = 200
"""Words of a query that are read; a question has fewer, and the time for longer texts stays the same."""

MIN_NAME_LENGTH = 2
"""Letters of a name at least; shorter names occur in too many texts by chance."""

FETCHED_NAMES, NAMED_NODES = 100, 8
"""Full-text matches whose names are compared with a query, and nodes that a query can name."""

OWNER_VALUE = 0.7
"""Value of the owner in a query that names nobody else: less than 1, as "tell me" says nothing."""

HUB_LIMIT, NEAREST = 2_000, 20
"""Relationships of a named node that are compared with the query, and those that are retrieved."""

Span = tuple[int, int]
"""Position of a name's first word in a text, and of the word after its last."""


@dataclass(frozen=True)
class NamedNode:
    """A node that a query names.

    Attributes:
        entity_key: its key.
        value: how much that says, 0 to 1.
        matches: its relationships that are nearest to the query, best first.
    """

    entity_key: str
    value: float
    matches: Sequence[Candidate] = ()


@dataclass(frozen=True)
class QueryReading:
    """What a query says beside its meaning.

    Attributes:
        words: its words that may name a relationship type.
        levels: Neo4j type, field and level of each level whose word it has.
        named: the nodes that it names.
    """

    words: tuple[str, ...] = ()
    levels: frozenset[tuple[str, str, int]] = frozenset()
    named: Sequence[NamedNode] = ()

    @property
    def values(self) -> dict[str, float]:
        """The value of each named node, by key."""
        return {node.entity_key: node.value for node in self.named}

    def share_of(self, node: NodeRecord) -> float:
        """The share of its words that the name and description of a node have in some form."""
        texts = f"{node.text('name')} {node.text('description')}"
        return len(words_in_some_form(self.words, folded_words(texts))) / len(self.words) if self.words else 1.0

    def says_level_of(self, relationship: RelationshipRecord) -> bool:
        """Whether it has the word for the relationship's attitude or proximity."""
        return any(
            neo4j_type == relationship.neo4j_type and relationship.level(field) == level
            for neo4j_type, field, level in self.levels
        )


@dataclass
class TypeWords:
    """Which words of a query name a relationship type; each type is compared once."""

    words: Sequence[str]
    _of_types: dict[str, frozenset[str]] = field(default_factory=dict)
    _any: set[str] = field(default_factory=set)

    def of(self, relationship_type: str) -> frozenset[str]:
        """The words that a type contains in some form."""
        if relationship_type not in self._of_types:
            words = frozenset(words_in_some_form(self.words, folded_words(relationship_type)))
            self._of_types[relationship_type] = words
            self._any |= words
        return self._of_types[relationship_type]

    @property
    def all(self) -> frozenset[str]:
        """The words that any type so far contains."""
        return frozenset(self._any)


def long_words(text: str, stop_words: Collection[str] = ()) -> tuple[str, ...]:
    """The words of a text that can be compared in several forms, each once, without stop words."""
    words = folded_words(text[: 20 * MAX_WORDS])[:MAX_WORDS]
    return tuple(word for word in dict.fromkeys(words) if len(word) >= MIN_FORM_LENGTH and word not in stop_words)


def read_words(text: str, ontology: Ontology) -> QueryReading:
    """Read what the text says without the database."""
    distinct = set(folded_words(text[: 20 * MAX_WORDS])[:MAX_WORDS])
    levels = frozenset(
        key for key, word in ontology.level_words.items() if (parts := set(folded_words(word))) and parts <= distinct
    )
    return QueryReading(long_words(text, ontology.stop_words), levels)


async def find_named_nodes(
    scope: SearchScope,
    target: VectorTarget,
    types: RelationshipFilter,
    queries: Sequence[EmbeddedQuery],
    *,
    relationships: int,
    timeout: float,
) -> list[list[NamedNode]]:
    """Find the nodes that queries name, with the relationships there that are nearest, in one statement.

    Args:
        scope: whose nodes.
        target: the relationships that are searched.
        types: which of them to keep.
        queries: texts with their vectors.
        relationships: number of the user's relationships.
        timeout: seconds.

    Raises:
        StoreError: the database failed.
    """
    # Long texts take a while, during which other users' calls go on.
    every = await in_turns(lambda query: _parameters(scope, *query), enumerate(queries))
    named: list[list[NamedNode]] = [[] for _ in queries]
    asked = [parameters for parameters in every if parameters["names"] is not None]
    if not asked:
        return named
    owner = scope.ontology.owner_label or next(iter(scope.ontology.labels))
    rows = await scope.read(
        statement("find_named_nodes", **{**scope.places, **target.places}, owner=Identifier(owner)),
        {
            **types.parameters,
            "index": NODE_TEXT_INDEX,
            "queries": asked,
            "fetch": FETCHED_NAMES,
            "node_limit": NAMED_NODES,
            "hub_limit": HUB_LIMIT,
            "limit": NEAREST,
        },
        timeout=timeout,
    )

    def named_by(position: int) -> list[NamedNode]:
        own = [row for row in rows if row["query"] == position]
        return _named(queries[position].text, own, scope.ontology, relationships)

    positions = [parameters["position"] for parameters in asked]
    for position, nodes in zip(positions, await in_turns(named_by, positions), strict=True):
        named[position] = nodes
    return named


def _parameters(scope: SearchScope, position: int, query: EmbeddedQuery) -> dict[str, Any]:
    text = query.text[: 20 * MAX_WORDS]
    words = folded_words(text)
    names = any_word(text, {"name": 2.0, "notes_text": 1.0})
    return {
        "position": position,
        "plain": plain_text(text),
        "names": None if names is None else f"{must_be('user_id', [scope.user_id])} +({names})",
        "speaks_of_owner": scope.ontology.owner_label is not None
        and not scope.ontology.owner_words.isdisjoint(words[:MAX_WORDS]),
        "vector": scope.store.vector(query.vector) if query.vector else None,
    }


def _named(text: str, rows: Sequence[Row], ontology: Ontology, relationships: int) -> list[NamedNode]:
    """The nodes whose names the text contains as whole words, outside of longer names, and the owner.

    The more relationships a node has, the less its name says. In a text without a name, the owner counts `OWNER_VALUE`.
    """
    words = folded_words(text[: 20 * MAX_WORDS])[:MAX_WORDS]
    spans = {row["entity_key"]: spans_of(row["names"], words) for row in rows if not row["is_owner"]}
    outermost = outermost_spans(span for of_node in spans.values() for span in of_node)
    covered = {position for first, end in outermost for position in range(first, end)}
    is_owner_meant = any(
        word in ontology.owner_words and position not in covered for position, word in enumerate(words)
    )
    best = max((row["text_score"] for row in rows if outermost & spans.get(row["entity_key"], set())), default=0.0)
    named: dict[str, NamedNode] = {}
    for row in rows:
        key = row["entity_key"]
        is_meant = is_owner_meant if row["is_owner"] else not outermost.isdisjoint(spans[key])
        if not is_meant:
            continue
        if row["is_owner"] and not outermost:
            value = OWNER_VALUE
        else:
            share = 1.0 if row["is_owner"] else row["text_score"] / best
            value = share * scoring.specificity(row["degree"], relationships)
        if key not in named or value > named[key].value:
            named[key] = NamedNode(key, value, read_matches(row["matches"]).candidates)
    return list(named.values())


def read_matches(matches: Iterable[Mapping[str, Any]]) -> Ranking:
    """Read matches of relationships, each with its similarity."""
    found = [
        (read_relationship(match["relationship"]), match["similarity"]) for match in matches if match["relationship"]
    ]
    return Ranking([Candidate(key_of(record), similarity, record, similarity) for record, similarity in found])


def spans_of(names: Iterable[str], words: Sequence[str]) -> set[Span]:
    """Where a text contains one of some names as whole words."""
    spans: set[Span] = set()
    for name in names:
        own = folded_words(name)
        if sum(map(len, own)) < MIN_NAME_LENGTH:
            continue
        spans |= {
            (first, first + len(own))
            for first, word in enumerate(words)
            if word == own[0] and words[first : first + len(own)] == own
        }
    return spans


def outermost_spans(spans: Iterable[Span]) -> set[Span]:
    """The spans that lie within no other: sorted by start, those that end after all before them."""
    outermost: set[Span] = set()
    reached = 0
    for first, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > reached:
            outermost.add((first, end))
            reached = end
    return outermost
