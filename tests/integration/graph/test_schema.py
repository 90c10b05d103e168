import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from neo4j import AsyncGraphDatabase

from kgagent import KnowledgeGraph, Ontology, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConstraintViolationError, SchemaError, StoreError
from kgagent.graph import schema as schema_module
from kgagent.graph.connection import connect
from kgagent.graph.schema import Schema
from kgagent.graph.store import Store
from kgagent.graph.vector_index_options import VectorIndexOptions
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock, Server
from tests.support.embedders import WatchedEmbedder
from tests.support.graphs import connections
from tests.support.own_ontology import dropped_in_the_end, own_graph, own_ontology
from tests.support.payloads import error_of
from tests.support.people import node, two_friends

pytestmark = [pytest.mark.neo4j_5, pytest.mark.schema]

Row = dict[str, object]

CHOSEN = VectorIndexOptions("none", m=24, ef_construction=150, search_expansion=8.0)


async def schema_of(store: Store, part: str) -> list[Row]:
    rows = await store.run_schema(
        "SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties RETURN *"
    )
    return sorted((row for row in rows if part in row["name"]), key=lambda row: row["name"])


async def make_earlier_form(graph: KnowledgeGraph) -> None:
    """Put the text index of nodes back into a form that it had before."""
    await services_of(graph).store.run_schema("DROP INDEX kgagent_node_text")
    await services_of(graph).store.run_schema(
        f"CREATE FULLTEXT INDEX kgagent_node_text FOR (n:{'|'.join(graph.ontology.labels)}) "
        "ON EACH [n.name, n.description, n.notes]"
    )


async def ensure_with(
    graph: KnowledgeGraph,
    monkeypatch: pytest.MonkeyPatch,
    run_schema: Callable[[str], Awaitable[list[Row]]],
) -> None:
    """Complete the schema while its statements run by another function; nothing is wrong with it
    afterwards.
    """
    monkeypatch.setattr(services_of(graph).store, "run_schema", run_schema)
    await services_of(graph).schema.ensure()
    assert await services_of(graph).schema.problems() == []


@pytest.fixture
def label() -> str:
    return f"Ship{uuid.uuid4().hex}"


@pytest.fixture
def ontology(label: str) -> Ontology:
    return Ontology.model_validate(
        {
            "labels": {label: {}},
            "relationships": {
                f"sails_{label}": {
                    "from": label,
                    "to": label,
                    "attitude": list("abcde"),
                    "proximity": list("abcde"),
                }
            },
            "note_lifetimes_in_days": {"forever": None},
            "default_note_lifetime": "forever",
        }
    )


@pytest.fixture
async def own(opened: KnowledgeGraph, ontology: Ontology, label: str) -> AsyncIterator[Schema]:
    """A schema of labels and types of its own; what it makes is dropped afterwards."""
    yield own_parts(services_of(opened).store, ontology, label, 384)
    for kind, drop in (("CONSTRAINTS", "CONSTRAINT"), ("INDEXES", "INDEX")):
        for row in await services_of(opened).store.run_schema(
            f"SHOW {kind} YIELD name RETURN name"
        ):
            if label in row["name"]:
                await services_of(opened).store.run_schema(f"DROP {drop} `{row['name']}`")


def own_parts(
    store: Store,
    ontology: Ontology,
    label: str,
    dimensions: int,
    options: VectorIndexOptions = CHOSEN,
) -> Schema:
    schema = Schema(store, ontology, HashingEmbedder(dimensions), options)
    # The indexes on all labels and on all types have one name in a database: they stay those of the
    # other tests.
    schema.parts = [part for part in schema.parts if label in part.name]
    return schema


@pytest.mark.alone
async def test_the_schema_is_complete_and_online(opened: KnowledgeGraph) -> None:
    assert await services_of(opened).schema.problems() == []
    rows = await schema_of(services_of(opened).store, "kgagent_")
    assert {row["state"] for row in rows} == {"ONLINE"}
    assert {part.name for part in services_of(opened).schema.parts} <= {row["name"] for row in rows}


