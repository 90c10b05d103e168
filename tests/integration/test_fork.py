"""A process that was forked from one with an open graph."""

import os
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.support.served import run_well

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

PROGRAM = """
import asyncio, os
from contextlib import AsyncExitStack
from kgagent import KgAgentError, KnowledgeGraph, SyncKnowledgeGraph
from kgagent.adapters.langchain import get_tools
from kgagent.knowledge_graph import services_of

graph = SyncKnowledgeGraph.connect()
tools = graph.tools(user_id="somebody")
[search] = get_tools(graph, user_id="somebody", names=["hybrid_search"])

def attempt(name, call):
    try:
        print(name, call(), flush=True)
    except KgAgentError as error:
        print(name, type(error).__name__, str(error).partition(":")[0], flush=True)

async def with_resources(graph):
    resources = AsyncExitStack()
    resources.callback(attempt, "closed", lambda: os.getpid() == parent)
    return KnowledgeGraph(
        services_of(graph).store, graph.ontology, graph.embedder, graph.settings, resources=resources
    )

parent = os.getpid()
loop = asyncio.new_event_loop()
other = loop.run_until_complete(with_resources(graph.graph))
if os.fork() == 0:
    attempt("sync", lambda: graph.retrieval.text_match("nobody", user_id="somebody"))
    attempt("tool", lambda: tools.hybrid_search(query="nobody"))
    attempt("langchain", lambda: search.invoke({"query": "nobody"}).partition(":")[0])
    attempt("async", lambda: asyncio.run(graph.graph.retrieval.text_match("nobody", user_id="somebody")))
    graph.close()
    asyncio.run(graph.graph.close())
    asyncio.run(other.close())
    os._exit(0)  # as multiprocessing ends a fork
_, status = os.wait()
print("parent", status, tools.hybrid_search(query="nobody")["success"])
loop.run_until_complete(other.close())
loop.close()
"""


def test_the_child_is_told_to_open_its_own_graph_and_the_parent_goes_on(
    server: Server, tmp_path: Path
) -> None:
    refused = "ConfigurationError The graph was opened before this process was forked"
    assert run_well(server, tmp_path, "-W", "ignore", "-c", PROGRAM).stdout.splitlines() == [
        f"sync {refused}",
        f"tool {refused}",
        "langchain Error",
        f"async {refused}",
        "parent 0 True",
        "closed True",
    ]
