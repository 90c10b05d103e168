"""Cycles, together with the other parts of a pattern."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.models.pattern_query import GraphQuery
from tests.support.stored import cypher

KNOWS = {"relation_type": "KNOWS"}
LEADS = {"relation_type": "LEADS"}


async def paths(graph: KnowledgeGraph, user_id: str, **query: Any) -> list[str]:
    result = await graph.query_patterns(GraphQuery.model_validate(query), user_id=user_id)
    return sorted("".join(node.name for node in path.nodes) for path in result.paths)


@pytest.mark.parametrize("repeats", [False, True])
async def test_branches_comparisons_and_joins_apply_to_the_nodes_of_a_cycle(
    graph: KnowledgeGraph, user_id: str, repeats: bool
) -> None:
    await cypher(
        graph,
        "CREATE (a:Stop {user_id: $user, name: 'a', age: 3}), (b:Stop {user_id: $user, name: 'b', "
        "age: 1}), "
        "(c:Stop {user_id: $user, name: 'c', age: 1}), (d:Stop {user_id: $user, name: 'd'}), "
        "(x:Stop {user_id: $user, name: 'x'}), (y:Stop {user_id: $user, name: 'y'}), "
        "(a)-[:KNOWS]->(b), (b)-[:KNOWS]->(c), (c)-[:KNOWS]->(a), (d)-[:LEADS]->(a), "
        "(x)-[:LEADS]->(y)",
        user=user_id,
    )
    circle: dict[str, Any] = {"steps": [KNOWS] * 3, "cycle": True, "repeat_relationships": repeats}
    branch = {"at_step": 1, "ends_at": "end", "steps": [LEADS]}
    assert await paths(graph, user_id, patterns=[{**circle, "branches": [branch]}]) == []
    assert (
        len(
            await paths(
                graph, user_id, patterns=[{**circle, "branches": [{**branch, "at_most": 0}]}]
            )
        )
        == 3
    )
    older = {"type": "GREATER_THAN", "property_path": "age", "at_step": "end"}
    than = {"value_from": {"at_step": 1, "property_path": "age"}}
    assert await paths(graph, user_id, patterns=[{**circle, "constraints": [older | than]}]) == [
        "abca"
    ]
    joined = {
        "type": "INTERSECTION",
        "patterns": [{"pattern_id": "leads", "steps": [LEADS]}, circle],
    }
    assert [path for path in await paths(graph, user_id, combinator=joined) if path[0] in "dx"] == [
        "da"
    ]
