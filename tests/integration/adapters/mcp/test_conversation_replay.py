"""A history of 19 conversations, kept and questioned through an MCP client."""

from conversation_replay import QUESTIONS, conversations, run

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.stored import nodes_of

MAX_CALLS = 25


async def test_nineteen_conversations_are_kept_in_few_calls_and_tokens(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    rows, unanswered = await run(graph, user_id)
    assert len(rows) == len(conversations()) == 19
    assert sum(row.calls for row in rows) <= MAX_CALLS
    assert [row.failures for row in rows if row.failures] == []
    assert max(row.read for row in rows) <= 2_500
    assert sum(row.read for row in rows) <= sum(row.written for row in rows)
    # Words are all that this embedder knows; the benchmark asks with a model.
    assert len(unanswered) <= len(QUESTIONS) // 2, unanswered
    named = [node["name"] for node in await nodes_of(graph, user_id)]
    assert len(named) == len(set(named))
    assert "Dr. Sousa" not in named
    for miller, relationship_type in (
        ("Eva Pichler", "miller of"),
        ("Georg Pichler", "former miller of"),
    ):
        found = succeeded(
            await tools.get_relationship(from_entity_key=miller, to_entity_key="Rabnitz mill")
        )
        assert found["relationship"]["relationship_type"] == relationship_type
