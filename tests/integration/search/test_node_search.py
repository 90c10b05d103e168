import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import hash_embedding
from kgagent.errors import InputError
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.people import remembered
from tests.support.stored import cosine, nodes_of

pytestmark = pytest.mark.neo4j_5


@pytest.fixture
async def known(tools: Toolset, embedder: WatchedEmbedder) -> dict[str, str]:
    """Keys by name."""
    nodes = (
        ("Person", "Ada", "Plays chess on Sundays"),
        ("Person", "Bo", "Sails"),
        ("Concept", "Chess", "A board game"),
        ("Entity", "Chess club", "Meets on Sundays"),
        ("Source", "A talk", "About sailing"),
    )
    made = await remembered(
        tools, [{"label": label, "name": name, "description": text} for label, name, text in nodes]
    )
    embedder.forget()
    return made


@pytest.mark.usefixtures("known")
async def test_nodes_of_all_labels_come_most_similar_first(
    searched: KnowledgeGraph, plan: str, embedder: WatchedEmbedder, user_id: str
) -> None:
    found = await searched.retrieval.node_vector_search("chess on Sundays", -1.0, user_id=user_id)
    stored = await nodes_of(searched, user_id)
    query = hash_embedding("chess on Sundays", 384)
    expected = {item["name"]: cosine(query, item["embedding"]) for item in stored}
    assert (found.plan == "exact") == (plan == "exact")
    assert [match.node.name for match in found] == sorted(
        expected, key=lambda name: -expected[name]
    )
    assert [match.similarity for match in found] == pytest.approx(
        sorted(expected.values(), reverse=True), abs=1e-5
    )
    assert embedder.queries == [["chess on Sundays"]]


@pytest.mark.usefixtures("known")
async def test_labels_and_threshold_restrict_the_results(
    searched: KnowledgeGraph, user_id: str
) -> None:
    search = searched.retrieval.node_vector_search
    assert {
        hit.node.label
        for hit in await search("chess", -1.0, user_id=user_id, labels=["Concept", "Entity"])
    } == {
        "Concept",
        "Entity",
    }
    assert {hit.node.name for hit in await search("chess", 0.15, user_id=user_id)} == {
        "Ada",
        "Chess",
        "Chess club",
    }
    assert [
        hit.node.label
        for hit in await search("chess", -1.0, user_id=user_id, labels=["Person"], limit=1)
    ] == ["Person"]


async def test_unknown_labels_are_reported(graph: KnowledgeGraph, user_id: str) -> None:
    for labels, said in (
        (["Person`) //"], r"Unknown label: Person`\) //"),
        ([], "No label was given"),
    ):
        with pytest.raises(InputError, match=said):
            await graph.retrieval.node_vector_search("x", 0.3, user_id=user_id, labels=labels)
        with pytest.raises(InputError, match=said):
            await graph.retrieval.text_match("x", user_id=user_id, labels=labels)


@pytest.mark.usefixtures("known")
async def test_a_vector_that_is_passed_in_makes_no_embedding_call(
    searched: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    found = await searched.retrieval.node_vector_search(
        threshold=0.2, user_id=user_id, vector=hash_embedding("sails", 384)
    )
    assert found[0].node.name == "Bo"
    assert embedder.calls == 0