async def test_ensuring_twice_changes_nothing(
    opened: KnowledgeGraph, own: Schema, label: str
) -> None:
    await own.ensure()
    made = await schema_of(services_of(opened).store, label)
    assert len(made) == len(own.parts)
    await own.ensure()
    assert await schema_of(services_of(opened).store, label) == made


async def test_the_schema_can_be_ensured_concurrently(
    settings: Settings,
    opened: KnowledgeGraph,
    own: Schema,
    ontology: Ontology,
    label: str,
    clock: Clock,
) -> None:
    async with connections(
        4, settings=settings, embedder=HashingEmbedder(384), clock=clock
    ) as graphs:
        schemas = [own_parts(services_of(graph).store, ontology, label, 384) for graph in graphs]
        await asyncio.gather(*(schema.ensure() for schema in schemas))
    assert len(await schema_of(services_of(opened).store, label)) == len(own.parts)
    assert await own.problems() == []


async def test_a_mismatch_in_dimensions_is_reported_with_both_lengths_and_the_command(
    settings: Settings,
) -> None:
    with pytest.raises(SchemaError) as refused:
        async with KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(64)):
            pass
    said = str(refused.value)
    assert "kgagent_Person_embedding" in said
    assert (
        "made for embeddings of length 384, but hashing blake2b-words, 64 dimensions makes 64"
        in said
    )
    assert "Fix: set KGAGENT_EMBEDDER=local for embeddings of length 384; " in said
    assert said.endswith("or, to embed everything again, kgagent migrate --rebuild-indexes")


async def test_rebuilding_fits_the_vector_indexes_to_another_embedder(
    opened: KnowledgeGraph, own: Schema, ontology: Ontology, label: str
) -> None:
    await own.ensure()
    shorter = own_parts(services_of(opened).store, ontology, label, 64)
    with pytest.raises(
        SchemaError, match=rf"kgagent_{label}_embedding.*: made for embeddings of length 384"
    ):
        await shorter.ensure()
    await shorter.rebuild_vector_indexes()
    assert await shorter.problems() == []
    assert len(await own.problems()) == 1


async def test_indexes_with_other_options_work_and_are_reported(
    opened: KnowledgeGraph, own: Schema, ontology: Ontology, label: str
) -> None:
    await own.ensure()
    other = own_parts(
        services_of(opened).store,
        ontology,
        label,
        384,
        dataclasses.replace(CHOSEN, m=8, quantization="binary"),
    )
    await other.ensure()
    assert await other.problems() == []
    [different] = await other.differing_options()
    assert f"kgagent_{label}_embedding" in different.names
    assert "vector.hnsw.m is 24, not 8" in different.what
    assert "vector.quantization" in different.what
    await other.rebuild_vector_indexes()
    assert await other.differing_options() == []


async def test_an_index_with_another_name_is_used_as_well(
    opened: KnowledgeGraph, own: Schema, label: str
) -> None:
    await services_of(opened).store.run_schema(
        f"CREATE INDEX mine_{label} FOR (n:{label}) ON (n.user_id)"
    )
    await services_of(opened).store.run_schema(
        f"CREATE CONSTRAINT unique_{label} FOR (n:{label}) REQUIRE (n.user_id, n.entity_key) IS "
        f"UNIQUE"
    )
    await own.ensure()
    assert await own.problems() == []


