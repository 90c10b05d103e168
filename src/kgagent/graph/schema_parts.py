"""The constraints and indexes that a graph needs: their names, what they cover, and the statements
that create them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.graph.features import ServerFeatures
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import DAYS
from kgagent.graph.store import Row
from kgagent.ontology import Ontology

DELETED_RELATIONSHIP = "KgagentDeletedRelationship"
DELETED_NODE = "KgagentDeletedNode"
"""Labels of the nodes that hold deleted records; no ontology has them, so that nothing else reads
them.
"""

STATEMENT = "KgagentStatement"
"""Label of the index of statements: entries for the description of a record and for each of its
notes, with embeddings.

The record has the description and the notes too.
"""

OWN_LABELS = frozenset({DELETED_NODE, DELETED_RELATIONSHIP, STATEMENT})
"""Labels that are no part of any user's graph."""

PREFIX = "kgagent_"
"""Begins the names of all constraints and indexes."""

OWNER_INDEX = "kgagent_owner"
"""Holds only the nodes with `is_owner`: one for each user."""

NODE_TEXT_INDEX = "kgagent_node_text"
RELATIONSHIP_TEXT_INDEX = "kgagent_relationship_text"
STATEMENT_TEXT_INDEX = "kgagent_statement_text"
RELATIONSHIP_VECTOR_INDEX = "kgagent_relationship_embedding"
FILTERS = ("user_id", "relationship_type")
NODE_TEXTS = ("name", "description", "notes_text")
RELATIONSHIP_TEXTS = ("relationship_type", "description", "notes_text")
STATEMENT_TEXTS = ("text", "names", "relationship_type")
"""Properties in the full-text indexes; the indexes also hold `user_id`, to search one user's
records only.
"""


@dataclass(frozen=True)
class SchemaPart:
    """A constraint or an index.

    Attributes:
        name: its name in the database.
        create: the statement that creates it if it is missing.
        kind: what it is; a vector index must fit the embedder.
        covers: labels or types that it must cover.
        properties: properties that it must hold, including in-index filters.
    """

    name: str
    create: str
    kind: Literal["unique", "range", "vector", "text"]
    covers: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def is_vector(self) -> bool:
        """Whether it is a vector index."""
        return self.kind == "vector"

    @property
    def is_searched(self) -> bool:
        """Whether searches use it by name."""
        return self.kind in {"vector", "text"}

    def fits(self, row: Row) -> bool:
        """Whether an existing index covers what this part must cover."""
        return set(row["labelsOrTypes"] or ()) == set(self.covers) and set(self.properties) <= set(
            row["properties"]
        )

    def outdates(self, row: Row) -> bool:
        """Whether an existing index is to be replaced: one with only some of the labels, types or
        properties.

        Or an index that never got its constraint, because the server crashed while it was created.
        An index on other labels belongs to another ontology and is replaced by an explicit rebuild
        only.
        """
        if self.kind == "unique":
            return row["name"] == self.name and row["is_populated"] and not row["is_unique"]
        covered = set(row["labelsOrTypes"] or ())
        return (
            self.is_searched
            and bool(covered)
            and covered <= set(self.covers)
            and not self.fits(row)
        )

    def found_in(self, indexes: Sequence[Row]) -> Row | None:
        """Find it among the existing indexes.

        An index with another name serves as well, unless searches use it by name; the database
        would not create a second one.
        """
        named = next((row for row in indexes if row["name"] == self.name), None)
        if named is not None or self.is_searched:
            return named
        return next((row for row in indexes if self._is_served_by(row)), None)

    def _is_served_by(self, row: Row) -> bool:
        return (
            (row["is_unique"] or self.kind == "range")
            and row["type"] == "RANGE"
            and (row["labelsOrTypes"], row["properties"]) == ([*self.covers], [*self.properties])
        )


