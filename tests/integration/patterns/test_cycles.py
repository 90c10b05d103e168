"""Circles, together with what else a pattern may ask."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.models.pattern_query import GraphQuery
from tests.support.stored import cypher

KNOWS = {"relation_type": "KNOWS"}


@pytest.fixture
async def circles(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """a, b and c in a circle of three, into which d leads by another type; x leads to y, which is in no circle."""
    await cypher(
        graph,
        "CREATE (a:Stop {user_id: $user, name: 'a', age: 3}), (b:Stop {user_id: $user, name: 'b', age: 1}), "
        "(c:Stop {user_id: $user, name: 'c', age: 1}), (d:Stop {user_id: $user, name: 'd'}), "
        "(x:Stop {user_id: $user, name: 'x'}), (y:Stop {user_id: $user, name: 'y'}), "
        "(a)-[:KNOWS]->(b), (b)-[:KNOWS]->(c), (c)-[:KNOWS]->(a), (d)-[:LEADS]->(a), (x)-[:LEADS]->(y)",
        user=user_id,
    )
    return graph


async def paths(graph: KnowledgeGraph, user_id: str, **query: Any) -> list[str]:
    result = await graph.query_patterns(GraphQuery.model_validate(query), user_id=user_id)
    return sorted("".join(node.name for node in path.nodes) for path in result.paths)


@pytest.mark.parametrize("repeats", [False, True])
async def test_a_branch_between_two_nodes_of_a_cycle_applies(
    circles: KnowledgeGraph, user_id: str, repeats: bool
) -> None:
    circle = {"steps": [KNOWS, KNOWS, KNOWS], "cycle": True, "repeat_relationships": repeats}
    leads = {"at_step": 1, "ends_at": "end", "steps": [{"relation_type": "LEADS"}]}
    assert await paths(circles, user_id, patterns=[{**circle, "branches": [leads]}]) == []
    assert len(await paths(circles, user_id, patterns=[{**circle, "branches": [{**leads, "at_most": 0}]}])) == 3


@pytest.mark.parametrize("repeats", [False, True])
async def test_nodes_of_a_cycle_can_be_compared(circles: KnowledgeGraph, user_id: str, repeats: bool) -> None:
    older = {
        "type": "GREATER_THAN",
        "property_path": "age",
        "at_step": "end",
        "value_from": {"at_step": 1, "property_path": "age"},
    }
    circle = {"steps": [KNOWS, KNOWS, KNOWS], "cycle": True, "repeat_relationships": repeats, "constraints": [older]}
    assert await paths(circles, user_id, patterns=[circle]) == ["abca"]


@pytest.mark.parametrize("repeats", [False, True])
async def test_a_cycle_is_required_only_at_the_joined_node(
    circles: KnowledgeGraph, user_id: str, repeats: bool
) -> None:
    leads = {"pattern_id": "leads", "steps": [{"relation_type": "LEADS"}]}
    hops = {"min_hops": 3, "max_hops": 3}
    circle = {"steps": [{**KNOWS, **hops}], "cycle": True, "repeat_relationships": repeats}
    joined = {"type": "INTERSECTION", "join_on": 0, "patterns": [leads, circle]}
    found = await paths(circles, user_id, combinator=joined)
    assert [path for path in found if path[0] in "dx"] == ["da"]
