"""Constraints and indexes: which a graph needs, which are there, and how to make them fit."""

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import choice_of_length
from kgagent.errors import SchemaError, StoreError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row, Store
from kgagent.graph.vector_index import VectorIndexOptions
from kgagent.ontology import Ontology

ATTEMPTS = 8
DELETED_RELATIONSHIP = "KgagentDeletedRelationship"
"""Label of the nodes that keep what deleted relationships held; no ontology's, so that nothing else looks at them."""

REBUILD = "kgagent migrate --rebuild-indexes"
ONLINE_TIMEOUT = 300
"""Seconds that indexes may take to come online."""

REBUILD_TIMEOUT = 86_400
"""Seconds that they may take where they are made anew from all that is stored."""

SHOW_INDEXES = Statement(
    "SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties, options, owningConstraint "
    "RETURN name, type, state, labelsOrTypes, properties, options, owningConstraint IS NOT NULL AS is_unique",
    "show_indexes",
)

NODE_TEXT_INDEX = "kgagent_node_text"
RELATIONSHIP_TEXT_INDEX = "kgagent_relationship_text"
RELATIONSHIP_VECTOR_INDEX = "kgagent_relationship_embedding"
FILTERS = ("user_id", "relationship_type")
NODE_TEXTS = ("name", "description", "notes_text")
RELATIONSHIP_TEXTS = ("relationship_type", "description", "notes_text")
"""Properties whose words full-text search finds; their indexes hold `user_id` too, to search for one user's alone."""


