"""Opening and closing a graph: what may be given, what excludes what, and what is closed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from neo4j import AsyncDriver, AsyncGraphDatabase, GraphDatabase, basic_auth
from neo4j.auth_management import AsyncAuthManagers

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.blocking import unwrap
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError, SchemaError, StoreError
from kgagent.observability import Recorder
from kgagent.observing import NULL_OBSERVER
from tests.conftest import DIMENSIONS, Server

if TYPE_CHECKING:
    from kgagent.graph.connection import Credentials


class CountingEmbedder(HashingEmbedder):
    """Counts how often it is closed."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        super().__init__(dimensions)
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture
async def driver(server: Server) -> AsyncIterator[AsyncDriver]:
    async with AsyncGraphDatabase.driver(
        server.uri, auth=(server.username, server.password)
    ) as opened:
        yield opened


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> CountingEmbedder:
    """The embedder that the settings lead to."""
    embedder = CountingEmbedder()
    monkeypatch.setattr("kgagent.knowledge_graph.make_embedder", lambda *_args, **_kwargs: embedder)
    return embedder


async def test_a_given_driver_is_used_and_stays_open(
    driver: AsyncDriver, embedder: Embedder, user_id: str
) -> None:
    async with KnowledgeGraph.connect(driver=driver, embedder=embedder) as graph:
        created = await graph.tools(user_id=user_id).create_node(label="Person", name="Ada")
    found = await driver.execute_query(
        "MATCH (n:Person {entity_key: $key}) RETURN n.name AS name", key=created["entity_key"]
    )
    assert [record["name"] for record in found.records] == ["Ada"]


async def test_statements_of_a_given_driver_name_its_server(
    driver: AsyncDriver, server: Server, embedder: Embedder
) -> None:
    recorder = Recorder()
    async with KnowledgeGraph.connect(driver=driver, embedder=embedder, observer=recorder):
        pass
    assert {statement.uri for statement in recorder.statements} == {server.uri}


@pytest.mark.parametrize(
    "more",
    [
        {"uri": "bolt://127.0.0.1:1"},
        {"username": "neo4j"},
        {"password": "secret"},
        {"auth": ("neo4j", "secret")},
        {"driver_options": {}},
    ],
    ids=lambda more: next(iter(more)),
)
async def test_a_driver_excludes_what_a_driver_is_made_of(
    driver: AsyncDriver, more: dict[str, Any]
) -> None:
    [name] = more
    with pytest.raises(InputError, match=f"omit {name}") as caught:
        await KnowledgeGraph.connect(driver=driver, **more)
    assert "secret" not in str(caught.value)


async def test_auth_excludes_username_and_password() -> None:
    with pytest.raises(
        InputError, match="auth replaces username and password: omit password and username"
    ):
        await KnowledgeGraph.connect(
            "bolt://127.0.0.1:1", auth=("a", "b"), username="a", password="b"
        )


async def test_auth_needs_a_server() -> None:
    with pytest.raises(InputError, match="auth needs a server"):
        await KnowledgeGraph.connect(
            settings=Settings(_env_file=None, neo4j_uri=None), auth=("a", "b")
        )


@pytest.mark.parametrize("kind", ["object", "manager", "pair"])
async def test_auth_objects_reach_the_driver(
    kind: str, server: Server, settings: Settings, embedder: Embedder, user_id: str
) -> None:
    pair = (server.username, server.password)
    kinds: dict[str, Credentials] = {
        "object": basic_auth(*pair),
        "manager": AsyncAuthManagers.static(pair),
        "pair": pair,
    }
    auth = kinds[kind]
    without = settings.model_copy(update={"neo4j_password": None})
    async with KnowledgeGraph.connect(
        server.uri, auth=auth, settings=without, embedder=embedder
    ) as graph:
        assert len(await graph.retrieval.text_match("ada", user_id=user_id)) == 0


async def test_driver_options_reach_the_driver(settings: Settings, embedder: Embedder) -> None:
    options = {"user_agent": "the-test", "max_connection_pool_size": 3}
    async with KnowledgeGraph.connect(
        settings=settings, embedder=embedder, driver_options=options
    ) as graph:
        del graph
    with pytest.raises(
        ConfigurationError, match="The Neo4j driver cannot be set up: Unexpected config keys: pool"
    ):
        await KnowledgeGraph.connect(
            settings=settings, embedder=embedder, driver_options={"pool": 3}
        )
    with pytest.raises(InputError, match="Give auth as an argument of its own"):
        await KnowledgeGraph.connect(settings=settings, driver_options={"auth": ("a", "b")})


