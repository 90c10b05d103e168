import math
from array import array
from collections.abc import Callable
from typing import Any

import pytest
from neo4j import AsyncSession, Query
from neo4j.exceptions import SessionExpired

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import hash_embedding
from kgagent.errors import StatementTimeoutError
from kgagent.knowledge_graph import services_of

pytestmark = pytest.mark.neo4j_5


async def test_a_vector_arrives_as_it_was_sent(graph: KnowledgeGraph) -> None:
    sent = array("f", [0.1, -2.5, 1e-30, 3.4e38])
    [row] = await services_of(graph).store.read(
        "RETURN toFloatList($v) AS v", {"v": services_of(graph).store.vector(sent)}
    )
    assert row["v"] == list(sent)
    [row] = await services_of(graph).store.read(
        "RETURN toFloatList($v) AS v", {"v": services_of(graph).store.vector([0.5, 1.0])}
    )
    assert row["v"] == [0.5, 1.0]
    assert services_of(graph).store.vector(None) is None


async def test_a_similarity_on_the_server_is_plain_cosine(graph: KnowledgeGraph) -> None:
    one, other = hash_embedding("chess club", 384), hash_embedding("chess player", 384)
    [row] = await services_of(graph).store.read(
        "RETURN 2.0 * vector.similarity.cosine(toFloatList($a), toFloatList($b)) - 1.0 AS cosine",
        {"a": services_of(graph).store.vector(one), "b": services_of(graph).store.vector(other)},
    )
    assert row["cosine"] == pytest.approx(
        math.fsum(x * y for x, y in zip(one, other, strict=True)), abs=1e-6
    )


async def test_parameters_are_accepted_wherever_a_value_may_stand(
    graph: KnowledgeGraph, user_id: str
) -> None:
    label = f"Label {user_id}"
    await services_of(graph).store.write(
        "UNWIND $rows AS row CREATE (n:$($label) {user_id: $user_id}) SET n += row",
        {"rows": [{"name": name} for name in "abcd"], "label": label, "user_id": user_id},
    )
    rows = await services_of(graph).store.read(
        f"MATCH (n:`{label}` {{user_id: $user_id}}) WHERE n.name <> '$skip' AND n.name STARTS WITH "
        f"$`the start` "
        "RETURN n.name AS name, $nothing AS nothing ORDER BY name SKIP $skip LIMIT $limit + 1",
        {"user_id": user_id, "the start": "", "nothing": None, "skip": 1, "limit": 1},
    )
    assert rows == [{"name": "b", "nothing": None}, {"name": "c", "nothing": None}]


async def test_a_slow_statement_is_terminated(graph: KnowledgeGraph) -> None:
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a = -b RETURN count(*)"
    with pytest.raises(StatementTimeoutError, match="exceeded its time limit"):
        await services_of(graph).store.read(endless, {}, timeout=0.05)


async def test_a_stream_yields_rows_one_by_one(graph: KnowledgeGraph) -> None:
    async with services_of(graph).store.stream(
        "UNWIND range(1, $n) AS i RETURN i", {"n": 2_500}
    ) as rows:
        assert [row["i"] async for row in rows] == list(range(1, 2_501))


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], list[str]]:
    """Makes statements outside a transaction of the driver's own fail; gives the list of their
    texts.
    """

    def fail(error: Exception) -> list[str]:
        asked: list[str] = []

        async def run(_session: AsyncSession, query: Query, *_: Any, **__: Any) -> None:
            asked.append(query.text)
            raise error

        monkeypatch.setattr(AsyncSession, "run", run)
        return asked

    return fail


async def test_a_read_interrupted_by_a_lost_connection_is_retried(
    graph: KnowledgeGraph, failing: Callable[[Exception], list[str]]
) -> None:
    asked = failing(SessionExpired("the connection is gone"))
    assert await services_of(graph).store.read("RETURN 1 AS one", {}) == [{"one": 1}]
    assert len(asked) == 1
