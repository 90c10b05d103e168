"""Reading a query, once: its words, the nodes that it names, and the levels of attitude and
proximity that it says.

Everything later uses this reading. A name is what the graph calls a node: its name and its other
names. The owner of the graph is also named by the words that the ontology has for it ("me", "my").
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent.graph.lucene import MAX_WORDS, any_word, forms, must_be, quoted, words
from kgagent.graph.schema_parts import STATEMENT_TEXTS
from kgagent.graph.store import Row
from kgagent.names import MIN_FORM_LENGTH, plain_text, plain_words
from kgagent.ontology import Ontology

MAX_CHARACTERS = 4_000
"""Characters of a query that are read; a question has fewer, and the time for longer texts stays
the same.
"""

MIN_NAME_LENGTH = 2
"""Letters of a name at least; shorter names occur in too many texts by chance."""

OWNER_VALUE = 0.7
"""Value of the owner in a query that names nobody else: less than 1, as "tell me" says nothing."""

Span = tuple[int, int]
"""Position of a name's first word in a text, and of the word after its last."""

Level = tuple[str, int, str]
"""A field, a level of it, and the word of the query that says it."""


@dataclass(frozen=True)
class EmbeddedQuery:
    """A vector to search for.

    Attributes:
        vector: float32, shape (dimensions,); empty if the text could not be embedded.
        threshold: minimum plain cosine, -1 to 1.
        text: the query in words; empty if unknown.
    """

    vector: Sequence[float]
    threshold: float
    text: str = ""


@dataclass(frozen=True)
class Query:
    """What a query says.

    Attributes:
        embedded: its text and vector.
        tokens: its words in order, in lower case and without accents.
        words: the words that count in statements, those that are no stop words, each with what
            finds it in the full-text index of statements.
        levels: for each Neo4j type, the levels whose words it has.
        weights: what each word weighs: the score of its best match in the full-text index. Only
            words with a match.
        named: the value, above 0 to 1, of each node that it names, by entity_key.
        names: the main names of these nodes, without the owner that is only meant by "me".
    """

    embedded: EmbeddedQuery
    tokens: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    named: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def type_words(self) -> list[str]:
        """The words that are long enough to be compared with types in several forms."""
        return [word for word in self.words if len(word) >= MIN_FORM_LENGTH]


def read_query(embedded: EmbeddedQuery, ontology: Ontology) -> Query:
    """Read what a query says without the database."""
    text = embedded.text[:MAX_CHARACTERS]
    tokens = plain_words(text)[:MAX_WORDS]
    spellings: dict[str, list[str]] = {}
    for word in words(text):
        for token in plain_words(word):
            spellings.setdefault(token, []).append(word)
    # A letter of a script without spaces between words is a word.
    counted = [
        token
        for token in dict.fromkeys(tokens)
        if token not in ontology.stop_words and (len(token) > 1 or not token.isascii())
    ]
    levels: dict[str, list[Level]] = {}
    present = set(tokens)
    for (neo4j_type, name, level), word in ontology.level_words.items():
        parts = plain_words(word)
        if parts and present.issuperset(parts):
            said_by = next((part for part in parts if len(part) >= MIN_FORM_LENGTH), parts[0])
            levels.setdefault(neo4j_type, []).append((name, level, said_by))
    found_by = {token: _in_any_field(spellings.get(token, [token])) for token in counted}
    return Query(embedded, tokens, found_by, levels)


def full_text_parameters(query: Query, owners: Sequence[str]) -> dict[str, Any] | None:
    """What full-text search of statements takes of a query; None if it has no word that counts."""
    if not query.words:
        return None
    owner = must_be("user_id", owners)
    every = " ".join(query.words.values())
    return {
        "text": f"{owner} +({every})",
        "words": [
            {"word": word, "text": f"{owner} +({text})"} for word, text in query.words.items()
        ],
    }


