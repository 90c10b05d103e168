from collections import deque
from collections.abc import Mapping, Sequence

import pytest

from kgagent.retrieval.searchers.searchers import ScoredKey, add_scores, graph_score

Neighbors = Mapping[str, Sequence[str]]
"""Where each node leads to, one way only."""


def walked(neighbors: Neighbors, start: str, depth: int) -> dict[str, int]:
    """Hops to each node that a start leads to, the start included."""
    depths = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in neighbors.get(here, ()) if depths[here] < depth else ():
            if there not in depths:
                depths[there] = depths[here] + 1
                queue.append(there)
    return depths


def around(neighbors: Neighbors, seeds: Sequence[str], depth: int) -> dict[str, int]:
    walks = [walked(neighbors, seed, depth) for seed in seeds]
    return {key: min(walk[key] for walk in walks if key in walk) for walk in walks for key in walk}


def from_others(neighbors: Neighbors, hits: Sequence[str], depth: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for hit in hits:
        for key, hops in walked(neighbors, hit, depth).items():
            if key != hit:
                found[key] = min(hops, found.get(key, hops))
    return found


def rank(similarities: Mapping[str, float], depths: Mapping[str, int]) -> list[ScoredKey]:
    return add_scores(similarities, depths, label_order=dict.fromkeys([*similarities, *depths], 0))


def summary_of(ranked: Sequence[ScoredKey]) -> dict[str, tuple[float, str]]:
    return {scored.entity_key: (round(scored.score, 9), scored.source) for scored in ranked}


@pytest.mark.parametrize(
    ("neighbors", "seeds", "depth", "expected"),
    [
        pytest.param(
            {"seed": ["one", "two"]}, ["seed"], 1, {"seed": (1.0, 0), "one": (0.5, 1), "two": (0.5, 1)}, id="one seed"
        ),
        pytest.param(
            {"s1": ["n"], "s2": ["n"]}, ["s1", "s2"], 1, {"s1": (1.0, 0), "s2": (1.0, 0), "n": (0.5, 1)}, id="two seeds"
        ),
        pytest.param(
            {"s": ["n1"], "n1": ["n2"]}, ["s"], 2, {"s": (1.0, 0), "n1": (0.5, 1), "n2": (1 / 3, 2)}, id="two hops"
        ),
        pytest.param(
            {"s": ["middle", "target"], "middle": ["target"]},
            ["s"],
            2,
            {"s": (1.0, 0), "middle": (0.5, 1), "target": (0.5, 1)},
            id="the shortest way counts",
        ),
        pytest.param({}, [], 1, {}, id="nothing"),
    ],
)
def test_a_graph_score_is_one_over_one_plus_depth(
    neighbors: Neighbors, seeds: list[str], depth: int, expected: dict[str, tuple[float, int]]
) -> None:
    ranked = rank({}, around(neighbors, seeds, depth))
    assert {scored.entity_key: (scored.score, scored.depth) for scored in ranked} == expected
    assert all(scored.source == "graph" for scored in ranked)


@pytest.mark.parametrize(
    "similarities",
    [{"node1": 0.9, "node2": 0.7}, {"node2": 0.9, "node3": 0.6, "node1": 0.3}, {"opposite": -0.4}, {}],
)
def test_vector_hits_score_their_similarity(similarities: dict[str, float]) -> None:
    ranked = rank(similarities, {})
    assert [(scored.entity_key, scored.score) for scored in ranked] == list(similarities.items())
    assert all((scored.source, scored.depth) == ("vector", 0) for scored in ranked)


@pytest.mark.parametrize(
    ("similarities", "neighbors", "depth", "expected"),
    [
        pytest.param(
            {"node1": 0.8, "node2": 0.6},
            {"node1": ["node3"]},
            1,
            {"node1": (0.8, "vector"), "node2": (0.6, "vector"), "node3": (0.5, "graph")},
            id="some by each",
        ),
        pytest.param(
            {"node1": 0.8, "node2": 0.6},
            {"node1": ["node2"]},
            1,
            {"node2": (1.1, "hybrid"), "node1": (0.8, "vector")},
            id="found by both",
        ),
        pytest.param({"node1": 0.7}, {}, 1, {"node1": (0.7, "vector")}, id="by meaning only"),
        pytest.param(
            {"node1": 0.8}, {"node1": ["node2"]}, 1, {"node1": (0.8, "vector"), "node2": (0.5, "graph")}, id="by graph"
        ),
        pytest.param(
            {"n1": 0.8},
            {"n1": ["n2"], "n2": ["n3"]},
            2,
            {"n1": (0.8, "vector"), "n2": (0.5, "graph"), "n3": (0.333333333, "graph")},
            id="two hops",
        ),
    ],
)
def test_a_hybrid_score_is_the_sum_of_both(
    similarities: dict[str, float], neighbors: Neighbors, depth: int, expected: dict[str, tuple[float, str]]
) -> None:
    ranked = rank(similarities, from_others(neighbors, list(similarities), depth))
    assert summary_of(ranked) == expected
    assert [scored.entity_key for scored in ranked] == list(expected)


def test_the_best_three_of_a_chain() -> None:
    chain = {f"node{number}": [f"node{number + 1}"] for number in range(1, 5)}
    similarities = {"node1": 0.9, "node2": 0.8, "node3": 0.7}
    ranked = rank(similarities, from_others(chain, list(similarities), 1))[:3]
    assert [(one.entity_key, one.score) for one in ranked] == [
        ("node2", pytest.approx(1.3)),
        ("node3", pytest.approx(1.2)),
        ("node1", 0.9),
    ]


def test_a_vector_hit_has_depth_0_even_if_reached_through_others() -> None:
    [scored] = rank({"node": 0.7}, {"node": 3})
    assert (scored.score, scored.source, scored.depth) == (0.95, "hybrid", 0)
    [scored] = rank({"node": 0.0}, {"node": 2})
    assert scored.score == pytest.approx(1 / 3)


def test_equal_scores_are_ordered_by_label_then_by_key() -> None:
    ranked = add_scores({"d": 0.5}, {"a": 1, "b": 1, "c": 1}, label_order={"a": 1, "b": 0, "c": 0, "d": 0})
    assert [scored.entity_key for scored in ranked] == ["b", "c", "d", "a"]


@pytest.mark.parametrize(("depth", "expected"), [(0, 1.0), (1, 0.5), (2, 1 / 3), (3, 0.25)])
def test_each_hop_counts_less(depth: int, expected: float) -> None:
    assert graph_score(depth) == expected
