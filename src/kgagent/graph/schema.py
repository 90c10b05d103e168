"""Constraints and indexes: which exist, and creating those that a graph needs."""

import asyncio
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from kgagent.embedding.base import Embedder
from kgagent.errors import SchemaError, StoreError
from kgagent.formatting import listed
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import NODE_EMBEDDINGS
from kgagent.graph.schema_parts import PREFIX, SchemaPart, schema_parts
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row, Store
from kgagent.graph.vector_index_options import VectorIndexOptions
from kgagent.ontology import Ontology

ATTEMPTS = 8
REBUILD = "kgagent migrate --rebuild-indexes"
ONLINE_TIMEOUT = 300
"""Maximum time in seconds for indexes to come online."""

CHANGE_TIMEOUT = 5.0
"""Maximum time in seconds for one attempt to drop a constraint or an index, or to create an index.

A change waits for the statements that use its label, and makes new ones wait. Neo4j does not detect
every deadlock in this: a statement that holds the label may be waiting for the plan of one that
waits for the change. To create a constraint takes as long as reading its records and cannot be
stopped; there, the time limit of statements ends the deadlock.
"""

REBUILD_TIMEOUT = 86_400
"""Maximum time in seconds for indexes that are rebuilt from stored data."""

SHOW_INDEXES = Statement(
    "SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties, options, owningConstraint, "
    "populationPercent "
    "RETURN name, type, state, labelsOrTypes, properties, options, owningConstraint IS NOT NULL AS "
    "is_unique, "
    "populationPercent = 100 AS is_populated",
    "show_indexes",
)

OTHER_ONTOLOGY = (
    "set KGAGENT_ONTOLOGY to the file of that ontology, such as the kgagent-ontology.yaml that "
    "`kgagent adopt` wrote; "
    f"or, to search with this ontology only, {REBUILD}"
)

INDEX_NOT_FOUND = "Neo.ClientError.Schema.IndexNotFound"
"""Code of the server's error."""

EmbedderAdvice = Callable[[int, Embedder], str]
"""Given the length of the existing embeddings and the present embedder, says how to choose the
embedder that fits.
"""


def _advise_nothing(_length: int, _embedder: Embedder) -> str:
    return "choose the embedder that the graph was created with"


@dataclass(frozen=True)
class SchemaProblem:
    """A problem of one or more constraints or indexes.

    Attributes:
        names: of the constraints or indexes.
        what: the problem.
        fix: the command that fixes it.
    """

    names: tuple[str, ...]
    what: str
    fix: str

    def __str__(self) -> str:
        """The problem in one line."""
        return f"{', '.join(self.names)}: {self.what}. Fix: {self.fix}"


