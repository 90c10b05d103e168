"""Items that LangGraph stores: what is written is read again, found and forgotten."""

import asyncio
import math
from collections.abc import Iterable
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, Op, PutOp, SearchOp

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.adapters.langgraph import KnowledgeGraphStore
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError
from tests.conftest import Clock, Server
from tests.support.embedders import WatchedEmbedder
from tests.support.stored import cypher
from tests.support.transactions import watch

HOSTILE = [
    "'",
    '"',
    "`",
    "\\",
    "\\u0060",
    "}) DETACH DELETE n //",
    "$user_id",
    "«item»",
    "\n",
    "😀é",
    " ",
]


def keys(items: Iterable[Any]) -> list[str]:
    return [item.key for item in items]


@pytest.mark.neo4j_5
async def test_a_value_comes_back_as_it_was(store: KnowledgeGraphStore) -> None:
    value = {
        "text": "Prefers tea",
        "numbers": [0, -1, 2**80, 0.1, 1e300, 5e-324],
        "nested": {"a": {"b": [None, True, False, {}]}, "": "empty key"},
        "hostile": HOSTILE,
        "pair": (1, 2),
    }
    await store.aput(("memories",), "tea", value)
    item = await store.aget(("memories",), "tea")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (
        value | {"pair": [1, 2]},
        "tea",
        ("memories",),
    )
    assert [type(number) for number in item.value["numbers"]] == [
        int,
        int,
        int,
        float,
        float,
        float,
    ]


@pytest.mark.neo4j_5
async def test_hostile_keys_and_labels_are_only_text(store: KnowledgeGraphStore) -> None:
    for text in HOSTILE:
        await store.aput(("n", text), text, {"text": text})
    for text in HOSTILE:
        assert keys(await store.asearch(("n", text))) == [text]
        item = await store.aget(("n", text), text)
        assert item is not None
        assert (item.namespace, item.value) == (("n", text), {"text": text})
    assert await store.alist_namespaces(prefix=("n",)) == sorted(("n", text) for text in HOSTILE)


async def test_a_second_put_replaces_the_value_and_keeps_created_at(
    store: KnowledgeGraphStore, clock: Clock
) -> None:
    began = clock.now
    await store.aput(("memories",), "tea", {"text": "Prefers tea", "old": 1})
    clock.forward(hours=1)
    await store.aput(("memories",), "tea", {"text": "Prefers coffee"})
    item = await store.aget(("memories",), "tea")
    assert item is not None
    assert (item.value, item.created_at, item.updated_at) == (
        {"text": "Prefers coffee"},
        began,
        clock.now,
    )
    assert len(await store.asearch(())) == 1


async def test_a_deleted_item_leaves_nothing_behind(
    store: KnowledgeGraphStore, graph: KnowledgeGraph, user_id: str
) -> None:
    await store.aput(
        ("memories",), "tea", {"a": "Prefers tea", "b": "Dislikes milk"}, index=["a", "b"]
    )
    await store.adelete(("memories",), "tea")
    await store.adelete(("memories",), "was never there")
    assert await store.aget(("memories",), "tea") is None
    assert await store.alist_namespaces() == []
    assert await cypher(graph, "MATCH (n {user_id: $user}) RETURN n", user=user_id) == []


@pytest.mark.neo4j_5
async def test_a_query_ranks_items_by_their_nearest_text(store: KnowledgeGraphStore) -> None:
    await store.aput(("m",), "boat", {"text": "Owen lends his boat"})
    await store.aput(
        ("m",),
        "both",
        {"text": "Rain again", "more": ["the red kite", "the boat of Owen"]},
        ["more[*]"],
    )
    await store.aput(("m",), "kite", {"text": "A kite in the wind"}, ["text"])
    await store.aput(("m",), "hidden", {"text": "Owen lends his boat"}, index=False)
    found = await store.asearch(("m",), query="the boat of Owen")
    assert keys(found) == ["both", "boat", "kite", "hidden"]
    scores = [item.score for item in found]
    assert scores[0] == pytest.approx(1.0)
    assert scores[-1] is None
    assert all(score is not None and -1 <= score < 1 for score in scores[1:-1])


