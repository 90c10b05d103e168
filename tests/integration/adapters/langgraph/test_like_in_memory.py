"""The same operations have the same results as with LangGraph's own store in memory."""

import uuid
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.store.base import BaseStore, MatchCondition, PutOp
from langgraph.store.memory import InMemoryStore

from kgagent import KnowledgeGraph
from kgagent.adapters.langgraph import KnowledgeGraphStore

labels = st.sampled_from(["a", "ab", "b", "*", "'"])
namespaces = st.lists(labels, min_size=1, max_size=3).map(tuple)
keys = st.sampled_from(["1", "2", "A", "a"])
scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([0.5, 2.0, "x", "", "é"])
values = st.dictionaries(
    st.sampled_from(["n", "m", "in"]),
    scalars | st.dictionaries(st.just("n"), scalars) | st.lists(scalars, max_size=2),
)
puts = st.builds(PutOp, namespaces, keys, st.none() | values, st.just(False), st.none())
batches = st.lists(st.lists(puts, min_size=1, max_size=6), min_size=1, max_size=4)
equal = st.dictionaries(st.sampled_from(["$eq", "$ne"]), scalars, min_size=1)
filters = st.dictionaries(st.sampled_from(["n", "m"]), scalars | equal)
searches = st.tuples(namespaces | st.just(()), st.none() | filters)
conditions = st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), namespaces)
listings = st.tuples(
    st.lists(conditions, max_size=2).map(tuple),
    st.none() | st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 2),
)


async def everything(
    store: BaseStore, prefix: tuple[str, ...] = (), wanted: dict[str, Any] | None = None
) -> list[Any]:
    found = await store.asearch(prefix, filter=wanted, limit=1_000)
    return sorted(
        ((item.namespace, item.key, item.value) for item in found), key=lambda item: item[:2]
    )


async def pages(
    store: BaseStore, prefix: tuple[str, ...], wanted: dict[str, Any] | None
) -> list[Any]:
    found: list[Any] = []
    while page := await store.asearch(prefix, filter=wanted, limit=2, offset=len(found)):
        found += [(item.namespace, item.key, item.value) for item in page]
    return found


async def copy_of(store: BaseStore) -> InMemoryStore:
    """A store with the same items; the original also lists namespaces that it was asked about."""
    copy = InMemoryStore()
    for namespace, key, value in await everything(store):
        await copy.aput(namespace, key, value)
    return copy


@hypothesis_settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    batches=batches,
    searches=st.lists(searches, min_size=3, max_size=5),
    listings=st.lists(listings, max_size=4),
)
async def test_any_sequence_of_operations(
    graph: KnowledgeGraph, batches: list[list[PutOp]], searches: list[Any], listings: list[Any]
) -> None:
    memory, store = InMemoryStore(), KnowledgeGraphStore(graph, user_id=f"user-{uuid.uuid4()}")
    for batch in batches:
        assert await store.abatch(batch) == await memory.abatch(batch)
    assert await everything(store) == await everything(memory)
    for prefix, wanted in searches:
        expected = await everything(memory, prefix, wanted)
        assert await everything(store, prefix, wanted) == expected
        assert sorted(await pages(store, prefix, wanted), key=lambda item: item[:2]) == expected
    for op in (one for batch in batches for one in batch[:1]):
        mine, theirs = (
            await store.aget(op.namespace, op.key),
            await memory.aget(op.namespace, op.key),
        )
        assert (mine and mine.value) == (theirs and theirs.value)
    like = await copy_of(memory)
    for matching, depth, limit, offset in listings:
        prefix = next((one.path for one in matching if one.match_type == "prefix"), None)
        suffix = next((one.path for one in matching if one.match_type == "suffix"), None)
        chosen = {
            "prefix": prefix,
            "suffix": suffix,
            "max_depth": depth,
            "limit": limit,
            "offset": offset,
        }
        assert await store.alist_namespaces(**chosen) == await like.alist_namespaces(**chosen)
