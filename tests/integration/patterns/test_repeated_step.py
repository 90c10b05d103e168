"""A step that repeats between two nodes finds the user's paths."""

import neo4j
import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import GraphQuery
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.plans import QueryPlan
from tests.conftest import Server
from tests.integration.patterns.conftest import with_settings
from tests.support.query_plans import details_of
from tests.support.stored import cypher

STEP = {
    "source_label": "Quay",
    "relation_type": "FERRY",
    "target_label": "Quay",
    "min_hops": 1,
    "max_hops": 3,
}
ENDS = tuple(
    {"type": "PROPERTY_EQUALS", "property_path": "name", "value": value, "at_step": place}
    for place, value in (("start", "a"), ("end", "d"))
)
FREE = {"steps": [STEP], "constraints": ENDS}
EVERY_NODE = {"type": "NOT_IN", "property_path": "name", "value": ["z"], "at_step": -1}
FORMS = {
    "free": FREE,
    "constrained": {**FREE, "constraints": (*ENDS, EVERY_NODE)},
    "distinct": {**FREE, "distinct_nodes": True},
    "in two steps": {
        "steps": [{**STEP, "max_hops": 2}, {**STEP, "max_hops": 1}],
        "constraints": ENDS,
    },
}


@pytest.fixture
async def harbor(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """One way of the user from a to d, over b and c; shorter ones over another's node and another's
    relationships.
    """
    await cypher(
        graph,
        "CREATE (a:Quay {user_id: $user, name: 'a'}), (b:Quay {user_id: $user, name: 'b'}) "
        "CREATE (c:Quay {user_id: $user, name: 'c'}), (d:Quay {user_id: $user, name: 'd'}) "
        "CREATE (x:Quay {user_id: $other, name: 'x'}) "
        "CREATE (a)-[:FERRY]->(b)-[:FERRY {user_id: $user}]->(c)-[:FERRY]->(d) "
        "CREATE (a)-[:FERRY]->(x)-[:FERRY]->(d), (a)-[:FERRY {user_id: $other}]->(d) "
        "CREATE (b)-[:FERRY {user_id: $other}]->(d)",
        user=user_id,
        other=f"{user_id}-other",
    )
    return with_settings(graph, patterns_timeout=120.0)


@pytest.mark.parametrize("form", FORMS)
async def test_only_paths_of_the_users_nodes_and_relationships_are_found(
    harbor: KnowledgeGraph, user_id: str, form: str
) -> None:
    query = GraphQuery.model_validate(
        {"patterns": [FORMS[form]], "ranking": "PATH_LENGTH", "strict": False}
    )
    result = await harbor.query_patterns(query, user_id=user_id)
    assert [[node.name for node in path.nodes] for path in result.paths] == [["a", "b", "c", "d"]]


async def test_a_path_to_a_known_node_uses_the_index_of_keys(
    graph: KnowledgeGraph, server: Server, user_id: str
) -> None:
    """Without an entry point, the plan begins at the end node, which its key and its user find in
    an index.
    """
    await cypher(
        graph,
        "UNWIND range(0, 300) AS i MERGE (a:Person {user_id: $user, entity_key: toString(i)}) "
        "MERGE (b:Person {user_id: $user, entity_key: toString(i + 1)}) MERGE (a)-[:KNOWS]->(b)",
        user=user_id,
    )
    step = {
        "source_label": "Person",
        "relation_type": "KNOWS",
        "target_label": "Person",
        "min_hops": 1,
        "max_hops": 2,
    }
    end = {"type": "PROPERTY_EQUALS", "property_path": "entity_key", "value": "7", "at_step": "end"}
    plan = QueryPlan((GraphPattern.model_validate({"steps": [step], "constraints": [end]}),))
    compiled = Compiler(user_id).compile(plan, 10)
    text = f"{services_of(graph).store.features.language}EXPLAIN {compiled.text}"
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        explained = driver.execute_query(text, dict(compiled.parameters)).summary.plan
    assert explained is not None
    assert any(one.startswith("NodeUniqueIndexSeek") for one in details_of(explained))