@pytest.mark.neo4j_5
async def test_the_index_finds_what_a_scan_finds(
    settings: Settings, graph: KnowledgeGraph, user_id: str
) -> None:
    store = KnowledgeGraphStore(graph, user_id=user_id, fields=["text"])
    words = ["boat", "kite", "hull", "rain", "mentor", "harbor", "winter", "sail"]
    texts = [
        f"{first} {second} {third}" for first in words for second in words for third in words[:3]
    ]
    puts: list[Op] = [
        PutOp(("m", "even" if number % 2 else "odd"), str(number), {"text": text})
        for number, text in enumerate(texts)
    ]
    await store.abatch(puts)
    own = settings.model_copy(update={"exact_scan_limit": 0})
    connecting = KnowledgeGraph.connect(
        settings=own, embedder=HashingEmbedder(384), ensure_schema=False
    )
    async with connecting as indexed:
        other = KnowledgeGraphStore(indexed, user_id=user_id)
        for query, prefix, offset in (
            ("boat kite", ("m",), 0),
            ("winter sail rain", ("m", "odd"), 5),
        ):
            expected = await store.asearch(prefix, query=query, limit=7, offset=offset)
            found = await other.asearch(prefix, query=query, limit=7, offset=offset)
            assert [item.score for item in found] == pytest.approx(
                [item.score for item in expected], abs=1e-6
            )
            assert {item.namespace[: len(prefix)] for item in found} == {prefix}
        await other.aput(("m", "rare"), "far", {"text": "nothing of the kind"})
        assert keys(await other.asearch(("m", "rare"), query="boat kite", limit=2)) == ["far"]
        assert len(await other.asearch(("m", "odd"), query="boat", limit=1_000)) == len(texts) // 2


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"n": 5, "day": "2026-03-01"}, True),
        ({"n": {"$gt": 4, "$lte": 5}, "missing": {"$ne": 5}}, True),
        ({"n": {"$ne": 5}}, False),
        ({"day": {"$lt": "2026-03-02"}, "missing": None}, True),
        ({"day": {"$gt": 4}}, False),
        ({"in": {"x": {"y": {"$gte": 2}}}}, True),
        ({"n": {"x": 1}}, False),
        ({"tags": ["a", {"b": {"$eq": 1}}]}, True),
        ({"tags": ["a"]}, False),
    ],
)
async def test_a_filter_compares_fields(
    store: KnowledgeGraphStore, wanted: dict[str, Any], expected: bool
) -> None:
    value = {"n": 5, "day": "2026-03-01", "tags": ["a", {"b": 1}], "in": {"x": {"y": 2}}}
    await store.aput(("m",), "a", value, index=False)
    assert bool(await store.asearch(("m",), filter=wanted)) is expected


async def test_filters_apply_before_limit_and_offset(
    store: KnowledgeGraphStore, clock: Clock
) -> None:
    for number in range(9):
        clock.forward(minutes=1)
        await store.aput(("m",), str(number), {"n": number, "parity": number % 2}, index=False)
    odd = {"parity": 1, "n": {"$gt": 1}}
    assert keys(await store.asearch(("m",), filter=odd, limit=2)) == ["7", "5"]
    assert keys(await store.asearch(("m",), filter=odd, limit=2, offset=2)) == ["3"]
    assert keys(await store.asearch(("m",), filter=odd, limit=0)) == []
    assert keys(await store.asearch(("m",), query="anything", filter={"n": {"$lte": 1}})) == [
        "1",
        "0",
    ]


async def test_an_unchanged_text_is_not_embedded_again(settings: Settings, user_id: str) -> None:
    watched = WatchedEmbedder()
    async with KnowledgeGraph.connect(
        settings=settings, embedder=watched, ensure_schema=False
    ) as graph:
        store = KnowledgeGraphStore(graph, user_id=user_id, fields=["text", "title"])
        await store.aput(("m",), "a", {"title": "Tea", "text": "Prefers tea", "seen": 1})
        await store.aput(("m",), "a", {"title": "Tea", "text": "Prefers tea", "seen": 2})
        await store.aput(("m",), "a", {"title": "Tea", "text": "Prefers coffee"})
        assert watched.stored == [["Prefers tea", "Tea"], ["Prefers coffee"]]
        [item] = await store.asearch(("m",), query="Prefers coffee")
        assert item.score == pytest.approx(1.0)


