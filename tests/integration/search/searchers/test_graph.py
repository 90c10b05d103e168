from itertools import pairwise

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.models import GraphNode, SearchHit
from tests.support.drawn import Drawing
from tests.support.stored import cypher

Summary = dict[str, tuple[float, int]]


def summary_of(drawing: Drawing, hits: list[SearchHit]) -> Summary:
    """Score and depth by name."""
    return {drawing.name(hit.entity_key): (hit.score, hit.depth) for hit in hits}


@pytest.mark.parametrize(
    ("pairs", "seeds", "depth", "expected"),
    [
        pytest.param(
            [("seed", "one"), ("seed", "two")],
            ["seed"],
            1,
            {"seed": (1.0, 0), "one": (0.5, 1), "two": (0.5, 1)},
            id="one seed",
        ),
        pytest.param(
            [("s1", "n"), ("s2", "n")],
            ["s1", "s2"],
            1,
            {"s1": (1.0, 0), "s2": (1.0, 0), "n": (0.5, 1)},
            id="two seeds",
        ),
        pytest.param(
            [("s", "n1"), ("n1", "n2")],
            ["s"],
            2,
            {"s": (1.0, 0), "n1": (0.5, 1), "n2": (1 / 3, 2)},
            id="two hops",
        ),
        pytest.param(
            [("s", "middle"), ("s", "target"), ("middle", "target")],
            ["s"],
            2,
            {"s": (1.0, 0), "middle": (0.5, 1), "target": (0.5, 1)},
            id="the shortest way counts",
        ),
        pytest.param(
            [("n1", "s"), ("n2", "n1")],
            ["s"],
            2,
            {"s": (1.0, 0), "n1": (0.5, 1), "n2": (1 / 3, 2)},
            id="against the direction",
        ),
        pytest.param(
            [("s", "n1"), ("n1", "n2")],
            ["s"],
            0,
            {"s": (1.0, 0), "n1": (0.5, 1)},
            id="depth 0 is 1",
        ),
        pytest.param(
            [("s", "n1"), ("n1", "n2")],
            ["s", "s"],
            1,
            {"s": (1.0, 0), "n1": (0.5, 1)},
            id="a seed twice",
        ),
        pytest.param([("a", "b")], ["ghost"], 1, {}, id="an unknown seed"),
        pytest.param(
            [("a", "b")],
            ["ghost", "b"],
            1,
            {"b": (1.0, 0), "a": (0.5, 1)},
            id="one unknown, one not",
        ),
    ],
)
async def test_nodes_are_found_around_seeds_in_both_directions(
    drawing: Drawing, pairs: list[tuple[str, str]], seeds: list[str], depth: int, expected: Summary
) -> None:
    await drawing.nodes(*(name for pair in pairs for name in pair))
    await drawing.joins(pairs)
    hits = await drawing.searcher("graph").search(None, drawing.options(*seeds, graph_depth=depth))
    assert summary_of(drawing, hits) == expected
    assert all(hit.source == "graph" for hit in hits)


async def test_without_seeds_a_search_is_an_error(drawing: Drawing) -> None:
    with pytest.raises(InputError) as caught:
        await drawing.searcher("graph").search("chess")
    assert str(caught.value) == "graph search requires seed node IDs in SearchOptions.seed_node_ids"


async def test_five_hops_are_searched_at_most(drawing: Drawing) -> None:
    names = [f"n{number}" for number in range(8)]
    await drawing.nodes(*names)
    await drawing.joins(pairwise(names))
    hits = await drawing.searcher("graph").search(None, drawing.options("n0", graph_depth=5))
    assert [(hit.node.name, hit.depth) for hit in hits] == [
        (name, hops) for hops, name in enumerate(names[:6])
    ]


async def test_nodes_of_one_depth_are_ordered_by_label_then_by_key_before_the_cut(
    drawing: Drawing,
) -> None:
    await drawing.nodes("seed", "z", "y")
    await drawing.nodes("a", "b", label="Concept")
    await drawing.joins([("seed", "y"), ("seed", "z")])
    await drawing.joins([("seed", "b"), ("seed", "a")], neo4j_type="engages_with")
    searcher = drawing.searcher("graph")
    hits = await searcher.search(None, drawing.options("seed"))
    assert [hit.node.name for hit in hits] == ["seed", "y", "z", "a", "b"]
    for top_k in range(1, 5):
        assert (
            await searcher.search(None, drawing.options("seed", top_k=top_k, graph_depth=3))
            == hits[:top_k]
        )


async def test_two_relationships_between_two_nodes_are_one_step(drawing: Drawing) -> None:
    await drawing.nodes("seed", "a", "b", "c")
    await drawing.joins(
        [("seed", "a"), ("a", "seed"), ("seed", "b"), ("seed", "c"), ("seed", "seed")]
    )
    hits = await drawing.searcher("graph").search(None, drawing.options("seed", top_k=3))
    assert [hit.node.name for hit in hits] == ["seed", "a", "b"]


async def test_a_search_never_passes_through_another_user(
    graph: KnowledgeGraph, drawing: Drawing, theirs: Drawing
) -> None:
    await drawing.nodes("seed", "beyond", "next")
    await drawing.joins([("seed", "next")])
    await cypher(
        graph,
        "MATCH (a:Person {entity_key: $seed}), (x:Person {entity_key: $secret}), (b:Person "
        "{entity_key: $beyond}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user}]->(x)-[:has_relationship_with "
        "{user_id: $user}]->(b) "
        "CREATE (a)-[:has_relationship_with {user_id: $other}]->(b)",
        seed=drawing.key("seed"),
        secret=theirs.key("secret"),
        beyond=drawing.key("beyond"),
        user=drawing.user_id,
        other=theirs.user_id,
    )
    searcher = drawing.searcher("graph")
    hits = await searcher.search(None, drawing.options("seed", graph_depth=5))
    assert [hit.node.name for hit in hits] == ["seed", "next"]
    options = drawing.options().model_copy(
        update={"seed_node_ids": (theirs.key("secret"),), "graph_depth": 5}
    )
    assert await searcher.search(None, options) == []


async def test_relationships_of_an_old_graph_without_user_id_are_followed(drawing: Drawing) -> None:
    await drawing.nodes("seed", "next")
    await drawing.joins([("seed", "next")])
    await cypher(
        drawing.graph,
        "MATCH (:Person|Concept {user_id: $user})-[r]->() REMOVE r.user_id",
        user=drawing.user_id,
    )
    hits = await drawing.searcher("graph").search(None, drawing.options("seed"))
    assert [hit.node.name for hit in hits] == ["seed", "next"]


async def test_a_node_deleted_before_hydration_is_skipped(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drawing.nodes("seed", "gone", "next")
    await drawing.joins([("seed", "gone"), ("seed", "next")])
    read = drawing.graph.retrieval.nodes

    async def delete_and_read(keys: list[str], user_id: str) -> list[GraphNode]:
        await cypher(
            drawing.graph,
            "MATCH (n:Person {entity_key: $key}) DETACH DELETE n",
            key=drawing.key("gone"),
        )
        return await read(keys, user_id=user_id)

    monkeypatch.setattr(drawing.graph.retrieval, "nodes", delete_and_read)
    hits = await drawing.searcher("graph").search(None, drawing.options("seed"))
    assert [hit.node.name for hit in hits] == ["seed", "next"]