def name_parameters(
    query: Query, owners: Sequence[str], ontology: Ontology
) -> dict[str, Any] | None:
    """What the search of named nodes takes of a query; None if it can name none."""
    own = names_in(query.embedded.text[:MAX_CHARACTERS], owners)
    speaks_of_owner = ontology.owner_label is not None and not ontology.owner_words.isdisjoint(
        query.tokens
    )
    has_parts = ontology.owner_label is not None
    return own and {**own, "speaks_of_owner": speaks_of_owner, "has_parts": has_parts}


def names_in(
    text: str, owners: Sequence[str], *, without: Collection[str] = ()
) -> dict[str, Any] | None:
    """What the search of named nodes takes of a text, whoever it calls "me"; None if it has no
    word.

    Args:
        text: the text.
        owners: of the nodes.
        without: words in lower case that name none beside others.
    """
    names = any_word(text, {"name": 2.0, "notes_text": 1.0}, without=without)
    if names is None:
        return None
    return {
        "plain": plain_text(text),
        "names": f"{must_be('user_id', owners)} +({names})",
        "speaks_of_owner": False,
        "has_parts": False,
    }


def named_nodes(
    query: Query, rows: Iterable[Row], ontology: Ontology, relationships: int
) -> dict[str, float]:
    """The nodes whose names a query contains as whole words, outside of longer names, the people of
    whose names it contains a word, written like it, elsewhere, and the owner, with their values.

    What several people are called means each of them less.

    Args:
        query: the query.
        rows: nodes that it may name, see `find_named_nodes.cypher`.
        ontology: the words for the owner.
        relationships: number of the user's relationships: the more of them a node has, the less its
            name says.
    """
    candidates = list(rows)
    spans = {
        row["entity_key"]: spans_of(row["names"], query.tokens)
        for row in candidates
        if not row["is_owner"]
    }
    outermost = outermost_spans(span for of_node in spans.values() for span in of_node)
    covered = {position for first, end in outermost for position in range(first, end)}
    is_owner_meant = any(
        token in ontology.owner_words and position not in covered
        for position, token in enumerate(query.tokens)
    )
    people = _people(query, candidates, covered)
    named: dict[str, float] = {}
    for row in candidates:
        key, value = row["entity_key"], specificity(row["degree"], relationships)
        if is_owner_meant if row["is_owner"] else not outermost.isdisjoint(spans[key]):
            value = OWNER_VALUE if row["is_owner"] and not outermost else value
            named[key] = max(value, named.get(key, 0.0))
        elif key in people:
            named.setdefault(key, value / people[key])
    return named


def _people(query: Query, rows: Sequence[Row], covered: Collection[int]) -> dict[str, int]:
    """The people of whose names a query contains a word, written like it, that is no stop word and
    at none of the `covered` positions; each with the number of people who have that word.
    """
    written = frozenset(words(query.embedded.text[:MAX_CHARACTERS]))
    free = [
        token if token in query.words and position not in covered else ""
        for position, token in enumerate(query.tokens)
    ]
    spans = {row["entity_key"]: spans_of(written.intersection(row["parts"]), free) for row in rows}
    shared = Counter(span for own in spans.values() for span in own)
    return {key: min(shared[span] for span in own) for key, own in spans.items() if own}


def specificity(degree: int, relationships: int) -> float:
    """How much it says that the query names a node: 1 for a leaf, 0 for a node with all
    relationships.

    Args:
        degree: number of relationships of the node.
        relationships: number of relationships of the user.
    """
    most = max(relationships, degree, 2)
    return 1.0 - math.log(max(1, degree)) / math.log(most)


def spans_of(names: Iterable[str], words: Sequence[str]) -> set[Span]:
    """Where a text contains one of some names as whole words."""
    spans: set[Span] = set()
    for name in names:
        own = plain_words(name)
        if sum(map(len, own)) < MIN_NAME_LENGTH:
            continue
        spans |= {
            (first, first + len(own))
            for first, word in enumerate(words)
            if word == own[0] and list(words[first : first + len(own)]) == own
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


def _in_any_field(spellings: Sequence[str]) -> str:
    """What finds any of the words that a token is part of: "brien" is searched as "O'Brien" too."""
    phrases = " ".join(quoted(form) for word in spellings for form in forms(word))
    return " ".join(f"{name}:({phrases})^1" for name in STATEMENT_TEXTS)