@dataclass(frozen=True)
class SchemaPart:
    """A constraint or an index.

    Attributes:
        name: as it stands in the database.
        create: the statement that makes it where it is missing.
        kind: what it is; a vector index must fit the embedder.
        covers: labels or types that it must cover.
        properties: properties that it must hold, in-index filters included.
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
        """Whether searches call it by its name."""
        return self.kind in {"vector", "text"}

    def fits(self, row: Row) -> bool:
        """Whether an index covers what this part must cover."""
        return set(row["labelsOrTypes"] or ()) == set(self.covers) and set(self.properties) <= set(row["properties"])

    def outdates(self, row: Row) -> bool:
        """Whether a text index covers the same labels or types, but in an earlier form."""
        return self.kind == "text" and set(row["labelsOrTypes"] or ()) == set(self.covers) and not self.fits(row)

    def is_outdated_in(self, indexes: Sequence[Row]) -> bool:
        """Whether it is there as a text index of an earlier form, which holds nothing of its own and may be dropped.

        One on other labels is another ontology's, and is left to whoever asks for a rebuild.
        """
        row = self.found_in(indexes)
        return row is not None and self.outdates(row)

    def found_in(self, indexes: Sequence[Row]) -> Row | None:
        """Find it among the indexes that are there.

        One that the user made under another name serves as well, unless searches call it by its name; the database
        would not make a second one.
        """
        named = next((row for row in indexes if row["name"] == self.name), None)
        if named is not None or self.is_searched:
            return named
        return next((row for row in indexes if self._is_served_by(row)), None)

    def _is_served_by(self, row: Row) -> bool:
        return (
            row["type"] == "RANGE"
            and (row["is_unique"] or self.kind == "range")
            and row["labelsOrTypes"] == list(self.covers)
            and row["properties"] == list(self.properties)
        )


@dataclass(frozen=True)
class SchemaProblem:
    """Something about parts of the schema that keeps them from serving, and the command that mends it."""

    names: tuple[str, ...]
    what: str
    mend: str

    def __str__(self) -> str:
        """All of it in one line."""
        return f"{', '.join(self.names)}: {self.what}. To mend it: {self.mend}"


class Schema:
    """The constraints and indexes that an ontology and an embedder need on a server."""

    def __init__(self, store: Store, ontology: Ontology, embedder: Embedder, options: VectorIndexOptions) -> None:
        self._store = store
        self._embedder = embedder
        self._options = options
        self.parts = schema_parts(ontology, options.config(embedder.dimensions, store.features), store.features)

    async def ensure(self, *, online_timeout: int = ONLINE_TIMEOUT) -> None:
        """Make what is missing and wait until all of it is online; safe when several run at once.

        Args:
            online_timeout: seconds to wait at the most.

        Raises:
            SchemaError: an index is there but does not fit, or the data breaks a constraint; the text names the mend.
        """
        present, made = await self._present(), False
        for _ in range(ATTEMPTS):
            outdated = [part for part in self.parts if part.is_outdated_in(present)]
            missing = [part for part in self.parts if part.found_in(present) is None]
            if not outdated and not missing:
                break
            for part in outdated:
                await self._drop(part, still=part.is_outdated_in)
            for part in [*outdated, *missing]:
                await self._create(part)
            # Another process that made the same out of an earlier form may have dropped what was just made.
            present, made = await self._present(), True
        if made or any(row["state"] != "ONLINE" for row in present):
            await self._store.run_schema(Statement(f"CALL db.awaitIndexes({online_timeout:d})", "await_indexes"))
        problems = await self.problems()
        if problems:
            raise SchemaError("; ".join(map(str, problems)))

    async def rebuild_vector_indexes(self) -> None:
        """Drop the vector and text indexes and make them anew for embedder and ontology; what is stored stays.

        Raises:
            SchemaError: see `ensure`.
        """
        for part in self.parts:
            if part.is_searched:
                await self._drop(part, still=part.found_in)
        await self.ensure(online_timeout=REBUILD_TIMEOUT)

    async def problems(self) -> list[SchemaProblem]:
        """Say what is missing, not online, or does not fit."""
        present = await self._present()
        found: dict[tuple[str, str], list[str]] = {}
        for part in self.parts:
            for problem in self._misfits(part, part.found_in(present)):
                found.setdefault(problem, []).append(part.name)
        return [SchemaProblem(tuple(names), what, mend) for (what, mend), names in found.items()]

    async def differing_options(self) -> list[SchemaProblem]:
        """Name vector indexes that were made with other options; they serve, though perhaps not as well."""
        present = await self._present()
        found: dict[str, list[str]] = {}
        for part in self.parts:
            row = part.found_in(present) if part.is_vector else None
            config = (row["options"].get("indexConfig") or {}) if row else {}
            if different := self._options.differences(config, self._store.features):
                found.setdefault("; ".join(different), []).append(part.name)
        return [SchemaProblem(tuple(names), what, REBUILD) for what, names in found.items()]

    def _misfits(self, part: SchemaPart, row: Row | None) -> Iterator[tuple[str, str]]:
        """What is wrong with a part, and what mends it."""
        if row is None:
            yield "missing", "kgagent init"
            return
        if row["state"] == "FAILED":
            yield "failed", REBUILD
        if part.is_searched and not part.fits(row):
            yield (
                f"covers {row['labelsOrTypes']} {row['properties']} instead of "
                f"{list(part.covers)} {list(part.properties)}",
                "kgagent init" if part.outdates(row) else REBUILD,
            )
        if not part.is_vector:
            return
        dimensions = (row["options"].get("indexConfig") or {}).get("vector.dimensions")
        if dimensions is not None and dimensions != self._embedder.dimensions:
            yield (
                f"made for embeddings of length {dimensions}, but {self._embedder} makes {self._embedder.dimensions}",
                f"{choice_of_length(dimensions, self._embedder)}; or, to embed all of it anew, {REBUILD}",
            )

    async def _present(self) -> list[Row]:
        return await self._store.run_schema(SHOW_INDEXES)

    async def _create(self, part: SchemaPart) -> None:
        try:
            await self._change(
                Statement(part.create, f"create_{part.kind}"), still=lambda rows: part.found_in(rows) is None
            )
        except StoreError as error:
            raise SchemaError(f"{part.name} cannot be made: {error}. `kgagent doctor` looks for duplicates") from error

    async def _drop(self, part: SchemaPart, *, still: Callable[[Sequence[Row]], object]) -> None:
        await self._change(Statement(f"DROP INDEX {Identifier(part.name)} IF EXISTS", "drop_index"), still=still)

    async def _change(self, statement: Statement, *, still: Callable[[Sequence[Row]], object]) -> None:
        """Run a statement; where it fails, as others change the schema too, again, if it is still called for."""
        for attempt in range(ATTEMPTS):
            try:
                await self._store.run_schema(statement)
            except StoreError:
                if not still(await self._present()):
                    return
                if attempt == ATTEMPTS - 1:
                    raise
                await asyncio.sleep(random.uniform(0, 0.1 * 2**attempt))  # noqa: S311
            else:
                return


def schema_parts(ontology: Ontology, vector_config: str, features: ServerFeatures) -> list[SchemaPart]:
    """List the constraints and indexes that a graph needs.

    Args:
        ontology: its labels and relationships.
        vector_config: the `indexConfig` of its vector indexes.
        features: what the server knows.
    """
    parts: list[SchemaPart] = []
    for label in ontology.labels:
        pattern = f"(n:{Identifier(label)})"
        parts += [
            _unique(f"kgagent_{label}_key", pattern, "n", "entity_key", label),
            _range(f"kgagent_{label}_user", pattern, "n", "user_id", label),
            _vector(
                node_vector_index(label), pattern, "n", ("embedding", FILTERS[0]), [label], vector_config, features
            ),
        ]
    for neo4j_type in ontology.relationships:
        pattern = f"()-[r:{Identifier(neo4j_type)}]-()"
        parts += [
            _unique(f"kgagent_{neo4j_type}_key", pattern, "r", "relationship_key", neo4j_type),
            _range(f"kgagent_{neo4j_type}_user", pattern, "r", "user_id", neo4j_type),
        ]
    for name, types in relationship_vector_indexes(ontology, features).items():
        pattern = f"()-[r:{Identifier.any_of(types)}]-()"
        properties = ("relationship_embedding", *FILTERS)
        parts.append(_vector(name, pattern, "r", properties, types, vector_config, features))
    kept = f"(n:{Identifier(DELETED_RELATIONSHIP)})"
    return [
        *parts,
        _range("kgagent_deleted_relationships", kept, "n", "user_id", DELETED_RELATIONSHIP),
        _text(NODE_TEXT_INDEX, "(n:{})", "n", NODE_TEXTS, ontology.labels),
        _text(RELATIONSHIP_TEXT_INDEX, "()-[r:{}]-()", "r", RELATIONSHIP_TEXTS, ontology.relationships),
    ]


def node_vector_index(label: str) -> str:
    """Name of the vector index on a label."""
    return f"kgagent_{label}_embedding"


def relationship_vector_indexes(ontology: Ontology, features: ServerFeatures) -> dict[str, tuple[str, ...]]:
    """Names of the vector indexes on relationships, each with the types that it covers."""
    if features.filtered_vector_indexes:
        return {RELATIONSHIP_VECTOR_INDEX: tuple(ontology.relationships)}
    return {f"kgagent_{neo4j_type}_embedding": (neo4j_type,) for neo4j_type in ontology.relationships}


def _unique(name: str, pattern: str, variable: str, field: str, covers: str) -> SchemaPart:
    create = f"CREATE CONSTRAINT {Identifier(name)} IF NOT EXISTS FOR {pattern} REQUIRE {variable}.{field} IS UNIQUE"
    return SchemaPart(name, create, "unique", (covers,), (field,))


def _range(name: str, pattern: str, variable: str, field: str, covers: str) -> SchemaPart:
    create = f"CREATE INDEX {Identifier(name)} IF NOT EXISTS FOR {pattern} ON ({variable}.{field})"
    return SchemaPart(name, create, "range", (covers,), (field,))


def _text(name: str, pattern: str, variable: str, texts: Sequence[str], covers: Iterable[str]) -> SchemaPart:
    properties = (*texts, "user_id")
    within = pattern.format(Identifier.any_of(covers))
    values = ", ".join(f"{variable}.{item}" for item in properties)
    create = f"CREATE FULLTEXT INDEX {Identifier(name)} IF NOT EXISTS FOR {within} ON EACH [{values}]"
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
