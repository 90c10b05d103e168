"""Many hops over a hub: a limit on the explored paths keeps the memory of the server flat."""

import neo4j
import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.models.constraint import Constraint
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import GraphQuery
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.plans import QueryPlan
from tests.conftest import Server
from tests.integration.patterns.conftest import with_settings
from tests.support.stored import cypher

EXPLORED = 2_000


@pytest.fixture
async def hub(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """A hub with 300 neighbors, each connected to it in both directions: 300 ** 4 paths of 8
    hops.
    """
    await cypher(
        graph,
        "CREATE (hub:Stop {user_id: $user, name: 'hub', entity_key: $user + '-hub'}) WITH hub "
        "UNWIND range(1, 300) AS i CREATE (s:Stop {user_id: $user, name: 'stop ' + i}) "
        "CREATE (hub)-[:RAIL]->(s), (s)-[:RAIL]->(hub)",
        user=user_id,
    )
    return with_settings(graph, patterns_explored=EXPLORED, patterns_timeout=120.0)


def rides(hops: int) -> GraphPattern:
    return GraphPattern.model_validate(
        {
            "steps": [
                {
                    "source_label": "Stop",
                    "relation_type": "RAIL",
                    "min_hops": hops,
                    "max_hops": hops,
                }
            ]
        }
    )


async def test_explored_paths_are_limited_at_any_depth(hub: KnowledgeGraph, user_id: str) -> None:
    for hops in (6, 8):
        query = GraphQuery.model_validate(
            {
                "targets": [{"entity_key": f"{user_id}-hub", "label": "Stop"}],
                "patterns": [rides(hops)],
                "ranking": "PATH_LENGTH",
            }
        )
        result = await hub.query_patterns(query, user_id=user_id)
        assert result.context.explored == {"pattern": EXPLORED}
        assert result.context.truncated
        assert {len(path.relationships) for path in result.paths} == {hops}


async def test_memory_of_the_server_is_flat_from_six_to_eight_hops(
    hub: KnowledgeGraph, user_id: str, server: Server
) -> None:
    def memory(hops: int) -> int:
        compiled = Compiler(user_id).compile(QueryPlan((rides(hops),)), EXPLORED)
        text = f"{services_of(hub).store.features.language}PROFILE {compiled.text}"
        with neo4j.GraphDatabase.driver(
            server.uri, auth=(server.username, server.password)
        ) as driver:
            answer = driver.execute_query(text, dict(compiled.parameters))
        assert len(answer.records[0]["paths"]) == EXPLORED
        assert answer.summary.profile is not None
        return int(answer.summary.profile["args"]["GlobalMemory"])

    # A path of 8 hops has a third more elements than one of 6.
    assert memory(8) < 1.5 * memory(6)


async def ridden(hub: KnowledgeGraph, user_id: str, hops: int) -> PatternResult:
    """Ways of so many hops from the hub to a stop that one relationship leads to."""
    await cypher(
        hub,
        "MATCH (s:Stop {user_id: $user, name: 'stop 1'}) "
        "CREATE (s)-[:RAIL]->(:Stop {user_id: $user, name: 'terminus'})",
        user=user_id,
    )
    ends = {
        "type": "PROPERTY_EQUALS",
        "property_path": "name",
        "value": "terminus",
        "at_step": "end",
    }
    query = GraphQuery.model_validate(
        {
            "targets": [{"entity_key": f"{user_id}-hub", "label": "Stop"}],
            "patterns": [
                rides(hops).model_copy(update={"constraints": (Constraint.model_validate(ends),)})
            ],
            "ranking": "PATH_LENGTH",
            "strict": False,
        }
    )
    return await hub.query_patterns(query, user_id=user_id)


async def test_few_of_many_beginnings_arrive(hub: KnowledgeGraph, user_id: str) -> None:
    result = await ridden(hub, user_id, 6)
    assert result.context.explored == {"pattern": EXPLORED}
    assert {tuple(node.name for node in path.nodes[-3:]) for path in result.paths} == {
        ("hub", "stop 1", "terminus")
    }
    assert {path.steps for path in result.paths} == {(6,)}


async def test_none_of_many_beginnings_arrives(hub: KnowledgeGraph, user_id: str) -> None:
    # About 8 * 10^9 ways of 7 hops begin at the hub.
    result = await ridden(hub, user_id, 7)
    assert result.paths == ()
    assert result.warnings[0] == "No path matches"