async def test_no_user_reads_or_changes_the_items_of_another(
    graph: KnowledgeGraph, user_id: str
) -> None:
    mine, theirs = (
        KnowledgeGraphStore(graph, user_id=user) for user in (user_id, f"{user_id} other")
    )
    await mine.aput(("m",), "secret", {"text": "Prefers tea"})
    await theirs.aput(("m",), "theirs", {"text": "Prefers coffee"})
    await theirs.adelete(("m",), "secret")
    assert await theirs.aget(("m",), "secret") is None
    assert keys(await theirs.asearch((), query="Prefers tea")) == ["theirs"]
    assert keys(await theirs.asearch((), filter={"text": "Prefers tea"})) == []
    await theirs.aput(("m",), "secret", {"text": "overwritten?"})
    item = await mine.aget(("m",), "secret")
    assert item is not None
    assert item.value == {"text": "Prefers tea"}


async def test_items_are_no_part_of_the_knowledge_graph(
    store: KnowledgeGraphStore, graph: KnowledgeGraph, user_id: str
) -> None:
    await store.aput(("m",), "tea", {"name": "Tea", "text": "Prefers tea"})
    tools = graph.tools(user_id=user_id)
    assert (await tools.hybrid_search(query="Prefers tea"))["objects"] == []
    schema = await graph.live_schema(user_id=user_id, refresh=True)
    assert not schema.labels
    assert not schema.relationship_types
    diagnosis = await graph.diagnose(user_id=user_id)
    assert (diagnosis.facts.nodes, diagnosis.facts.relationships) == (0, 0)


@pytest.mark.neo4j_5
async def test_of_concurrent_puts_of_one_key_one_wins_whole(
    store: KnowledgeGraphStore, graph: KnowledgeGraph, user_id: str
) -> None:
    values = [{"text": f"version {number}", "copy": number} for number in range(10)]
    async with asyncio.TaskGroup() as group:
        for value in values:
            group.create_task(store.aput(("m",), "one", value, index=["text"]))
            group.create_task(store.adelete(("m",), "other"))
            group.create_task(store.aput(("m",), "other", value))
    item = await store.aget(("m",), "one")
    assert item is not None
    assert item.value in values
    [found] = [one for one in await store.asearch((), query=item.value["text"]) if one.key == "one"]
    assert found.score == pytest.approx(1.0)
    [row] = await cypher(
        graph, "MATCH (n:KgagentStoreText {user_id: $user}) RETURN count(n) AS texts", user=user_id
    )
    other = await store.aget(("m",), "other")
    assert row["texts"] == (1 if other is None else 2)


async def test_a_batch_reads_first_and_writes_all_or_nothing(store: KnowledgeGraphStore) -> None:
    await store.aput(("m",), "a", {"n": 1})
    ops: list[Op] = [
        PutOp(("m",), "a", {"n": 2}),
        PutOp(("m",), "a", {"n": 3}),
        PutOp(("m",), "b", {"n": 4}),
        GetOp(("m",), "a"),
        SearchOp(("m",)),
        GetOp(("m",), "nothing"),
    ]
    *puts, got, found, nothing = await store.abatch(ops)
    assert puts == [None, None, None]
    assert getattr(got, "value", None) == {"n": 1}
    assert isinstance(found, list)
    assert (keys(found), nothing) == (["a"], None)
    with pytest.raises(InputError):
        await store.abatch([PutOp(("m",), "a", {"n": 9}), PutOp(("m",), "b", {"n": math.nan})])
    assert {item.key: item.value["n"] for item in await store.asearch(("m",))} == {"a": 3, "b": 4}
    assert await store.abatch([]) == []


