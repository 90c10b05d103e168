"""The store in a graph of LangGraph."""

from dataclasses import dataclass
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from typing_extensions import TypedDict

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.adapters.langgraph import KnowledgeGraphStore
from kgagent.embedding.hashing import HashingEmbedder


class State(TypedDict):
    said: str
    known: list[str]


@dataclass
class Context:
    user_id: str


async def recall_then_keep(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    assert runtime.store is not None
    found = await runtime.store.asearch(("said",), query=state["said"])
    await runtime.store.aput(("said",), state["said"], {"text": state["said"]})
    return {"known": [item.value["text"] for item in found]}


def recall_then_keep_waiting(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    assert runtime.store is not None
    found = runtime.store.search(("said",), query=state["said"])
    runtime.store.put(("said",), state["said"], {"text": state["said"]})
    return {"known": [item.value["text"] for item in found]}


def agent(node: Any, store: KnowledgeGraphStore) -> Any:
    builder = StateGraph(State, context_schema=Context)
    builder.add_node("keep", node)
    builder.add_edge(START, "keep")
    builder.add_edge("keep", END)
    return builder.compile(store=store)


async def test_one_agent_serves_many_users(graph: KnowledgeGraph, user_id: str) -> None:
    store = KnowledgeGraphStore(graph, user_id=lambda: get_runtime(Context).context.user_id)
    for node in (recall_then_keep, recall_then_keep_waiting):
        serving = agent(node, store)
        known = {}
        for user, said in (("a", "tea"), ("b", "coffee"), ("a", "tea again"), ("b", "nothing")):
            context = Context(f"{user_id} {user} {node.__name__}")
            known[said] = (await serving.ainvoke({"said": said, "known": []}, context=context))["known"]
        assert known == {"tea": [], "coffee": [], "tea again": ["tea"], "nothing": ["coffee"]}


def test_an_agent_in_synchronous_code(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        serving = agent(recall_then_keep_waiting, KnowledgeGraphStore(graph, user_id=user_id))
        for known in ([], ["tea"]):
            assert serving.invoke({"said": "tea", "known": []}, context=Context(user_id))["known"] == known
