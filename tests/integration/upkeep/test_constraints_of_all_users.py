"""Graphs whose keys are unique among all users, as earlier versions made them."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from kgagent import KnowledgeGraph, Ontology, Settings
from kgagent.errors import StoreError
from kgagent.graph import schema as schema_module
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import SchemaPart
from kgagent.knowledge_graph import services_of
from kgagent.tools import Payload
from tests.conftest import Clock, Server
from tests.integration.upkeep.damaged import problems
from tests.support.embedders import WatchedEmbedder
from tests.support.own_ontology import dropped_in_the_end, own_graph, own_ontology
from tests.support.payloads import error_of, succeeded
from tests.support.people import node
from tests.support.stored import nodes_of, relationships_of

pytestmark = [pytest.mark.neo4j_5, pytest.mark.schema]

SECOND = f"visitor-{uuid.uuid4()}"
FIRST = f"u{SECOND}"
"""Users of whom the second's "acmeu" has the key of the first's "acme"."""


@pytest.fixture(scope="module")
async def ontology(settings: Settings) -> AsyncIterator[Ontology]:
    """The ontology of all tests here: with labels of its own, each test would have its statements
    planned anew.
    """
    lent = own_ontology(key="sha256:${lower_name}${user_id}")
    async with dropped_in_the_end(settings, lent):
        yield lent


@pytest.fixture
async def old(
    settings: Settings, embedder: WatchedEmbedder, clock: Clock, ontology: Ontology
) -> AsyncIterator[KnowledgeGraph]:
    """An empty graph with the constraints that earlier versions made, besides the present ones."""
    # The time that a deadlock lasts which Neo4j does not detect.
    brief = settings.model_copy(update={"query_timeout": 10.0})
    async with own_graph(brief, embedder, clock, ontology) as opened:
        existing = await constraints(opened)
        for part in unique_parts(opened):
            if part.earlier_name not in existing:
                await make_earlier_form(opened, part)
        yield opened


def unique_parts(graph: KnowledgeGraph) -> list[SchemaPart]:
    return [part for part in services_of(graph).schema.parts if part.kind == "unique"]


async def make_earlier_form(
    graph: KnowledgeGraph, part: SchemaPart, name: str | None = None
) -> None:
    [covers], key = part.covers, part.properties[-1]
    pattern = (
        f"(x:{Identifier(covers)})" if key == "entity_key" else f"()-[x:{Identifier(covers)}]-()"
    )
    await services_of(graph).store.run_schema(
        f"CREATE CONSTRAINT {Identifier(name or str(part.earlier_name))} FOR {pattern} REQUIRE "
        f"x.{key} IS UNIQUE"
    )


async def constraints(graph: KnowledgeGraph) -> set[str]:
    rows = await services_of(graph).store.run_schema(
        "SHOW CONSTRAINTS YIELD name, labelsOrTypes RETURN *"
    )
    own = {*graph.ontology.labels, *graph.ontology.relationships}
    return {row["name"] for row in rows if own & set(row["labelsOrTypes"])}


def labels(graph: KnowledgeGraph) -> list[str]:
    return list(graph.ontology.labels)


async def load(
    graph: KnowledgeGraph, folder: Path, user_id: str, *lines: dict[str, Any]
) -> dict[int, str]:
    path = folder / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    report = await graph.load(path, user_id=user_id)
    return {problem.line: problem.reason for problem in report.problems}


async def test_before_the_migration_a_clash_is_an_error_at_once_and_after_it_there_is_none(
    old: KnowledgeGraph, embedder: WatchedEmbedder
) -> None:
    label = labels(old)[0]
    first, second = old.tools(user_id=FIRST), old.tools(user_id=SECOND)
    await node(first, label, "acme", "secret")
    embedder.forget()
    error = error_of(await second.create_node(label=label, name="acmeu"))
    assert "Run `kgagent migrate`" in error
    assert "If another program created it, `kgagent doctor` says how to drop it" in error
    assert "nothing was written" in error
    assert "secret" not in error
    assert embedder.calls == 2
    assert await nodes_of(old, SECOND) == []

    await old.migrate()
    key = await node(second, label, "acmeu")
    assert [stored["entity_key"] for stored in await nodes_of(old, FIRST)] == [key]
    again = error_of(await second.create_node(label=label, name="Acmeu"))
    assert "exists already" in again


async def test_doctor_reports_the_constraints_and_the_migration_replaces_them_once(
    old: KnowledgeGraph,
) -> None:
    earlier = {str(part.earlier_name) for part in unique_parts(old)}
    present = {part.name for part in unique_parts(old)}
    assert await constraints(old) == earlier | present
    [finding] = problems(await old.diagnose())
    assert (finding.severity, finding.fix) == ("warning", "kgagent migrate")
    assert all(name in finding.message for name in earlier)
    assert "allows each key only once among all users" in finding.message
    await old.migrate(dry_run=True)
    assert await constraints(old) == earlier | present
    for _ in range(2):
        await old.migrate()
        assert await constraints(old) == present
    assert (await old.diagnose()).is_healthy


async def test_the_new_constraint_is_online_before_the_old_one_is_dropped(
    old: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = services_of(old).store
    for part in unique_parts(old):
        await store.run_schema(f"DROP CONSTRAINT {Identifier(part.name)}")
    run, dropped = store.run_schema, list[str]()

    async def watched(text: str) -> list[dict[str, Any]]:
        if text.startswith("DROP CONSTRAINT"):
            dropped.append(text)
            rows = await run("SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")
            assert {part.name for part in unique_parts(old)} <= {row["name"] for row in rows}
        return await run(text)

    monkeypatch.setattr(store, "run_schema", watched)
    await old.migrate()
    assert len(dropped) == len(unique_parts(old))


async def answered(call: Callable[[], Awaitable[Payload]]) -> Payload:
    """What a tool answers; it is called again if Neo4j stopped its statement, which was planned
    during the change.
    """
    while "stopped the statement" in (payload := await call()).get("error", ""):
        pass
    return payload


async def test_a_change_that_waits_for_a_running_statement_is_stopped_and_lets_others_write(
    old: KnowledgeGraph, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_module, "CHANGE_TIMEOUT", 0.3)
    monkeypatch.setattr(schema_module, "ATTEMPTS", 2)
    [label], before = unique_parts(old)[0].covers, await constraints(old)
    driver = AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password))
    async with driver, driver.session() as session, await session.begin_transaction() as running:
        await (await running.run(f"CREATE (:{Identifier(label)})")).consume()
        with pytest.raises(
            StoreError, match=r"stopped 2 times after 0\.3 seconds, .*: DROP CONSTRAINT"
        ):
            await services_of(old).schema.drop_replaced_constraints()
        await node(old.tools(user_id=FIRST), label, "acme")
    assert await constraints(old) == before


async def test_tools_write_while_the_constraints_are_replaced(old: KnowledgeGraph) -> None:
    label, done = labels(old)[0], asyncio.Event()
    relationship_type = next(iter(old.ontology.relationships))
    made = dict.fromkeys((FIRST, SECOND), 0)

    async def write(user: str) -> None:
        tools, before = old.tools(user_id=user), ""
        while not done.is_set() or made[user] < 5:
            made[user] += 1
            create = partial(tools.create_node, label=label, name=str(made[user]))
            answers = await asyncio.gather(*(answered(create) for _ in range(2)))
            assert sorted(answer["success"] for answer in answers) == [False, True], answers
            key = next(answer["entity_key"] for answer in answers if answer["success"])
            if before:
                ends = {"from_entity_key": before, "to_entity_key": key}
                connect = partial(
                    tools.create_relationship, **ends, relationship_type=relationship_type
                )
                succeeded(await answered(connect))
            before = key

    async def replace() -> None:
        for _ in range(3):
            await asyncio.gather(old.migrate(), old.migrate())
            for part in unique_parts(old):
                await make_earlier_form(old, part)
        await asyncio.gather(old.migrate(), old.migrate())
        done.set()

    await asyncio.gather(write(FIRST), write(SECOND), replace())
    for user in (FIRST, SECOND):
        assert len(await nodes_of(old, user)) == made[user]
        assert len(await relationships_of(old, user)) == made[user] - 1
    assert await constraints(old) == {part.name for part in unique_parts(old)}


async def test_a_constraint_of_another_program_stays_and_is_reported_with_the_statement_that_drops_it(
    old: KnowledgeGraph,
) -> None:
    await old.migrate()
    part = unique_parts(old)[0]
    name = f"mine_{part.covers[0]}"
    await make_earlier_form(old, part, name)
    await old.migrate()
    assert name in await constraints(old)
    [finding] = problems(await old.diagnose())
    assert finding.severity == "warning"
    assert finding.fix == f"DROP CONSTRAINT `{name}`, unless another program needs it"
    await services_of(old).store.run_schema(f"DROP CONSTRAINT {Identifier(name)}")
