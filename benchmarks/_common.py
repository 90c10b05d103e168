"""Shared by the benchmarks: server, timing and output."""

import argparse
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from kgagent import KnowledgeGraph, Settings
from kgagent.cli.progress import RichProgress
from kgagent.embedding.base import Embedder
from kgagent.graph.connection import connect
from kgagent.graph.identifiers import Identifier
from kgagent.graph.store import Store
from kgagent.local import LocalNeo4j
from kgagent.ontology import Ontology

Result = TypeVar("Result")

DELETE_BATCH = 1_000
DELETE_RELATIONSHIPS = "MATCH (:Entity {user_id: $user_id})-[r]->() WITH r LIMIT $limit DELETE r RETURN count(*) AS gone"
DELETE_NODES = "MATCH (n:Entity {user_id: $user_id}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS gone"
SCHEMA_NAMES = "SHOW CONSTRAINTS YIELD name RETURN name, 'CONSTRAINT' AS kind"
INDEX_NAMES = "SHOW INDEXES YIELD name, owningConstraint WHERE owningConstraint IS NULL RETURN name, 'INDEX' AS kind"


@dataclass(frozen=True)
class Server:
    """The Neo4j server of a run.

    Attributes:
        uri: bolt address.
        username: user name.
        password: password.
        is_own: whether it was started for this run, so that no cleanup is needed.
        loaded: file that marks the data of an earlier run as loaded; None if every run loads its
            data.
    """

    uri: str
    username: str
    password: str | None
    is_own: bool
    loaded: Path | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether an earlier run has loaded the data."""
        return self.loaded is not None and self.loaded.exists()


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments of all benchmarks."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--uri", help="bolt address of a Neo4j; else NEO4J_URI, else a temporary local server"
    )
    parser.add_argument("--seed", type=int, default=7, help="seed of the random numbers")
    parser.add_argument(
        "--json", action="store_true", help="print the figures as one line of JSON at the end"
    )
    return parser


@contextmanager
def server(uri: str | None) -> Iterator[Server]:
    """The Neo4j of `uri` or NEO4J_URI, else a temporary local server."""
    settings = Settings()
    address = uri or settings.neo4j_uri
    if address is not None:
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
        yield Server(address, settings.neo4j_username, password, is_own=False)
        return
    with (
        tempfile.TemporaryDirectory(prefix="kgagent-benchmark-") as home,
        kept_server(Path(home)) as own,
    ):
        yield own


@contextmanager
def kept_server(home: Path) -> Iterator[Server]:
    """A local Neo4j with its data in `home`, which the next run can reuse."""
    local = LocalNeo4j(home, cache=Settings().cache)
    info = local.up(RichProgress())
    try:
        yield Server(info.uri, info.username, info.password, is_own=True, loaded=home / "loaded")
    finally:
        local.down()


@asynccontextmanager
async def open_graph(
    where: Server,
    embedder: Embedder,
    settings: Settings,
    *,
    users: Sequence[str],
    ontology: Ontology | None = None,
) -> AsyncIterator[KnowledgeGraph]:
    """Open a graph with its indexes; afterwards, delete the users and the created indexes and
    constraints.
    """
    store = await connect(where.uri, username=where.username, password=where.password)
    before = await _schema(store)
    try:
        async with KnowledgeGraph.connect(
            where.uri,
            username=where.username,
            password=where.password,
            embedder=embedder,
            settings=settings,
            ontology=ontology,
        ) as graph:
            yield graph
    finally:
        if not where.is_own:
            await _delete_users(store, users)
            for name, kind in (await _schema(store)).items():
                if name not in before:
                    await store.run_schema(f"DROP {kind} {Identifier(name)} IF EXISTS")
        await store.close()


async def _schema(store: Store) -> dict[str, str]:
    rows = [*await store.run_schema(SCHEMA_NAMES), *await store.run_schema(INDEX_NAMES)]
    return {row["name"]: row["kind"] for row in rows}


async def _delete_users(store: Store, users: Sequence[str]) -> None:
    for user_id in users:
        for text in (DELETE_RELATIONSHIPS, DELETE_NODES):
            while (await store.write(text, {"user_id": user_id, "limit": DELETE_BATCH}))[0]["gone"]:
                pass


async def timed(work: Awaitable[Result]) -> tuple[Result, float]:
    """Await work; return its result and duration in seconds."""
    started = time.perf_counter()
    result = await work
    return result, time.perf_counter() - started


def p50(seconds: Sequence[float]) -> float:
    """The median."""
    return float(np.quantile(seconds, 0.50))


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return float(np.quantile(seconds, 0.95))


async def single_embedding_seconds(embedder: Embedder, texts: int = 20) -> float:
    """Median time to embed one short text with a loaded model."""
    await embedder.embed(["Ann is the mentor of Bob"])
    several = (f"Ann met Bob at conference number {number}" for number in range(texts))
    times = [(await timed(embedder.embed([text])))[1] for text in several]
    return p50(times)


def show(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows as a table, with their keys as columns."""
    table = Table(title=title, title_justify="left")
    for column in rows[0]:
        table.add_column(
            column, justify="left" if isinstance(rows[0][column], str) else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(
            *(f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values())
        )
    width = None if os.isatty(1) else 120
    Console(width=width).print(table)


def finish(figures: Mapping[str, object], *, as_json: bool) -> None:
    """Print the figures, as one line of JSON if requested."""
    rounded = {
        key: round(value, 5) if isinstance(value, float) else value
        for key, value in figures.items()
    }
    if as_json:
        print(json.dumps(rounded), flush=True)
    else:
        for key, value in rounded.items():
            print(f"{key}: {value}")
