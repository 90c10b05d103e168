import pytest

from kgagent.models import SearchHit
from tests.support.drawn import Drawing

Summary = dict[str, tuple[float, str, int]]


def summary_of(drawing: Drawing, hits: list[SearchHit]) -> Summary:
    """Score, source and depth by name, best first."""
    return {
        drawing.name(hit.entity_key): (round(hit.score, 6), hit.source, hit.depth) for hit in hits
    }


CHAIN = [(f"node{number}", f"node{number + 1}") for number in range(1, 5)]


@pytest.mark.parametrize(
    ("similar", "pairs", "options", "expected"),
    [
        pytest.param(
            {"node1": 0.8, "node2": 0.6},
            [("node1", "node3")],
            {},
            {"node1": (0.8, "vector", 0), "node2": (0.6, "vector", 0), "node3": (0.5, "graph", 1)},
            id="some by each",
        ),
        pytest.param(
            {"node1": 0.8, "node2": 0.6},
            [("node1", "node2")],
            {},
            {"node1": (1.3, "hybrid", 0), "node2": (1.1, "hybrid", 0)},
            id="each leads to the other",
        ),
        pytest.param({"node1": 0.7}, [], {}, {"node1": (0.7, "vector", 0)}, id="by meaning only"),
        pytest.param(
            {"node1": 0.8},
            [("node1", "node2")],
            {},
            {"node1": (0.8, "vector", 0), "node2": (0.5, "graph", 1)},
            id="by graph",
        ),
        pytest.param(
            {"n1": 0.8},
            [("n1", "n2"), ("n2", "n3")],
            {"graph_depth": 2},
            {"n1": (0.8, "vector", 0), "n2": (0.5, "graph", 1), "n3": (0.333333, "graph", 2)},
            id="two hops",
        ),
        pytest.param(
            {"node1": 0.9, "node2": 0.8, "node3": 0.7},
            CHAIN,
            {"top_k": 3},
            {"node1": (1.4, "hybrid", 0), "node2": (1.3, "hybrid", 0), "node3": (1.2, "hybrid", 0)},
            id="the best three of a chain",
        ),
        pytest.param(
            {"node1": 0.9, "node3": 0.8},
            CHAIN,
            {"graph_depth": 2},
            {
                "node1": (1.233333, "hybrid", 0),
                "node3": (1.133333, "hybrid", 0),
                "node2": (0.5, "graph", 1),
                "node4": (0.5, "graph", 1),
                "node5": (0.333333, "graph", 2),
            },
            id="two hits over a node between them",
        ),
    ],
)
async def test_vector_and_graph_scores_are_added(
    drawing: Drawing,
    similar: dict[str, float],
    pairs: list[tuple[str, str]],
    options: dict[str, int],
    expected: Summary,
) -> None:
    await drawing.nodes(
        *{name for pair in pairs for name in pair} - similar.keys(), similar=similar
    )
    await drawing.joins(pairs)
    hits = await drawing.searcher("hybrid").search(None, drawing.options(**options))
    assert summary_of(drawing, hits) == expected
    assert [drawing.name(hit.entity_key) for hit in hits] == list(expected)


async def test_seeds_are_expanded_besides_the_vector_hits(drawing: Drawing) -> None:
    await drawing.nodes("seed", "near", similar={"hit": 0.9})
    await drawing.joins([("seed", "near")])
    hits = await drawing.searcher("hybrid").search(None, drawing.options("seed"))
    assert summary_of(drawing, hits) == {
        "seed": (1.0, "graph", 0),
        "hit": (0.9, "vector", 0),
        "near": (0.5, "graph", 1),
    }


async def test_a_seed_that_also_matches_scores_for_both(drawing: Drawing) -> None:
    await drawing.nodes(similar={"seed": 0.7, "hit": 0.9})
    hits = await drawing.searcher("hybrid").search(None, drawing.options("seed"))
    assert summary_of(drawing, hits) == {"seed": (1.7, "hybrid", 0), "hit": (0.9, "vector", 0)}


async def test_a_seed_of_another_user_is_skipped(drawing: Drawing, theirs: Drawing) -> None:
    await drawing.nodes(similar={"mine": 0.2})
    options = drawing.options().model_copy(
        update={"seed_node_ids": (theirs.key("secret"), "no such key")}
    )
    hits = await drawing.searcher("hybrid").search(None, options)
    assert summary_of(drawing, hits) == {"mine": (0.2, "vector", 0)}


@pytest.mark.parametrize(("top_k", "starts"), [(1, 20), (10, 20), (15, 30)])
async def test_twice_top_k_and_at_least_20_vector_hits_are_expanded(
    drawing: Drawing, top_k: int, starts: int
) -> None:
    names = [f"hit{number:02}" for number in range(40)]
    await drawing.nodes(similar={name: 0.9 - position / 100 for position, name in enumerate(names)})
    await drawing.joins([(names[starts - 1], names[0]), (names[starts], names[1])])
    hits = await drawing.searcher("hybrid").search(None, drawing.options(top_k=top_k))
    sources = {hit.node.name: hit.source for hit in hits}
    assert sources[names[0]] == "hybrid"
    assert sources.get(names[1], "vector") == "vector"


async def test_equal_scores_are_ordered_by_label_then_by_key(drawing: Drawing) -> None:
    await drawing.nodes("z", "y", similar={"hit": 0.5})
    await drawing.nodes("a", label="Concept")
    await drawing.joins([("hit", "z"), ("hit", "y")])
    await drawing.joins([("hit", "a")], neo4j_type="engages_with")
    hits = await drawing.searcher("hybrid").search(None, drawing.options())
    assert [hit.score for hit in hits] == pytest.approx([0.5] * 4, abs=1e-6)
    assert [hit.node.name for hit in hits if hit.source == "graph"] == ["y", "z", "a"]
