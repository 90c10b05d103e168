"""A node with thousands of neighbors: the walk stays exact, and its memory does not grow with its
depth.
"""

from uuid import uuid4

import neo4j
import pytest

from kgagent import KnowledgeGraph
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.knowledge_graph import services_of
from kgagent.search import searchers
from tests.conftest import Server
from tests.support.drawn import Drawing

SPOKES = 3_000
NAMES = [f"n{number:04}" for number in range(SPOKES)]


@pytest.fixture(scope="module")
async def hub(opened: KnowledgeGraph) -> Drawing:
    """A hub, its neighbors, and of each neighbor one node that only it leads to."""
    drawing = Drawing(opened, f"user-{uuid4()}")
    await drawing.nodes("hub", *NAMES, *(f"far {name}" for name in NAMES))
    # Newest first is how the database gives relationships; keys in mixed order tell order by key
    # from that.
    mixed = sorted(NAMES, key=lambda name: name[::-1])
    await drawing.joins(("hub", name) for name in mixed)
    await drawing.joins((name, f"far {name}") for name in mixed)
    return drawing


async def test_the_neighbors_of_a_hub_are_limited_in_the_order_of_keys(hub: Drawing) -> None:
    searcher = hub.searcher("graph")
    for depth in (1, 3, 5):
        hits = await searcher.search(None, hub.options("hub", top_k=100, graph_depth=depth))
        assert [hit.node.name for hit in hits] == ["hub", *NAMES[:99]]


async def test_a_search_continues_through_a_hub(hub: Drawing) -> None:
    hits = await hub.searcher("graph").search(
        None, hub.options(f"far {NAMES[7]}", top_k=10, graph_depth=3)
    )
    assert [(hit.node.name, hit.depth) for hit in hits] == [
        (f"far {NAMES[7]}", 0),
        (NAMES[7], 1),
        ("hub", 2),
        *((name, 3) for name in NAMES[:8] if name != NAMES[7]),
    ]


async def test_a_match_next_to_a_hub_is_found_whatever_its_key(hub: Drawing) -> None:
    await hub.nodes(similar={"zz": 0.9})
    await hub.joins([("hub", "zz")])
    hits = await hub.searcher("hybrid").search(None, hub.options("hub", top_k=2))
    assert [(hit.node.name, hit.source) for hit in hits] == [("zz", "hybrid"), ("hub", "graph")]
    assert [hit.score for hit in hits] == pytest.approx([1.4, 1.0], abs=1e-6)


async def test_limited_reading_still_finds_as_many_hits_as_requested(
    hub: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchers, "READ_PER_HOP", 500)
    options = hub.options("hub", top_k=50, graph_depth=2)
    hits = await hub.searcher("graph").search(None, options)
    assert [hit.depth for hit in hits] == [0] + [1] * 49
    assert await hub.searcher("graph").search(None, options) == hits


async def test_memory_on_the_server_does_not_grow_with_the_depth(
    hub: Drawing, server: Server
) -> None:
    ontology = hub.graph.ontology
    text = statement(
        "expand_breadth_first",
        labels=Identifier.any_of(ontology.labels),
        types=Identifier.any_of(ontology.relationships),
    )

    def memory(depth: int) -> int:
        parameters = {
            "user_id": hub.user_id,
            "keys": [hub.key("hub")],
            "starts": 1,
            "label_order": dict(ontology.label_order),
            "depth": depth,
            "nodes": 1_000,
            "node_neighbors": 1_000,
            "start_relationships": 100_000,
            "node_relationships": 2_000,
        }
        with neo4j.GraphDatabase.driver(
            server.uri, auth=(server.username, server.password)
        ) as driver:
            answer = driver.execute_query(
                f"{services_of(hub.graph).store.features.language}PROFILE {text}", parameters
            )
        assert len(answer.records) == 1_000
        assert answer.summary.profile is not None
        return int(answer.summary.profile["args"]["GlobalMemory"])

    assert memory(5) < 2 * memory(1)
