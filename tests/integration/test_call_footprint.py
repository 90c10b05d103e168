"""How much code a warm call runs, as a reader of it would have to open."""

from call_footprint import hybrid_search_footprint, plant

from kgagent import KnowledgeGraph


async def test_a_warm_hybrid_search_runs_few_modules_and_lines(graph: KnowledgeGraph, user_id: str) -> None:
    await plant(graph, user_id)
    # A statement that waits for a busy server also runs the check whether the server is there.
    found = min([await hybrid_search_footprint(graph, user_id) for _ in range(3)], key=lambda one: one.lines)
    assert "retrieval/pipeline.py" in found.modules
    assert len(found.modules) <= 22, found.modules
    assert found.lines <= 3_000, found.modules