async def test_an_index_whose_constraint_was_never_created_is_replaced(
    opened: KnowledgeGraph, own: Schema, label: str
) -> None:
    """As the server leaves it that crashed between the two."""
    await own.ensure()
    name = f"kgagent_{label}_unique"
    await services_of(opened).store.run_schema(f"DROP CONSTRAINT {name}")
    await services_of(opened).store.run_schema(
        f"CREATE INDEX {name} FOR (n:{label}) ON (n.user_id, n.entity_key)"
    )
    await services_of(opened).store.run_schema(f"CALL db.awaitIndex('{name}')")
    [problem] = await own.problems()
    assert problem.names == (name,)
    assert problem.fix == "kgagent init"
    await asyncio.gather(*(own.ensure() for _ in range(3)))
    assert await own.problems() == []
    twins = f"UNWIND [1, 2] AS i CREATE (:{label} {{user_id: 'one', entity_key: 'twin'}})"
    with pytest.raises(ConstraintViolationError):
        await services_of(opened).store.write(twins, {})


async def test_data_that_violates_a_constraint_is_reported(
    opened: KnowledgeGraph, own: Schema, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_module, "ATTEMPTS", 2)
    await services_of(opened).store.write(
        f"UNWIND [1, 2] AS i CREATE (:{label} {{user_id: 'one', entity_key: 'twin'}})", {}
    )
    try:
        with pytest.raises(
            SchemaError, match=rf"kgagent_{label}_unique cannot be created: (?s:.*)`kgagent doctor`"
        ):
            await own.ensure()
    finally:
        await services_of(opened).store.write(f"MATCH (n:{label}) DELETE n", {})


async def test_a_change_that_waits_for_a_running_statement_is_stopped(
    opened: KnowledgeGraph,
    own: Schema,
    label: str,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await own.ensure()
    monkeypatch.setattr(schema_module, "CHANGE_TIMEOUT", 0.3)
    monkeypatch.setattr(schema_module, "ATTEMPTS", 2)
    before = await schema_of(services_of(opened).store, label)
    driver = AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password))
    async with driver, driver.session() as session, await session.begin_transaction() as running:
        await (await running.run(f"CREATE (:{label})")).consume()
        with pytest.raises(StoreError, match=r"stopped 2 times after 0\.3 seconds, .*: DROP INDEX"):
            await own.rebuild_vector_indexes()
    assert await schema_of(services_of(opened).store, label) == before


async def test_a_constraint_of_another_program_that_refuses_a_write_is_named_at_once(
    settings: Settings, embedder: WatchedEmbedder, clock: Clock
) -> None:
    keyed = own_ontology(key="sha256:${lower_name}${user_id}")
    [label, *_] = keyed.labels
    name = f"mine_{label}"
    async with (
        dropped_in_the_end(settings, keyed),
        own_graph(settings, embedder, clock, keyed) as graph,
    ):
        store = services_of(graph).store
        await store.run_schema(
            f"CREATE CONSTRAINT {name} FOR (n:{label}) REQUIRE n.entity_key IS UNIQUE"
        )
        # The name and the id of both users together are the same text.
        second = f"visitor-{uuid.uuid4()}"
        await node(graph.tools(user_id=f"u{second}"), label, "acme", "secret")
        refused = await graph.tools(user_id=second).create_node(label=label, name="acmeu")
        await store.run_schema(f"DROP CONSTRAINT {name}")
        assert "violates a uniqueness constraint" in error_of(refused)
        assert "`entity_key`" in error_of(refused)
        assert "secret" not in error_of(refused)


async def test_an_unreachable_server_is_named() -> None:
    with pytest.raises(StoreError, match=r"Neo4j at bolt://127\.0\.0\.1:1 cannot be used"):
        await connect("bolt://127.0.0.1:1", username="neo4j", password="x")
    with pytest.raises(StoreError, match="'ftp://x' is not the address of a Neo4j server"):
        await connect("ftp://x", username="neo4j", password="x")


@pytest.mark.alone
async def test_a_text_index_of_an_earlier_form_is_recreated(opened: KnowledgeGraph) -> None:
    before = await schema_of(services_of(opened).store, "kgagent_node_text")
    await make_earlier_form(opened)
    [problem] = await services_of(opened).schema.problems()
    assert "['name', 'description', 'notes'] instead of" in str(problem)
    assert problem.fix == "kgagent init"
    await asyncio.gather(*(services_of(opened).schema.ensure() for _ in range(3)))
    assert await services_of(opened).schema.problems() == []
    [after] = await schema_of(services_of(opened).store, "kgagent_node_text")
    assert {key: after[key] for key in ("properties", "labelsOrTypes")} == {
        key: before[0][key] for key in ("properties", "labelsOrTypes")
    }