def schema_parts(
    ontology: Ontology, vector_config: str, features: ServerFeatures
) -> list[SchemaPart]:
    """List the constraints and indexes that a graph needs.

    Args:
        ontology: labels and relationship types.
        vector_config: the `indexConfig` of the vector indexes.
        features: what the server supports.
    """
    parts: list[SchemaPart] = []
    for label in ontology.labels:
        pattern = f"(n:{Identifier(label)})"
        parts += [
            _unique(label, pattern, "n", "entity_key"),
            _range(f"kgagent_{label}_user", pattern, "n", label, "user_id"),
            _vector(
                node_vector_index(label),
                pattern,
                "n",
                (ontology.node_embedding, FILTERS[0]),
                [label],
                vector_config,
                features,
            ),
        ]
    for neo4j_type in ontology.relationships:
        pattern = f"()-[r:{Identifier(neo4j_type)}]-()"
        parts += [
            _unique(neo4j_type, pattern, "r", "relationship_key"),
            _range(f"kgagent_{neo4j_type}_user", pattern, "r", neo4j_type, "user_id"),
        ]
    for name, types in relationship_vector_indexes(ontology, features).items():
        pattern = f"()-[r:{Identifier.any_of(types)}]-()"
        properties = ("relationship_embedding", *FILTERS, *DAYS)
        parts.append(_vector(name, pattern, "r", properties, types, vector_config, features))
    if ontology.owner_label is not None:
        pattern = f"(n:{Identifier(ontology.owner_label)})"
        parts.append(_range(OWNER_INDEX, pattern, "n", ontology.owner_label, "user_id", "is_owner"))
    for name, label in (
        ("kgagent_deleted_relationships", DELETED_RELATIONSHIP),
        ("kgagent_deleted_nodes", DELETED_NODE),
    ):
        pattern = f"(n:{Identifier(label)})"
        parts += [
            _range(name, pattern, "n", label, "user_id"),
            _range(f"{name}_expiry", pattern, "n", label, "kgagent_undo_until"),
        ]
    return [
        *parts,
        *_statement_parts(vector_config, features),
        _text(NODE_TEXT_INDEX, "(n:{})", "n", NODE_TEXTS, ontology.labels),
        _text(
            RELATIONSHIP_TEXT_INDEX, "()-[r:{}]-()", "r", RELATIONSHIP_TEXTS, ontology.relationships
        ),
    ]


def _statement_parts(vector_config: str, features: ServerFeatures) -> list[SchemaPart]:
    pattern = f"(n:{Identifier(STATEMENT)})"
    ranges = {"record": "record", "from": "from_entity_key", "to": "to_entity_key"}
    vector = ("embedding", *FILTERS, *DAYS, "trust")
    return [
        _unique(STATEMENT, pattern, "n", "entity_key"),
        *(
            _range(f"kgagent_statements_{name}", pattern, "n", STATEMENT, "user_id", field)
            for name, field in ranges.items()
        ),
        _vector(
            node_vector_index(STATEMENT), pattern, "n", vector, [STATEMENT], vector_config, features
        ),
        _text(STATEMENT_TEXT_INDEX, "(n:{})", "n", STATEMENT_TEXTS, (STATEMENT,)),
    ]


def node_vector_index(label: str) -> str:
    """Name of the vector index on a label."""
    return f"kgagent_{label}_embedding"


def relationship_vector_indexes(
    ontology: Ontology, features: ServerFeatures
) -> dict[str, tuple[str, ...]]:
    """The names of the vector indexes on relationships, each with the types that it covers."""
    if features.filtered_vector_indexes:
        return {RELATIONSHIP_VECTOR_INDEX: tuple(ontology.relationships)}
    return {
        f"kgagent_{neo4j_type}_embedding": (neo4j_type,) for neo4j_type in ontology.relationships
    }


def _unique(covers: str, pattern: str, variable: str, *key: str) -> SchemaPart:
    """A key is unique for each user; `user_id` comes first, so that the index finds beginnings of
    keys of a user.
    """
    name, fields = f"kgagent_{covers}_unique", (FILTERS[0], *key)
    values = ", ".join(f"{variable}.{field}" for field in fields)
    create = (
        f"CREATE CONSTRAINT {Identifier(name)} IF NOT EXISTS FOR {pattern} REQUIRE ({values}) IS "
        f"UNIQUE"
    )
    return SchemaPart(name, create, "unique", (covers,), fields)


def _range(name: str, pattern: str, variable: str, covers: str, *fields: str) -> SchemaPart:
    values = ", ".join(f"{variable}.{field}" for field in fields)
    create = f"CREATE INDEX {Identifier(name)} IF NOT EXISTS FOR {pattern} ON ({values})"
    return SchemaPart(name, create, "range", (covers,), fields)


def _text(
    name: str, pattern: str, variable: str, texts: Sequence[str], covers: Iterable[str]
) -> SchemaPart:
    properties = (*texts, "user_id")
    within = pattern.format(Identifier.any_of(covers))
    values = ", ".join(f"{variable}.{item}" for item in properties)
    create = (
        f"CREATE FULLTEXT INDEX {Identifier(name)} IF NOT EXISTS FOR {within} ON EACH [{values}]"
    )
    return SchemaPart(name, create, "text", tuple(covers), properties)


def _vector(  # noqa: PLR0917
    name: str,
    pattern: str,
    variable: str,
    properties: Sequence[str],
    covers: Sequence[str],
    config: str,
    features: ServerFeatures,
) -> SchemaPart:
    vector, *filters = (f"{variable}.{item}" for item in properties)
    within = f" WITH [{', '.join(filters)}]" if features.filtered_vector_indexes else ""
    create = (
        f"CREATE VECTOR INDEX {Identifier(name)} IF NOT EXISTS FOR {pattern} ON {vector}{within} "
        f"OPTIONS {{indexConfig: {config}}}"
    )
    wanted = tuple(properties) if features.filtered_vector_indexes else (properties[0],)
    return SchemaPart(name, create, "vector", tuple(covers), wanted)
