"""The store in a graph of LangGraph."""

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from typing_extensions import TypedDict

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.adapters.langchain import get_tools
from kgagent.adapters.langgraph import KnowledgeGraphStore
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.ingestion.memory import MemoryMiddleware
from tests.support.openai_models import scripted_model
from tests.support.people import two_friends
from tests.support.reading import chat_model


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
            known[said] = (await serving.ainvoke({"said": said, "known": []}, context=context))[
                "known"
            ]
        assert known == {"tea": [], "coffee": [], "tea again": ["tea"], "nothing": ["coffee"]}


def test_an_agent_in_synchronous_code(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        serving = agent(recall_then_keep_waiting, KnowledgeGraphStore(graph, user_id=user_id))
        for known in ([], ["tea"]):
            assert (
                serving.invoke({"said": "tea", "known": []}, context=Context(user_id))["known"]
                == known
            )


@tool
async def keep(text: str, runtime: ToolRuntime) -> str:
    """Keep a text."""
    assert runtime.store is not None
    await runtime.store.aput(("kept",), "latest", {"text": text})
    return "kept"


async def test_an_agent_has_the_store_beside_the_memory_and_the_tools_of_the_graph(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await two_friends(graph.tools(user_id=user_id))
    store = KnowledgeGraphStore(graph, user_id=user_id)
    with scripted_model() as model:
        serving = create_agent(
            chat_model(model),
            [*get_tools(graph, user_id=user_id, names=["explore"]), keep],
            middleware=[MemoryMiddleware(graph, user_id=user_id)],
            store=store,
        )
        model.turns = iter([lambda _: [("keep", {"text": "Ada asked."})], lambda _: "I kept it."])
        asked: Any = {"messages": [{"role": "user", "content": "who is a friend of Ada?"}]}
        answer = await serving.ainvoke(asked)
    assert answer["messages"][-1].text == "I kept it."
    assert "Bo" in str(model.requests[0]["messages"][0]["content"])
    assert {one["function"]["name"] for one in model.requests[0]["tools"]} == {"explore", "keep"}
    item = await store.aget(("kept",), "latest")
    assert item is not None
    assert item.value == {"text": "Ada asked."}
