"""Each ranking orders paths by something else, and says why."""

import math

import pytest

from kgagent.models.pattern_query import RankingStrategy
from kgagent.patterns.ranking import PathMetrics, PathRanking

SHORT = PathMetrics(hops=1, nodes=2, weight=1.0, centrality=1.0, semantic=0.2)
HEAVY = PathMetrics(hops=3, nodes=4, weight=9.0, centrality=1.5, semantic=0.1)
CENTRAL = PathMetrics(hops=4, nodes=5, weight=4.0, centrality=5.0, semantic=0.0)
LIKELY = PathMetrics(hops=5, nodes=6, weight=2.0, centrality=0.5, semantic=0.9)
ALL = [SHORT, HEAVY, CENTRAL, LIKELY]


@pytest.mark.parametrize(
    ("strategy", "best", "score", "why"),
    [
        (RankingStrategy.PATH_LENGTH, SHORT, 1.0, "1 / 1 relationship"),
        (RankingStrategy.EDGE_WEIGHT, HEAVY, 9.0, "sum of weight over 3 relationships"),
        (RankingStrategy.NODE_CENTRALITY, CENTRAL, 5.0, r"mean of ln\(1 \+ degree\) over 5 nodes"),
        (RankingStrategy.SEMANTIC_SCORE, LIKELY, 0.9, "mean cosine of the query"),
    ],
)
def test_each_strategy_ranks_another_path_first_and_explains_it(
    strategy: RankingStrategy, best: PathMetrics, score: float, why: str
) -> None:
    ranking = PathRanking(strategy)
    assert max(ALL, key=ranking.score) is best
    assert ranking.score(best) == score
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(ranking.explain(best))


def test_hybrid_is_the_weighted_mean_of_its_parts() -> None:
    ranking = PathRanking(
        RankingStrategy.HYBRID, {"length": 1, "weight": 1, "centrality": 1, "semantic": 1}
    )
    expected = (1 / 3 + 9 / 12 + 1.5 / 2.5 + 1.1 / 2) / 4
    assert math.isclose(ranking.score(HEAVY), expected)
    assert ranking.explain(HEAVY).startswith(
        f"HYBRID {expected:.3f}: semantic 0.55 x 0.25 + length 0.33 x 0.25"
    )


def test_hybrid_omits_unknown_parts_and_zero_weights() -> None:
    ranking = PathRanking(RankingStrategy.HYBRID, {"length": 1, "semantic": 3})
    assert ranking.score(PathMetrics(hops=2, nodes=3)) == 0.5
    assert "semantic" not in ranking.explain(PathMetrics(hops=2, nodes=3))
    assert not ranking.needs("weight")


def test_a_path_without_embeddings_ranks_last_by_similarity() -> None:
    ranking = PathRanking(RankingStrategy.SEMANTIC_SCORE)
    assert ranking.score(PathMetrics(hops=1, nodes=2)) == -1.0
    assert "no node or relationship of the path has an embedding" in ranking.explain(
        PathMetrics(hops=1, nodes=2)
    )
