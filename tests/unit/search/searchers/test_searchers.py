from collections.abc import Mapping

import pytest

from kgagent.search.searchers.searchers import ScoredKey, add_scores, graph_score


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