async def test_an_item_expires_after_its_last_read_or_write(
    graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    store = KnowledgeGraphStore(graph, user_id=user_id, ttl={"default_ttl": 10})
    began = clock.now
    await store.aput(("m",), "read", {"text": "tea"})
    await store.aput(("m",), "searched", {"text": "kite"})
    await store.aput(("m",), "unread", {"text": "boat"})
    await store.aput(("m",), "forever", {"text": "hull"}, ttl=None)
    for _ in range(2):
        clock.forward(minutes=7)
        assert await store.aget(("m",), "read") is not None
        assert keys(await store.asearch(("m",), filter={"text": "kite"})) == ["searched"]
    assert sorted(keys(await store.asearch(("m",), query="boat", refresh_ttl=False))) == [
        "forever",
        "read",
        "searched",
    ]
    clock.forward(minutes=11)
    assert keys(await store.asearch(())) == ["forever"]
    await store.aput(("m",), "read", {"text": "tea"})
    again = await store.aget(("m",), "read")
    assert again is not None
    assert again.created_at == clock.now > began
    [row] = await cypher(
        graph,
        "MATCH (n:KgagentStoreItem|KgagentStoreText {user_id: $user}) RETURN count(n) AS stored",
        user=user_id,
    )
    assert row["stored"] == 4, "the next write purges what has expired"


async def test_an_item_that_another_write_keeps_meanwhile_is_not_purged(
    store: KnowledgeGraphStore, user_id: str, clock: Clock, server: Server
) -> None:
    await store.aput(("m",), "kept", {"text": "tea"}, ttl=10)
    clock.forward(minutes=11)
    async with watch(server, user_id) as transactions:
        await transactions.beside(
            "MATCH (i:KgagentStoreItem {user_id: $user, key: 'kept'}) REMOVE i.expires_at, "
            "i.ttl_minutes",
            store.aput(("m",), "other", {"text": "kite"}),
        )
    assert sorted(keys(await store.asearch((), query="tea"))) == ["kept", "other"]


async def test_a_read_does_not_make_an_item_expire_that_another_write_makes_permanent(
    store: KnowledgeGraphStore, graph: KnowledgeGraph, user_id: str, server: Server
) -> None:
    await store.aput(("m",), "kept", {"text": "tea"}, ttl=10)
    async with watch(server, user_id) as transactions:
        await transactions.beside(
            "MATCH (i:KgagentStoreItem {user_id: $user, key: 'kept'}) REMOVE i.expires_at, "
            "i.ttl_minutes",
            store.aget(("m",), "kept"),
        )
    [row] = await cypher(
        graph,
        "MATCH (i:KgagentStoreItem {user_id: $user}) RETURN properties(i) AS item",
        user=user_id,
    )
    assert not row["item"].keys() & {"expires_at", "ttl_minutes", "write_lock"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"text": "half \ud800"}, "surrogate"),
        ({"n": math.nan}, "JSON"),
        ({"when": {1, 2}}, "set is not JSON serializable"),
        ({"text": "x" * 1_000_001}, "at most 1,000,000 characters"),
        (["no mapping"], "mapping"),
    ],
)
async def test_a_value_that_cannot_be_stored_is_refused(
    store: KnowledgeGraphStore, value: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        await store.aput(("m",), "a", value, index=["texts[*]", "text"])
    assert await store.aget(("m",), "a") is None


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (GetOp(("m\ud800",), "a"), "surrogate"),
        (PutOp(("m",), "a\ud800", {}), "surrogate"),
        (PutOp(("m",), "k" * 7_000, {}), "at most 6,000 bytes"),
        (PutOp(("m",), "a", {}, ttl=-1), "ttl must be more than 0"),
        (SearchOp(("m",), limit=-1), "must not be negative"),
        (SearchOp(("m",), filter={"a": {"n": {"$like": 1}}}), "unknown operator '\\$like'"),
    ],
)
async def test_an_operation_that_makes_no_sense_is_an_error(
    store: KnowledgeGraphStore, op: Op, message: str
) -> None:
    await store.aput(("m",), "stored", {"a": {"n": 1}})
    with pytest.raises(InputError, match=message):
        await store.abatch([op])


@pytest.mark.parametrize("label", ["", "a.b", 7])
async def test_labels_of_a_namespace_are_checked_in_batches_too(
    store: KnowledgeGraphStore, label: str
) -> None:
    for op in (GetOp(("m", label), "a"), SearchOp((label,)), PutOp((label,), "a", {})):
        with pytest.raises(InvalidNamespaceError):
            await store.abatch([op])


async def test_a_store_without_a_user_is_refused(graph: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match="user_id must not be empty"):
        KnowledgeGraphStore(graph, user_id="")
    with pytest.raises(InputError, match="user_id must not be empty"):
        await KnowledgeGraphStore(graph, user_id=lambda: "").aget(("m",), "a")
    with pytest.raises(InputError, match="put it in a list"):
        KnowledgeGraphStore(graph, user_id="me", fields="text")


async def test_the_methods_that_wait_refuse_the_graphs_own_loop(store: KnowledgeGraphStore) -> None:
    with pytest.raises(ConfigurationError, match="methods of the store that begin with a"):
        store.get(("m",), "a")
    await asyncio.to_thread(store.put, ("m",), "a", {"n": 1})
    assert await asyncio.to_thread(store.list_namespaces) == [("m",)]


def test_items_outlive_the_graph_that_stored_them(settings: Settings, user_id: str) -> None:
    for turn in range(2):
        with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
            store = KnowledgeGraphStore(graph, user_id=user_id)
            if turn == 0:
                store.put(("m",), "tea", {"text": "Prefers tea"})
            assert keys(store.search(("m",), query="tea")) == ["tea"]
