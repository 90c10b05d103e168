import pytest

from kgagent import KnowledgeGraph, SearchOptions, Settings, SyncKnowledgeGraph
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import InputError


def test_an_unknown_searcher_is_an_error_that_names_the_known_ones(graph: KnowledgeGraph) -> None:
    with pytest.raises(
        InputError, match="No searcher is called 'bm25'; choose among vector, graph, hybrid"
    ):
        graph.searcher("bm25", user_id="somebody")


@pytest.mark.parametrize("name", ["vector", "graph", "hybrid"])
def test_a_searcher_belongs_to_a_user(graph: KnowledgeGraph, name: str) -> None:
    with pytest.raises(InputError, match="user_id must not be empty"):
        graph.searcher(name, user_id="")


def test_synchronous_code_searches(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        tools = graph.tools(user_id=user_id)
        ada, bo = (
            tools.create_node(label="Person", name=name)["entity_key"] for name in ("Ada", "Bo")
        )
        tools.create_relationship(from_entity_key=ada, to_entity_key=bo, relationship_type="friend")
        options = SearchOptions(seed_node_ids=(ada,))
        found = {
            name: [
                hit.node.name
                for hit in graph.searcher(name, user_id=user_id).search("Ada", options)
            ]
            for name in ("vector", "graph", "hybrid")
        }
        assert found == {name: ["Ada", "Bo"] for name in found}
        assert [
            hit.node.name for hit in graph.searcher("vector", user_id=user_id).search("Bo")
        ] == ["Bo", "Ada"]
