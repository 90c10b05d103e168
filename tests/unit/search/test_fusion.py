from hypothesis import given
from hypothesis import strategies as st

from kgagent.search.fusion_strategies import reciprocal_rank_fusion


def fuse(*rankings: list[tuple[str, int]]) -> list[tuple[str, float]]:
    return reciprocal_rank_fusion(rankings, tie_break=lambda item: item)


def test_ties_are_broken_by_the_given_rule() -> None:
    assert [item for item, _ in fuse([("b", 1)], [("a", 1)], [("c", 1)])] == ["a", "b", "c"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=4))
def test_each_item_comes_once_and_the_order_of_the_rankings_does_not_count(lists: list[list[str]]) -> None:
    rankings = [[(item, rank) for rank, item in enumerate(items, start=1)] for items in lists]
    fused = fuse(*rankings)
    assert sorted(item for item, _ in fused) == sorted({item for items in lists for item in items})
    assert [item for item, _ in fuse(*reversed(rankings))] == [item for item, _ in fused]