async def test_an_ontology_may_be_a_path_as_text(
    settings: Settings, embedder: Embedder, tmp_path: Path
) -> None:
    file = tmp_path / "ontology.yaml"
    text = (Path(__file__).parents[2] / "src/kgagent/ontology/default.yaml").read_text("utf-8")
    file.write_text(text, "utf-8")
    async with KnowledgeGraph.connect(
        settings=settings, embedder=embedder, ontology=str(file)
    ) as graph:
        assert "Person" in graph.ontology.labels


async def test_a_missing_ontology_given_as_text_is_named(
    settings: Settings, embedder: Embedder
) -> None:
    with pytest.raises(ConfigurationError, match=r"Ontology none\.yaml cannot be read"):
        await KnowledgeGraph.connect(settings=settings, embedder=embedder, ontology="none.yaml")


@pytest.mark.parametrize("query_cache_size", [0, 8])
@pytest.mark.parametrize("observed", [False, True])
async def test_closing_closes_the_embedder_of_the_settings_once(
    settings: Settings, made: CountingEmbedder, query_cache_size: int, *, observed: bool
) -> None:
    chosen = settings.model_copy(update={"query_cache_size": query_cache_size})
    async with KnowledgeGraph.connect(
        settings=chosen, observer=Recorder() if observed else NULL_OBSERVER
    ) as graph:
        assert made.closed == 0
    assert made.closed == 1
    await graph.close()
    assert made.closed == 1


async def test_closing_leaves_a_given_embedder_open(settings: Settings) -> None:
    embedder = CountingEmbedder()
    async with KnowledgeGraph.connect(settings=settings, embedder=embedder):
        pass
    assert embedder.closed == 0


async def test_a_schema_that_does_not_fit_closes_the_embedder(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with KnowledgeGraph.connect(settings=settings, embedder=embedder):
        pass
    other = CountingEmbedder(DIMENSIONS + 1)
    monkeypatch.setattr("kgagent.knowledge_graph.make_embedder", lambda *_args, **_kwargs: other)
    with pytest.raises(SchemaError):
        await KnowledgeGraph.connect(settings=settings)
    assert other.closed == 1


def test_a_synchronous_graph_uses_a_given_driver_too(
    server: Server, embedder: Embedder, user_id: str
) -> None:
    driver = AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password))
    with SyncKnowledgeGraph.connect(driver=driver, embedder=embedder) as graph:
        created = graph.tools(user_id=user_id).create_node(label="Person", name="Ada")
        assert created["success"] is True
        [match] = graph.explore("Ada", user_id=user_id).nodes
        assert match.node.entity_key == created["entity_key"]
        unwrapped, portal = unwrap(graph)
        assert unwrapped is graph.graph
        portal.call(driver.close)


async def test_a_driver_of_another_kind_is_refused(server: Server) -> None:
    blocking = GraphDatabase.driver(server.uri, auth=(server.username, server.password))
    with blocking, pytest.raises(InputError, match=r"driver must be a neo4j\.AsyncDriver, got"):
        await KnowledgeGraph.connect(driver=blocking)  # type: ignore[arg-type]


def test_a_synchronous_graph_says_that_it_is_closed(
    settings: Settings, embedder: Embedder, user_id: str
) -> None:
    graph = SyncKnowledgeGraph.connect(settings=settings, embedder=embedder)
    graph.close()
    with pytest.raises(StoreError, match="The graph is closed"):
        graph.search("boats", user_id=user_id)


async def test_a_routing_address_leads_to_a_single_server_too(
    settings: Settings, user_id: str
) -> None:
    routed = settings.model_copy(
        update={"neo4j_uri": str(settings.neo4j_uri).replace("bolt", "neo4j", 1)}
    )
    async with KnowledgeGraph.connect(
        settings=routed, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        tools = graph.tools(user_id=user_id)
        stored = await tools.remember(
            nodes=[{"label": "Concept", "name": "Kite", "notes": ["It is red"]}]
        )
        assert stored["success"]
        found = await tools.hybrid_search(query="red kite")
    assert [node["name"] for node in found["objects"]] == ["Kite"]


async def test_a_graph_that_is_not_awaited_says_so(settings: Settings) -> None:
    connecting: Any = KnowledgeGraph.connect(settings=settings)
    with pytest.raises(AttributeError, match="no 'tools': write `graph = await KnowledgeGraph"):
        connecting.tools(user_id="me")
    assert not hasattr(connecting, "__len__")


async def test_an_unknown_database_is_an_error_that_names_the_setting(
    settings: Settings, embedder: Embedder
) -> None:
    with pytest.raises(
        StoreError, match=r"has no database of that name: .*nodb.* Check NEO4J_DATABASE$"
    ):
        await KnowledgeGraph.connect(settings=settings, embedder=embedder, database="nodb")