class Schema:
    """The constraints and indexes that an ontology and an embedder need on a server."""

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        options: VectorIndexOptions,
        *,
        embedder_advice: EmbedderAdvice | None = None,
    ) -> None:
        """Prepare; nothing is read or created yet.

        Args:
            store: the database.
            ontology: labels and relationship types.
            embedder: makes the embeddings that the indexes hold.
            options: of the vector indexes.
            embedder_advice: says how to choose the embedder of existing indexes; None gives no
                details.
        """
        self._store = store
        self._embedder = embedder
        self._options = options
        self._embedder_advice = embedder_advice or _advise_nothing
        self.parts = schema_parts(
            ontology, options.config(embedder.dimensions, store.features), store.features
        )

    async def ensure(self, *, online_timeout: int = ONLINE_TIMEOUT) -> None:
        """Create missing constraints and indexes and wait until they are online; processes may do
        so concurrently.

        Args:
            online_timeout: maximum time to wait, in seconds.

        Raises:
            SchemaError: an existing index does not fit, or the data violates a constraint; the text
                names the fix.
        """
        deadline = time.monotonic() + online_timeout
        present = await self._present()
        if foreign := [
            problem for problem in self._problems_in(present) if problem.fix == OTHER_ONTOLOGY
        ]:
            # Nothing is created beside them.
            raise SchemaError(str(foreign[0]))
        for _ in range(ATTEMPTS):
            outdated = [part for part in self.parts if self._is_outdated_in(present, part)]
            missing = [part for part in self.parts if part.found_in(present) is None]
            for part in outdated:
                await self._drop("INDEX", part.name, still=partial(self._is_outdated_in, part=part))
            for part in [*outdated, *missing]:
                await self._create(part)
            # Another process that replaces the same outdated index may drop the new one, even while
            # this one waits.
            if not outdated and not missing and not await self._await_online(present, deadline):
                break
            present = await self._present()
        problems = self._problems_in(present)
        if problems:
            raise SchemaError("; ".join(map(str, problems)))

    async def rebuild_vector_indexes(self) -> None:
        """Drop the vector and full-text indexes and create them for this embedder and ontology;
        stored data stays.

        Raises:
            SchemaError: see `ensure`.
        """
        for part in self.parts:
            if part.is_searched:
                await self._drop("INDEX", part.name, still=part.found_in)
        await self.ensure(online_timeout=REBUILD_TIMEOUT)

    async def is_absent(self) -> bool:
        """Whether the database has none of them, nor any of another ontology.

        Raises:
            StoreError: the database failed.
        """
        return not any(row["name"].startswith(PREFIX) for row in await self._present())

    async def drop_all(self) -> None:
        """Drop the constraints and indexes of kgagent, of whatever ontology: those with a name and
        properties such as it gives them.

        Raises:
            StoreError: the database failed.
        """
        own = [_covered(part.properties) for part in self.parts]
        for row in await self._present():
            if (name := row["name"]).startswith(PREFIX) and _covered(row["properties"]) in own:
                await self._drop(
                    "CONSTRAINT" if row["is_unique"] else "INDEX", name, still=partial(_has, name)
                )

    async def problems(self) -> list[SchemaProblem]:
        """List what is missing, not online, or does not fit."""
        return self._problems_in(await self._present())

    def _problems_in(self, present: Sequence[Row]) -> list[SchemaProblem]:
        return _grouped(
            (part.name, what, fix)
            for part in self.parts
            for what, fix in self._misfits(part, part.found_in(present))
        )

    async def differing_options(self) -> list[SchemaProblem]:
        """List vector indexes with other options; they work, but perhaps not as well."""
        present = await self._present()
        rows = [
            (part.name, row)
            for part in self.parts
            if part.is_vector and (row := part.found_in(present))
        ]
        configs = ((name, row["options"].get("indexConfig") or {}) for name, row in rows)
        differing = (
            (name, self._options.differences(config, self._store.features))
            for name, config in configs
        )
        return _grouped(
            (name, "; ".join(different), REBUILD) for name, different in differing if different
        )

    def _misfits(self, part: SchemaPart, row: Row | None) -> Iterator[tuple[str, str]]:
        """The problems of a part, each with its fix."""
        if row is None:
            yield "missing", "kgagent init"
            return
        if row["state"] == "FAILED":
            yield "failed", REBUILD
        if part.kind == "unique" and part.outdates(row):
            yield "an index without its constraint, as its creation was interrupted", "kgagent init"
        if part.is_searched and (
            others := sorted(set(row["labelsOrTypes"] or ()) - set(part.covers))
        ):
            yield f"made for another ontology, which has {listed(others)}", OTHER_ONTOLOGY
        elif part.is_searched and not part.fits(row):
            yield (
                f"covers {row['labelsOrTypes']} {row['properties']} instead of "
                f"{list(part.covers)} {list(part.properties)}",
                "kgagent init" if self._is_replaceable(part, row) else REBUILD,
            )
        dimensions = self._other_dimensions(part, row)
        if dimensions is not None:
            yield (
                f"made for embeddings of length {dimensions}, but {self._embedder} makes "
                f"{self._embedder.dimensions}",
                f"{self._embedder_advice(dimensions, self._embedder)}; or, to embed everything "
                f"again, {REBUILD}",
            )

    def _is_outdated_in(self, present: Sequence[Row], part: SchemaPart) -> bool:
        row = part.found_in(present)
        return row is not None and self._is_replaceable(part, row)

    def _is_replaceable(self, part: SchemaPart, row: Row) -> bool:
        """Whether an existing index is outdated, and may be dropped: the new one would hold the
        same embeddings.
        """
        return part.outdates(row) and self._other_dimensions(part, row) is None

    def _other_dimensions(self, part: SchemaPart, row: Row) -> int | None:
        """The length of embeddings that a vector index holds, if it is not that of the embedder."""
        dimensions: int | None = (row["options"].get("indexConfig") or {}).get("vector.dimensions")
        return dimensions if part.is_vector and dimensions != self._embedder.dimensions else None

    async def _present(self) -> list[Row]:
        return await self._store.run_schema(SHOW_INDEXES)

    async def _await_online(self, present: Sequence[Row], deadline: float) -> bool:
        """Wait for these parts only: to wait for all indexes fails where another process drops one
        of its own.

        An index that another process drops meanwhile, perhaps to replace it, is not waited for.

        Returns:
            Whether there was anything to wait for.
        """
        found = (part.found_in(present) for part in self.parts)
        populating = {row["name"] for row in found if row and row["state"] == "POPULATING"}
        for name in populating:
            seconds = max(1, math.ceil(deadline - time.monotonic()))
            quoted = name.replace("\\", "\\\\").replace("'", "\\'")
            try:
                await self._store.run_schema(
                    Statement(f"CALL db.awaitIndex('{quoted}', {seconds:d})", "await_index")
                )
            except StoreError as error:
                if getattr(error.__cause__, "code", None) != INDEX_NOT_FOUND:
                    raise
        return bool(populating)

    async def _create(self, part: SchemaPart) -> None:
        try:
            await self._change(
                Statement(part.create, f"create_{part.kind}"),
                still=lambda rows: part.found_in(rows) is None,
                timeout=None if part.kind == "unique" else CHANGE_TIMEOUT,
            )
        except StoreError as error:
            raise SchemaError(
                f"{part.name} cannot be created: {error}. `kgagent doctor` looks for duplicates"
            ) from error

    async def _drop(
        self,
        kind: Literal["INDEX", "CONSTRAINT"],
        name: str,
        *,
        still: Callable[[Sequence[Row]], object],
    ) -> None:
        text = Statement(f"DROP {kind} {Identifier(name)} IF EXISTS", f"drop_{kind.lower()}")
        await self._change(text, still=still, timeout=CHANGE_TIMEOUT)

    async def _change(
        self,
        statement: Statement,
        *,
        still: Callable[[Sequence[Row]], object],
        timeout: float | None,
    ) -> None:
        """Run a statement; after a failure retry it if it is still needed, as others change the
        schema too.
        """
        for attempt in range(ATTEMPTS):
            try:
                # The server ends a change when its connection is closed, but not at a time limit of
                # its own.
                async with asyncio.timeout(timeout):
                    await self._store.run_schema(statement)
            except (StoreError, TimeoutError) as error:
                if not still(await self._present()):
                    return
                if attempt == ATTEMPTS - 1:
                    if isinstance(error, StoreError):
                        raise
                    raise StoreError(
                        f"A change of the schema was stopped {ATTEMPTS} times after {timeout:g} "
                        f"seconds, as running "
                        f"statements use what it changes. Try again when they have ended: "
                        f"{statement}"
                    ) from error
                await asyncio.sleep(random.uniform(0, 0.1 * 2**attempt))  # noqa: S311
            else:
                return


def _has(name: str, present: Sequence[Row]) -> bool:
    return any(row["name"] == name for row in present)


def _grouped(problems: Iterable[tuple[str, str, str]]) -> list[SchemaProblem]:
    """One problem for all constraints and indexes with the same one, given name, problem and fix of
    each.
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name, what, fix in problems:
        names.setdefault((what, fix), []).append(name)
    return [SchemaProblem(tuple(alike), what, fix) for (what, fix), alike in names.items()]


def _covered(properties: Sequence[str]) -> set[str]:
    """The properties that an index holds, whichever the ontology has for embeddings of nodes."""
    return {NODE_EMBEDDINGS[0] if name in NODE_EMBEDDINGS else name for name in properties or ()}
