"""Constraints and indexes: which are there, and how to make them what a graph needs."""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kgagent.embedding.base import Embedder
from kgagent.embedding.factory import advise_embedder
from kgagent.errors import SchemaError, StoreError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import SchemaPart, schema_parts
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row, Store
from kgagent.graph.vector_index import VectorIndexOptions
from kgagent.ontology import Ontology

ATTEMPTS = 8
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
                f"{advise_embedder(dimensions, self._embedder)}; or, to embed all of it anew, {REBUILD}",
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
