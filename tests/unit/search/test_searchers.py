from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.search.searchers import (
    ReachedNode,
    ScoredKey,
    add_scores,
    depths_from_others,
    graph_score,
)

names = st.sampled_from("abcdefg")
distances = st.dictionaries(st.tuples(names, names), st.integers(1, 5)).map(
    lambda drawn: {
        pair: hops for (a, b), hops in drawn.items() if a != b for pair in ((a, b), (b, a))
    }
)


def rank(similarities: Mapping[str, float], depths: Mapping[str, int]) -> list[ScoredKey]:
    return add_scores(similarities, depths, label_order=dict.fromkeys([*similarities, *depths], 0))


def test_a_vector_hit_has_depth_0_even_if_reached_through_others() -> None:
    [scored] = rank({"node": 0.7}, {"node": 3})
    assert (scored.score, scored.source, scored.depth) == (0.95, "hybrid", 0)
    [scored] = rank({"node": 0.0}, {"node": 2})
    assert scored.score == pytest.approx(1 / 3)


def test_equal_scores_are_ordered_by_label_then_by_key() -> None:
    ranked = add_scores(
        {"d": 0.5}, {"a": 1, "b": 1, "c": 1}, label_order={"a": 1, "b": 0, "c": 0, "d": 0}
    )
    assert [scored.entity_key for scored in ranked] == ["b", "c", "d", "a"]


@pytest.mark.parametrize(("depth", "expected"), [(0, 1.0), (1, 0.5), (2, 1 / 3), (3, 0.25)])
def test_each_hop_counts_less(depth: int, expected: float) -> None:
    assert graph_score(depth) == expected


def reached(key: str, *sources: tuple[str, int]) -> ReachedNode:
    return ReachedNode(key, 0, sources)


def test_the_distance_of_a_node_is_that_to_the_nearest_start() -> None:
    found = [reached("s", ("s", 0)), reached("n", ("s", 1), ("t", 2))]
    assert depths_from_others(found, seeds={"s", "t"}) == {"s": 0, "n": 1}


def test_a_start_has_the_distance_of_the_nearest_other_start() -> None:
    found = [
        reached("s", ("s", 0), ("t", 2)),
        reached("t", ("t", 0), ("s", 2)),
        reached("u", ("u", 0)),
    ]
    assert depths_from_others(found, seeds=()) == {"s": 2, "t": 2}


def test_a_seed_reaches_itself() -> None:
    found = [reached("s", ("s", 0), ("t", 2)), reached("t", ("t", 0), ("s", 2))]
    assert depths_from_others(found, seeds={"s"}) == {"s": 0, "t": 2}


def test_an_edge_seen_from_one_end_counts_for_both() -> None:
    found = [reached("hub", ("hub", 0)), reached("t", ("t", 0), ("hub", 1))]
    assert depths_from_others(found, seeds=()) == {"hub": 1, "t": 1}


@given(distances, st.sets(names, min_size=1))
def test_the_two_nearest_starts_of_each_node_are_enough(
    between: Mapping[tuple[str, str], int], starts: set[str]
) -> None:
    found = []
    for key in "abcdefg":
        sources = [
            (start, 0 if start == key else between.get((start, key))) for start in sorted(starts)
        ]
        known = sorted(
            ((s, hops) for s, hops in sources if hops is not None), key=lambda source: source[1]
        )
        if known:
            found.append(reached(key, *known[:2]))
    expected = {
        key: min(hops)
        for key in "abcdefg"
        if (hops := [between[s, key] for s in starts if s != key and (s, key) in between])
    }
    assert depths_from_others(found, seeds=()) == expected