@pytest.mark.alone
async def test_indexes_of_an_ontology_with_fewer_types_are_replaced_when_a_graph_is_opened(
    settings: Settings, opened: KnowledgeGraph, embedder: HashingEmbedder, user_id: str
) -> None:
    store, ontology = services_of(opened).store, opened.ontology
    await two_friends(opened.tools(user_id=user_id))
    fewer = {
        name: kind for name, kind in ontology.relationships.items() if kind.pairs[0][1] != "Source"
    }
    earlier = Schema(store, ontology.model_copy(update={"relationships": fewer}), embedder, CHOSEN)
    earlier.parts = [
        part for part in earlier.parts if part.is_searched and len(part.covers) == len(fewer)
    ]
    await earlier.rebuild_vector_indexes()
    assert await services_of(opened).schema.problems() != []
    with pytest.raises(
        SchemaError, match="makes 64"
    ):  # whose indexes would lack the stored embeddings
        await Schema(store, ontology, HashingEmbedder(64), CHOSEN).ensure()
    earlier.parts = [part for part in earlier.parts if part.is_vector]
    assert await earlier.problems() == []
    asking_indexes = settings.model_copy(update={"exact_scan_limit": 0})
    async with KnowledgeGraph.connect(settings=asking_indexes, embedder=embedder) as graph:
        assert await services_of(graph).schema.problems() == []
        [found] = await graph.retrieval.relationship_vector_search("friend", 0.5, user_id=user_id)
        assert found.relationship_type == "friend"


@pytest.mark.alone
@pytest.mark.parametrize("is_replaced", [False, True])
async def test_an_index_that_another_process_drops_while_it_is_awaited_is_created_again(
    opened: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    await make_earlier_form(opened)
    run, created, dropped = services_of(opened).store.run_schema, list[str](), list[str]()

    async def dropping(text: str) -> list[Row]:
        if text.startswith("CREATE"):
            created.append(text)
        if dropped or not text.startswith("CALL db.awaitIndex('kgagent_node_text'"):
            rows = await run(text)
            # Such a small index is online at once.
            return [
                row | {"state": "POPULATING"} if not dropped and "state" in row else row
                for row in rows
            ]
        dropped.append(text)
        await run("DROP INDEX kgagent_node_text")
        try:
            return await run(text)
        finally:
            if is_replaced:
                await run(created[0])

    await ensure_with(opened, monkeypatch, dropping)
    assert dropped


@pytest.mark.alone
async def test_a_deadlock_with_another_process_that_changes_the_schema_is_no_error(
    opened: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_earlier_form(opened)
    run, failed = services_of(opened).store.run_schema, list[str]()

    async def deadlocked(text: str) -> list[Row]:
        kind = text.split(maxsplit=1)[0]
        if kind in {"DROP", "CREATE"} and kind not in failed:
            failed.append(kind)
            raise StoreError("deadlock detected")
        return await run(text)

    await ensure_with(opened, monkeypatch, deadlocked)
    assert failed == ["DROP", "CREATE"]


@pytest.mark.alone
async def test_a_text_index_of_another_ontology_is_left_alone(
    opened: KnowledgeGraph, ontology: Ontology
) -> None:
    before = await schema_of(services_of(opened).store, "kgagent_node_text")
    other = Schema(services_of(opened).store, ontology, HashingEmbedder(384), CHOSEN)
    other.parts = [part for part in other.parts if part.kind == "text"]
    with pytest.raises(
        SchemaError, match=r"kgagent_node_text: made for another ontology.*--rebuild-indexes"
    ):
        await other.ensure()
    assert await schema_of(services_of(opened).store, "kgagent_node_text") == before
