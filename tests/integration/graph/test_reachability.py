"""A server that is gone is noticed soon, whatever TCP and the driver think, and found again by
itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph, Settings, StoreError, UnreachableError
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph import reachability
from kgagent.knowledge_graph import services_of
from kgagent.progress import Advance
from tests.conftest import DIMENSIONS, Server
from tests.support.payloads import error_of, succeeded
from tests.support.proxy import Proxy, proxy_to

LONGEST = 25.0
"""Seconds after which a call counts as hanging: the driver alone needs longer to give up."""

CALLS: dict[str, dict[str, Any]] = {
    "explore": {"queries": [{"query": "mentors"}]},
    "hybrid_search": {"query": "mentors"},
    "describe_graph": {},
    "remember": {"nodes": [{"label": "Concept", "name": "Sailing"}]},
    "query_patterns": {
        "patterns": [{"steps": [{"source_label": "Person", "target_label": "Concept"}]}]
    },
    "traverse": {"entity_key": "me"},
}


async def before_it_hangs(call: Awaitable[Any]) -> Any:
    """What a call returns, which must be before a task that ends after `LONGEST`."""
    task, watchdog = asyncio.ensure_future(call), asyncio.create_task(asyncio.sleep(LONGEST))
    done, pending = await asyncio.wait({task, watchdog}, return_when=asyncio.FIRST_COMPLETED)
    for one in pending:
        one.cancel()
    assert task in done, "the call hangs"
    return task.result()


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    async with proxy_to(server.uri) as running:
        yield running


@pytest.fixture
async def distant(
    proxy: Proxy, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[KnowledgeGraph]:
    """The graph behind the proxy; less patience than usual makes the tests shorter."""
    monkeypatch.setattr(reachability, "PATIENCE", 0.3)
    monkeypatch.setattr(reachability, "REMEMBERED", 0.1)
    near = settings.model_copy(update={"neo4j_uri": proxy.uri})
    async with KnowledgeGraph.connect(settings=near, embedder=HashingEmbedder(DIMENSIONS)) as graph:
        yield graph


@pytest.mark.parametrize("fault", ["cut", "swallow"])
async def test_calls_fail_when_the_server_is_gone_and_succeed_when_it_is_back(
    distant: KnowledgeGraph, proxy: Proxy, user_id: str, fault: str
) -> None:
    tools = distant.tools(user_id=user_id)
    succeeded(await tools.remember(nodes=[{"label": "Person", "name": "Ada", "is_owner": True}]))
    getattr(proxy, fault)()
    for name, arguments in CALLS.items():
        error = error_of(await before_it_hangs(tools[name](**arguments)))
        assert "The graph cannot be reached" in error, name
    if fault == "cut":
        await proxy.start()
    proxy.resume()
    await asyncio.sleep(reachability.REMEMBERED)
    found = succeeded(await before_it_hangs(tools.traverse(entity_key="me")))
    assert found["message"]


async def test_a_write_that_was_interrupted_says_that_its_outcome_is_unknown(
    distant: KnowledgeGraph, proxy: Proxy, user_id: str
) -> None:
    store = services_of(distant).store
    proxy.swallow()
    with pytest.raises(UnreachableError, match="not known whether the write took effect"):
        await before_it_hangs(
            store.write("CREATE (:Concept {user_id: $user_id})", {"user_id": user_id})
        )
    with pytest.raises(UnreachableError) as raised:
        await before_it_hangs(
            store.write("CREATE (:Concept {user_id: $user_id})", {"user_id": user_id})
        )
    assert "not known" not in str(raised.value), "it was not sent"


async def test_a_slow_statement_of_a_server_that_answers_goes_on(distant: KnowledgeGraph) -> None:
    """It takes several times as long as the server is given before it is asked."""
    slow = (
        "UNWIND range(1, 600000) AS i WITH i WHERE sqrt(i) * sqrt(i) > 0 RETURN count(i) AS counted"
    )
    store = services_of(distant).store
    rows = await asyncio.gather(*(store.read(slow, {}) for _ in range(3)))
    assert rows == [[{"counted": 600_000}]] * 3


class CutDuring:
    """Cuts the proxy when the first nodes are loaded."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:  # noqa: ARG002
        yield lambda _: self._proxy.cut() if description == "Loading nodes" else None


async def test_a_load_stops_and_says_how_to_continue(
    distant: KnowledgeGraph, proxy: Proxy, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(
        "\n".join(f'{{"kind": "node", "label": "Concept", "name": "C{n}"}}' for n in range(200))
    )
    loading = distant.load(file, user_id=user_id, batch_size=20, progress=CutDuring(proxy))
    # What fails first is a statement that cannot be sent, or one whose answer is lost.
    with pytest.raises(
        StoreError, match=r"(be reached|during a write).*load many\.jsonl again to continue"
    ):
        await before_it_hangs(loading)
    await proxy.start()
    await asyncio.sleep(reachability.REMEMBERED)
    report = await distant.load(file, user_id=user_id)
    assert (report.problems, report.nodes.total) == ((), 200)
