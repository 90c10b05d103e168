import pytest

from kgagent import KnowledgeGraph, SearchOptions
from kgagent.errors import InputError
from kgagent.tools import Toolset
from tests.support.drawn import Drawing
from tests.support.embedders import WatchedEmbedder
from tests.support.people import node, person
from tests.support.stored import cypher


async def test_the_most_similar_nodes_of_all_labels_come_first_with_their_cosine(
    searched: KnowledgeGraph, drawing: Drawing
) -> None:
    await drawing.nodes(similar={"node1": 0.3, "node2": 0.9})
    await drawing.nodes(label="Concept", similar={"node3": 0.6, "opposite": -0.5})
    hits = await drawing.searcher("vector", searched).search(None, drawing.options())
    assert [hit.node.name for hit in hits] == ["node2", "node3", "node1", "opposite"]
    assert [hit.score for hit in hits] == pytest.approx([0.9, 0.6, 0.3, -0.5], abs=1e-6)
    assert {(hit.source, hit.depth) for hit in hits} == {("vector", 0)}


@pytest.mark.usefixtures("theirs")
async def test_a_deleted_node_is_skipped_and_the_next_one_returned(
    searched: KnowledgeGraph, drawing: Drawing
) -> None:
    await drawing.nodes(similar={"node1": 0.9, "gone": 0.8, "node2": 0.7})
    await cypher(searched, "MATCH (n:Person {entity_key: $key}) DELETE n", key=drawing.key("gone"))
    hits = await drawing.searcher("vector", searched).search(None, drawing.options(top_k=2))
    assert [hit.node.name for hit in hits] == ["node1", "node2"]


async def test_a_graph_without_nodes_has_no_hits(
    searched: KnowledgeGraph, drawing: Drawing
) -> None:
    assert await drawing.searcher("vector", searched).search("anything") == []


async def test_top_k_applies_to_all_labels_together_with_a_fixed_order(
    drawing: Drawing,
) -> None:
    await drawing.nodes(label="Concept", similar={"a": 0.5})
    await drawing.nodes(similar={"c": 0.5, "b": 0.5, "d": 0.4})
    hits = await drawing.searcher("vector").search(None, drawing.options(top_k=3))
    assert [hit.node.name for hit in hits] == ["b", "c", "a"]


async def test_a_threshold_excludes_less_similar_nodes(drawing: Drawing) -> None:
    await drawing.nodes(similar={"near": 0.9, "far": 0.3})
    hits = await drawing.searcher("vector").search(None, drawing.options(threshold=0.5))
    assert [hit.node.name for hit in hits] == ["near"]


async def test_a_query_is_embedded_once_and_a_vector_not_at_all(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, embedder: WatchedEmbedder, drawing: Drawing
) -> None:
    await person(tools, "Ada", "Plays chess")
    await node(tools, "Concept", "Violin")
    searcher = graph.searcher("vector", user_id=user_id)
    embedder.forget()
    assert [hit.node.name for hit in await searcher.search("chess", SearchOptions(top_k=1))] == [
        "Ada"
    ]
    assert embedder.queries == [["chess"]]
    await searcher.search("chess", drawing.options())
    assert embedder.calls == 1


async def test_neither_query_nor_vector_is_an_error(drawing: Drawing) -> None:
    for name in ("vector", "hybrid"):
        with pytest.raises(InputError, match="query must not be empty"):
            await drawing.searcher(name).search()


@pytest.mark.usefixtures("theirs")
async def test_nothing_of_another_user_is_found(searched: KnowledgeGraph, drawing: Drawing) -> None:
    await drawing.nodes(similar={"mine": -0.9})
    for name in ("vector", "hybrid"):
        hits = await drawing.searcher(name, searched).search(None, drawing.options())
        assert [hit.node.name for hit in hits] == ["mine"]
