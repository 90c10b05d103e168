"""Searches say that they omit what another model has embedded, until a migration has embedded it
again.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.models import ExploreRequest, HybridSearchRequest, VectorQuery
from kgagent.observability import Recorder
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import two_friends
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5


@pytest.fixture
def recorder() -> Recorder:
    """Keeps what the newer graph does."""
    return Recorder()


@pytest.fixture
async def newer(opened: KnowledgeGraph, clock: Clock, recorder: Recorder) -> KnowledgeGraph:
    """The same database with another model of the same length."""
    store, embedder = services_of(opened).store, WatchedEmbedder(model="newer")
    return KnowledgeGraph(
        store, opened.ontology, embedder, opened.settings, clock=clock, observer=recorder
    )


def warning(
    nodes: str, relationships: str, *, connected: str = "newer", made_by: str = "blake2b-words"
) -> str:
    return (
        f"Semantic search omits {nodes} and {relationships}: their embeddings were made by "
        f"{made_by!r}, but "
        f"{connected!r} is connected. Run `kgagent migrate` to embed them again, or connect that "
        f"model"
    )


async def test_hybrid_search_and_explore_warn_of_embeddings_of_another_model(
    tools: Toolset, newer: KnowledgeGraph, user_id: str
) -> None:
    await two_friends(tools, description="They row")
    expected = warning("2 nodes", "1 relationship")
    agent = newer.tools(user_id=user_id)
    assert expected in succeeded(await agent.hybrid_search(query="rowing"))["warnings"]
    assert expected in succeeded(await agent.explore(queries=[{"query": "rowing"}]))["warnings"]
    assert expected in (await agent.hybrid_search.call_text({"query": "rowing"})).text
    assert expected in (await agent.explore.call_text({"queries": [{"query": "rowing"}]})).text
    request = HybridSearchRequest(query="rowing")
    assert expected in (await newer.search(request, user_id=user_id, vector=[1.0] * 384)).warnings


async def test_searches_of_the_model_that_made_the_embeddings_do_not_warn(
    tools: Toolset, graph: KnowledgeGraph, newer: KnowledgeGraph, user_id: str
) -> None:
    await two_friends(tools, description="They row")
    assert "omits" not in str((await graph.search("They row", user_id=user_id)).warnings)
    assert "omits" not in str((await newer.search("They row", user_id=f"{user_id}-other")).warnings)
    names = ExploreRequest(text_matches=("Ada",))
    assert (await newer.explore(names, user_id=user_id)).warnings == ()


async def test_only_embeddings_of_another_model_are_counted(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await two_friends(tools, description="They row")
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, name: 'Ada'}) SET n.embedding_model = $model",
        user=user_id,
        model="x\ny",
    )
    made = {"connected": "blake2b-words", "made_by": "x y"}
    queries = ExploreRequest(queries=(VectorQuery(query="row"),))
    assert (
        warning("1 node", "0 relationships", **made)
        in (await graph.explore(queries, user_id=user_id)).warnings
    )


async def test_of_many_embeddings_the_warning_says_that_there_may_be_more(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await cypher(
        graph,
        "UNWIND range(1, 501) AS number CREATE (:Concept {user_id: $user, entity_key: $user + "
        "number, name: 'c', "
        "embedding_model: 7})",
        user=user_id,
    )
    found = await graph.search("row", user_id=user_id)
    made = {"connected": "blake2b-words", "made_by": "7"}
    assert warning("at least 500 nodes", "0 relationships", **made) in found.warnings


async def test_the_check_costs_one_statement_for_many_searches(
    tools: Toolset, newer: KnowledgeGraph, recorder: Recorder, user_id: str
) -> None:
    await two_friends(tools, description="They row")
    for number in range(3):
        assert (
            warning("2 nodes", "1 relationship")
            in (await newer.search(f"row {number}", user_id=user_id)).warnings
        )
    assert [run.name for run in recorder.statements].count("count_omitted") == 1


async def test_after_a_migration_searches_do_not_warn(
    tools: Toolset, newer: KnowledgeGraph, user_id: str
) -> None:
    await two_friends(tools, description="They row")
    await newer.migrate(user_id=user_id)
    found = await newer.search("They row", user_id=user_id)
    assert "omits" not in str(found.warnings)
    assert found.relationships
