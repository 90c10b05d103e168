from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from kgagent.search.searchers.breadth_first import (
    ReachedNode,
    depths_from_others,
    depths_from_seeds,
)

names = st.sampled_from("abcdefg")
distances = st.dictionaries(st.tuples(names, names), st.integers(1, 5)).map(
    lambda drawn: {
        pair: hops for (a, b), hops in drawn.items() if a != b for pair in ((a, b), (b, a))
    }
)


def reached(key: str, *sources: tuple[str, int]) -> ReachedNode:
    return ReachedNode(key, 0, sources)


def test_the_distance_of_a_node_is_that_to_the_nearest_start() -> None:
    assert depths_from_seeds([reached("s", ("s", 0)), reached("n", ("s", 1), ("t", 2))]) == {
        "s": 0,
        "n": 1,
    }


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
