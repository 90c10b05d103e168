"""A load and a migration by worker processes of Ray do the same as in one process, and nothing
twice.
"""

import json
import platform
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from kgagent import (
    ConfigurationError,
    EmbeddingUnavailableError,
    KnowledgeGraph,
    RayEngine,
    Settings,
)
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.files import LoadCounts
from kgagent.upkeep.migration_report import Counts
from tests.conftest import Server
from tests.integration.cli.conftest import bare_environment, environment, family, program
from tests.support.ray_workers import RAYS_OWN_WARNINGS, FaultyEmbedder, noon, running_ray
from tests.support.stored import Properties, all_of, cypher

__all__ = ["bare_environment", "environment", "family", "program"]

pytestmark = [
    pytest.mark.filterwarnings(RAYS_OWN_WARNINGS),
    pytest.mark.skipif(
        sys.platform == "darwin" and platform.machine() != "arm64",
        reason="Ray has no wheels for Intel Macs",
    ),
]

PEOPLE = 60


@pytest.fixture(scope="module")
def logs() -> Iterator[Path]:
    """Ray runs during the module; the folder of its logs."""
    with running_ray() as folder:
        yield folder


@pytest.fixture
async def graph(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph that other processes can open."""
    async with KnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(384), clock=noon
    ) as opened:
        yield opened


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A file of nodes and relationships; each record has a later line that changes it, and two
    lines are invalid.
    """
    nodes = [
        {"kind": "node", "label": "Person", "id": str(i), "name": f"Person{i}"}
        for i in range(PEOPLE)
    ]
    friends = [
        {
            "kind": "relationship",
            "from": str(i),
            "to": str((i + 1) % PEOPLE),
            "relationship_type": "friend",
        }
        for i in range(PEOPLE)
    ]
    lines: list[dict[str, Any]] = [*nodes, *friends]
    lines += [
        line | {"notes": [f"First of {number}"], "attitude": 1}
        for number, line in enumerate(friends)
    ]
    lines += [
        line | {"notes": [f"Second of {number}"], "attitude": 5}
        for number, line in enumerate(friends)
    ]
    lines += [friends[0] | {"to": "nobody"}, {"kind": "planet"}]
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


async def content_of(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    """All records without versions and history: lines that change a record in turn change it again
    if repeated.
    """
    nodes, relationships = await all_of(graph, user_id)
    return [
        {name: value for name, value in one.items() if name not in {"version", "history"}}
        for one in (*nodes, *relationships)
    ]


def files_with(text: str, folder: Path) -> list[Path]:
    return [
        file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()
    ]


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("127.0.0.1:1", r"No Ray cluster answers at 127\.0\.0\.1:1: .*`ray status`"),
        ("nowhere", r'is "auto" or host:port, got \'nowhere\''),
    ],
)
async def test_a_cluster_that_does_not_answer_is_an_error(
    graph: KnowledgeGraph, user_id: str, address: str, problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        await graph.migrate(user_id=user_id, engine=RayEngine(address=address))


async def test_a_load_stores_the_same_although_a_worker_is_killed(
    graph: KnowledgeGraph, user_id: str, people: Path, tmp_path: Path, logs: Path, server: Server
) -> None:
    direct = await graph.load(people, user_id=user_id)
    expected = await content_of(graph, user_id)
    await cypher(graph, "MATCH (n:Person {user_id: $user}) DETACH DELETE n", user=user_id)
    died = tmp_path / "died"
    engine = RayEngine(
        workers=2, block_size=30, embedder=partial(FaultyEmbedder, "Second of 40", died)
    )
    by_workers = await graph.load(
        people, user_id=user_id, engine=engine, batch_size=5, concurrency=1
    )
    assert died.exists()
    assert await content_of(graph, user_id) == expected
    assert by_workers.problems == direct.problems
    assert [problem.line for problem in direct.problems] == [4 * PEOPLE + 1, 4 * PEOPLE + 2]
    assert by_workers.nodes == direct.nodes == LoadCounts(created=PEOPLE)
    # What the killed worker had created is not created again.
    assert by_workers.relationships.total == direct.relationships.total == 3 * PEOPLE
    assert by_workers.relationships.created < direct.relationships.created == PEOPLE
    assert files_with(server.password, logs) == []
    assert files_with("BlockWorker", logs) != []


@pytest.mark.usefixtures("logs")
async def test_a_migration_writes_each_record_once_although_a_worker_is_killed(
    graph: KnowledgeGraph, user_id: str, people: Path, tmp_path: Path
) -> None:
    await graph.load(people, user_id=user_id)
    forget = (
        "MATCH (n:Person {user_id: $user}) SET n.embedding = null, n.version = 1 "
        "WITH n MATCH (n)-[r]->() SET r.relationship_embedding = null, r.version = 1"
    )
    await cypher(graph, forget, user=user_id)
    direct = await graph.migrate(user_id=user_id)
    expected = await all_of(graph, user_id)
    await cypher(graph, forget, user=user_id)
    died = tmp_path / "died"
    engine = RayEngine(
        workers=2, block_size=30, embedder=partial(FaultyEmbedder, "Second of 40", died)
    )
    report = await graph.migrate(user_id=user_id, engine=engine, batch_size=5)
    assert died.exists()
    # The versions are equal, too, so that nothing was written twice.
    assert await all_of(graph, user_id) == expected
    assert direct.relationships == Counts(examined=PEOPLE, embedded=PEOPLE)
    assert report.nodes == direct.nodes
    assert report.relationships.examined == PEOPLE


@pytest.mark.usefixtures("logs")
async def test_an_error_of_a_worker_stops_the_load(
    graph: KnowledgeGraph, user_id: str, people: Path
) -> None:
    engine = RayEngine(workers=1, embedder=partial(FaultyEmbedder, "Person", None))
    with pytest.raises(
        EmbeddingUnavailableError,
        match=r"The model is gone\. 0 of 241 lines are loaded; load people",
    ):
        await graph.load(people, user_id=user_id, engine=engine)


@pytest.mark.usefixtures("logs")
async def test_a_worker_that_cannot_begin_says_why(
    graph: KnowledgeGraph, user_id: str, people: Path
) -> None:
    engine = RayEngine(workers=1, embedder=partial(HashingEmbedder, 32))
    with pytest.raises(
        ConfigurationError, match=r"has another embedder \(hashing blake2b-words, 32 dimensions\)"
    ):
        await graph.load(people, user_id=user_id, engine=engine)


async def test_a_graph_that_another_process_cannot_open_is_refused(
    settings: Settings, user_id: str
) -> None:
    unsendable = HashingEmbedder(384)
    unsendable.lock = threading.Lock()  # type: ignore[attr-defined]
    async with KnowledgeGraph.connect(settings=settings, embedder=unsendable) as graph:
        with pytest.raises(
            ConfigurationError,
            match=r"cannot be opened by the workers .*: choose the embedder in the settings",
        ):
            await graph.migrate(user_id=user_id, engine=RayEngine())
    login = (
        settings.neo4j_username,
        settings.neo4j_password.get_secret_value() if settings.neo4j_password else "",
    )
    async with AsyncGraphDatabase.driver(str(settings.neo4j_uri), auth=login) as driver:
        connecting = KnowledgeGraph.connect(
            driver=driver, settings=settings, embedder=HashingEmbedder(384)
        )
        async with connecting as graph:
            with pytest.raises(
                ConfigurationError, match=r"cannot use your open driver: connect with uri, username"
            ):
                await graph.migrate(user_id=user_id, engine=RayEngine())


def test_the_command_line_starts_ray_and_ends_it(program: Any, family: Path) -> None:
    done = program("load", str(family), "--engine", "ray", "--workers", "1", "--json")
    assert (
        done.code,
        done.payload["nodes"]["created"],
        done.payload["relationships"]["created"],
    ) == (0, 3, 1)
    assert "Loading relationships ..." in done.err
    assert not any(word in done.err for word in ("usage", "Warning", "WARNING", "Error"))
