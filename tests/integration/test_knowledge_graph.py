"""Opening a graph, from asynchronous and from synchronous code."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from kgagent import ExploreRequest, KnowledgeGraph, Settings, SyncKnowledgeGraph, VectorQuery
from kgagent.adapters.mcp import HttpOptions
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError, StoreError
from kgagent.knowledge_graph import services_of
from kgagent.models import FindPathsRequest, HybridSearchRequest, TraverseRequest
from kgagent.models.pattern_query import GraphQuery
from kgagent.models.request import RequestModel
from kgagent.validation import MAX_USER_ID

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.neo4j_5


async def test_a_graph_can_be_awaited_instead_of_entered(settings: Settings) -> None:
    graph = await KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384))
    assert (await services_of(graph).store.read("RETURN 1 AS one", {})) == [{"one": 1}]
    await graph.close()


async def test_a_wrong_password_says_which_settings_to_look_at(settings: Settings) -> None:
    wrong = settings.model_copy(update={"neo4j_password": SecretStr("wrong")})
    with pytest.raises(
        StoreError, match="refused the login: check NEO4J_USERNAME and NEO4J_PASSWORD"
    ) as caught:
        await KnowledgeGraph.connect(settings=wrong, embedder=HashingEmbedder(384))
    assert "'wrong'" not in str(caught.value)


async def test_an_address_where_nothing_listens_is_named(settings: Settings) -> None:
    with pytest.raises(StoreError, match=r"bolt://127\.0\.0\.1:1 cannot be used"):
        await KnowledgeGraph.connect(
            "bolt://127.0.0.1:1", settings=settings, embedder=HashingEmbedder(384)
        )


async def test_an_address_of_no_known_form_is_named(settings: Settings) -> None:
    with pytest.raises(StoreError, match="'localhost:7687' is not the address of a Neo4j server"):
        await KnowledgeGraph.connect(
            "localhost:7687", settings=settings, embedder=HashingEmbedder(384)
        )


def test_synchronous_code_writes_and_searches(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        tools = graph.tools(user_id=user_id)
        ada, grace = (
            tools.create_node(label="Person", name=name)["entity_key"] for name in ("Ada", "Grace")
        )
        created = tools.create_relationship(
            from_entity_key=ada,
            to_entity_key=grace,
            relationship_type="mentor",
            description="Ada guided Grace",
        )
        assert created["success"] is True
        [match] = graph.retrieval.relationship_vector_search("mentor", 0.1, user_id=user_id)
        assert match.from_name == "Ada"
        assert (
            graph.retrieval.node_vector_search("Ada", 0.1, user_id=user_id)[0].node.entity_key
            == ada
        )
        discovered = graph.retrieval.find_nodes_via_relationship_search(
            "mentor", 0.1, user_id=user_id
        )
        assert {node.name for node in discovered.nodes} == {"Ada", "Grace"}
        assert [hit.node.name for hit in graph.retrieval.text_match("grac", user_id=user_id)] == [
            "Grace"
        ]
        assert [
            node.name for node in graph.retrieval.expand_graph([ada], user_id=user_id).neighbors
        ] == ["Grace"]
        request = ExploreRequest(queries=(VectorQuery(query="mentor", threshold=0.1),))
        assert len(graph.retrieval.explore(request, user_id=user_id).nodes) == 2
        schema = graph.live_schema(user_id=user_id, refresh=True)
        assert [(label.name, label.count) for label in schema.labels] == [("Person", 2)]
        assert graph.live_schema(user_id=user_id) is schema
        assert "success" in tools.explore.call_text('{"text_matches": ["ada"]}').payload


def test_synchronous_errors_come_out_as_they_are(settings: Settings) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        with pytest.raises(InputError, match="user_id must not be empty"):
            graph.retrieval.relationship_vector_search("mentor", user_id="")
        with pytest.raises(AttributeError, match="No tool is called 'expolre'"):
            _ = graph.tools(user_id="u").expolre


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("", "must not be empty"),
        (5, "must be text, got int"),
        (["u"], "must be text"),
        ("u" * 1_001, "at most 1,000"),
    ],
)
async def test_a_user_id_that_no_record_can_have_is_refused(
    graph: KnowledgeGraph, wrong: Any, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        graph.tools(user_id=wrong)
    with pytest.raises(InputError, match=problem):
        HttpOptions(user_id=wrong)
    for operation in (
        partial(graph.search, "Ada"),
        graph.forget,
        graph.migrate,
        graph.diagnose,
        graph.purge,
    ):
        with pytest.raises(InputError, match=problem):
            await operation(user_id=wrong)


def test_the_longest_user_id_can_be_stored(settings: Settings) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        tools = graph.tools(user_id="\U0001f41d" * MAX_USER_ID)
        for label in ("Person", "Entity"):
            assert tools.create_node(label=label, name="Ada")["success"]


def test_another_event_loop_is_refused_in_every_operation(
    settings: Settings, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "load.jsonl"
    file.write_text('{"kind": "node", "label": "Person", "name": "Ada"}')

    async def opened() -> KnowledgeGraph:
        return await KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384))

    async def refused(graph: KnowledgeGraph) -> None:
        operations: list[Callable[[], Awaitable[object]]] = [
            lambda: graph.search("Ada", user_id=user_id),
            lambda: graph.explore("Ada", user_id=user_id),
            lambda: graph.traverse(TraverseRequest(entity_key="a"), user_id=user_id),
            lambda: graph.find_paths(
                FindPathsRequest(from_entity_key="a", to_entity_key="b"), user_id=user_id
            ),
            lambda: graph.query_patterns(GraphQuery(query="Ada"), user_id=user_id),
            lambda: graph.retrieval.relationship_vector_search("Ada", user_id=user_id),
            lambda: graph.searcher("hybrid", user_id=user_id).search("Ada"),
            lambda: graph.load(file, user_id=user_id),
            lambda: graph.export(tmp_path / "export.jsonl", user_id=user_id),
            lambda: graph.migrate(user_id=user_id),
            lambda: graph.purge(user_id=user_id),
            lambda: graph.forget(user_id=user_id),
            lambda: graph.diagnose(user_id=user_id),
            lambda: graph.live_schema(user_id=user_id),
            lambda: graph.use_bookmarks([]),
            graph.bookmarks,
            graph.close,
        ]
        for operation in operations:
            with pytest.raises(ConfigurationError, match="opened on another event loop"):
                await operation()
        tools = graph.tools(user_id=user_id)
        for answer in (
            await tools.hybrid_search(query="Ada"),
            await tools.create_node(label="Person", name="Ada"),
        ):
            assert "opened on another event loop" in answer["error"]

    with asyncio.Runner() as runner:
        graph = runner.run(opened())
        asyncio.run(refused(graph))
        runner.run(graph.close())


def test_closing_twice_is_no_error(settings: Settings) -> None:
    graph = SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384))
    graph.close()
    graph.close()


async def test_the_facade_offers_each_operation(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "people.jsonl"
    lines = [
        {"kind": "node", "id": "ada", "label": "Person", "name": "Ada"},
        {"kind": "node", "id": "grace", "label": "Person", "name": "Grace"},
        {
            "kind": "relationship",
            "from": "ada",
            "to": "grace",
            "relationship_type": "mentor",
            "description": "taught",
        },
    ]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    report = await graph.load(str(file), user_id=user_id)
    assert (report.nodes.created, report.relationships.created, report.problems) == (2, 1, ())

    request = HybridSearchRequest(query="mentor", threshold=0.1)
    assert [
        item.triplet_text
        for item in (await graph.search(request, user_id=user_id)).relationships or ()
    ] == ["Ada mentor Grace"]
    assert {item.name for item in (await graph.search("Ada", user_id=user_id)).objects} >= {"Ada"}
    explored = await graph.explore(ExploreRequest(text_matches=("ada",)), user_id=user_id)
    ada = explored.nodes[0].node
    assert ada.name == "Ada"
    assert (await graph.explore("Ada", user_id=user_id)).nodes[0].node.entity_key == ada.entity_key

    traversed = await graph.traverse(TraverseRequest(entity_key=ada.entity_key), user_id=user_id)
    [grace] = [hit.node for hit in traversed.reached if hit.node.name == "Grace"]
    ends = FindPathsRequest(from_entity_key=ada.entity_key, to_entity_key=grace.entity_key)
    assert len((await graph.find_paths(ends, user_id=user_id)).paths) == 1
    assert (await graph.diagnose(user_id=user_id, check_embedder=True)).facts.nodes == 2
    assert (await graph.migrate(user_id=user_id)).total.embedded == 0
    assert [label.count for label in (await graph.live_schema(user_id=user_id)).labels] == [2]


async def test_a_bad_request_is_an_input_error_that_names_the_field(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with pytest.raises(InputError, match="limit must be at most 100, got 1000"):
        await graph.search(HybridSearchRequest(query="x", limit=1_000), user_id=user_id)
    with pytest.raises(InputError, match="queries or text_matches"):
        await graph.explore("", user_id=user_id)


async def test_a_bad_day_is_an_input_error_wherever_one_is_given(
    graph: KnowledgeGraph, user_id: str
) -> None:
    single = graph.retrieval
    operations: dict[Any, str] = {
        graph.search: "as_of",
        graph.explore: "between",
        graph.traverse: "known_as_of",
        partial(graph.find_paths, to_entity_key="y"): "as_of",
        graph.query_patterns: "as_of",
        single.relationship_vector_search: "as_of",
        single.find_nodes_via_relationship_search: "between",
        single.expand_graph: "as_of",
        single.timeline: "between",
    }
    for operation, field in operations.items():
        for bad in ("soon", "2021/2020"):
            with pytest.raises(InputError, match=r"must be a date|must not end"):
                await operation("x", user_id=user_id, **{field: bad})


async def test_something_else_than_a_request_is_an_input_error(
    graph: KnowledgeGraph, user_id: str
) -> None:
    wrong: Any = {"query": "boats"}
    accepted: dict[Any, str] = {
        graph.search: "HybridSearchRequest",
        graph.explore: "ExploreRequest",
        graph.traverse: "TraverseRequest",
        graph.find_paths: "FindPathsRequest",
        graph.query_patterns: "GraphQuery",
    }
    for operation, model in accepted.items():
        with pytest.raises(InputError, match=f"Give one {model}, or its fields as .*, got dict"):
            await operation(wrong, user_id=user_id)
    number: Any = 3
    with pytest.raises(InputError, match="vector must be a sequence of 384 numbers, got int"):
        await graph.search("boats", user_id=user_id, vector=number)


async def test_the_fields_of_a_request_are_arguments(graph: KnowledgeGraph, user_id: str) -> None:
    await _write_two_jobs(graph, user_id)
    then = await graph.search("who taught Ada?", user_id=user_id, as_of="2019", labels=["Person"])
    assert [item.triplet_text for item in then.relationships or ()] == ["Grace mentor Ada"]
    found = await graph.search("Ada", user_id=user_id, limit=1, search_relationships=False)
    assert (len(found.items), found.relationships) == (1, None)
    explored = await graph.explore(
        "boats", user_id=user_id, text_matches=["grace", "ada"], as_of="2019"
    )
    by_name = {item.node.name: item.node.entity_key for item in explored.nodes}
    ada, grace = by_name["Ada"], by_name["Grace"]
    [around] = (await graph.traverse(grace, user_id=user_id, hops=1)).reached
    ends = {"from_entity_key": ada, "to_entity_key": grace}
    [path] = (await graph.find_paths(user_id=user_id, **ends)).paths
    step = {"source_label": "Person", "target_label": "Person"}
    step["relation_type"] = "has_relationship_with"
    matched = await graph.query_patterns(user_id=user_id, patterns=[{"steps": [step]}])
    assert (around.node.name, path.text, len(matched.paths)) == ("Ada", "Grace mentor Ada", 2)

    for call in (graph.search, graph.explore, graph.traverse, graph.query_patterns):
        with pytest.raises(InputError, match="limits"):
            await call("Ada", user_id=user_id, limits=3)
    with pytest.raises(InputError, match="Give limit as fields of the HybridSearchRequest"):
        await graph.search(HybridSearchRequest(query="Ada"), user_id=user_id, limit=3)


async def _write_two_jobs(graph: KnowledgeGraph, user_id: str) -> None:
    """Two people taught Ada, one after the other."""
    tools = graph.tools(user_id=user_id)
    for name in ("Ada", "Grace", "Mary"):
        assert (await tools.create_node(label="Person", name=name))["success"]
    for name, when in (("Grace", "2018/2020"), ("Mary", "2021/2023")):
        answer = await tools.create_relationship(
            from_entity_key=name,
            to_entity_key="Ada",
            relationship_type="mentor",
            description=f"{name} taught Ada",
            when=when,
        )
        assert answer["success"], answer


@pytest.mark.parametrize("model", [HybridSearchRequest, ExploreRequest])
@pytest.mark.parametrize("field", ["labels", "relationship_types", "neo4j_types"])
def test_a_filter_has_a_maximum_length(model: type[RequestModel], field: str) -> None:
    with pytest.raises(InputError, match=field):
        model(**{field: ["x"] * 10_001})
