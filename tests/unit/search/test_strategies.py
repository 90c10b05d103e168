import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever, Retriever
from kgagent.search.candidates import Candidate
from kgagent.search.strategies import FUSED, fuse

SHORT: dict[str, FusedRetriever] = {
    "g": "node_vector",
    "t": "node_fulltext",
    "r": "relationship_vector",
    "w": "relationship_fulltext",
}


def rankings(**counts: int) -> dict[Retriever, list[Candidate]]:
    """Rankings of so many items each, none of them in two; keys begin with the letter of their
    ranking.
    """
    return {
        SHORT[name]: [Candidate(f"{name}{i}", 1.0 - i / 10) for i in range(n)]
        for name, n in counts.items()
    }


def keys(*rows: str) -> dict[Retriever, list[Candidate]]:
    return {
        finder: [Candidate(key, 0.5) for key in row.split()]
        for finder, row in zip(FUSED, rows, strict=False)
    }


def letters(fused: list[Any]) -> str:
    return "".join(item.key[0] for item in fused)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("g1 g2", "t1 t2"), {"g1": 1 / 61, "t1": 1 / 61, "g2": 1 / 62, "t2": 1 / 62}),
        (("x g2", "x t2"), {"x": 2 / 61, "g2": 1 / 62, "t2": 1 / 62}),
        (("a b a", ""), {"a": 1 / 61, "b": 1 / 62}),
        (("", "", ""), {}),
    ],
)
def test_reciprocal_ranks_are_summed(rows: tuple[str, ...], expected: dict[str, float]) -> None:
    fused = fuse(keys(*rows), strategy="rrf")
    assert {item.key: item.score for item in fused} == pytest.approx(expected)
    assert [item.score for item in fused] == sorted(expected.values(), reverse=True)


def test_a_constant_not_above_0_becomes_60() -> None:
    [item] = fuse(keys("a"), strategy="rrf", k=0)
    assert item.score == pytest.approx(1 / 61)


def test_equal_scores_are_ordered_by_ranking_then_by_key() -> None:
    assert [item.key for item in fuse(keys("b", "a", "c"), strategy="rrf")] == [
        "b",
        "a",
        "c",
    ]
    tied = {"node_vector": [Candidate("z", 0.5), Candidate("a", 0.5)]}
    assert [i.key for i in fuse(tied, strategy="weighted")] == ["a", "z"]  # type: ignore[arg-type]


def test_an_item_of_several_rankings_has_the_type_of_the_first() -> None:
    assert [item.found_by for item in fuse(keys("", "x", "x"), strategy="rrf")] == [
        ("node_fulltext", "relationship_vector")
    ]


@pytest.mark.parametrize(
    ("counts", "order"),
    [({"g": 3, "t": 2}, "gtgtg"), ({}, ""), ({"g": 1, "t": 1, "r": 1, "w": 2}, "gtrww")],
)
def test_interleaving_takes_one_item_of_each_ranking_in_turn(
    counts: dict[str, int], order: str
) -> None:
    assert letters(fuse(rankings(**counts), strategy="interleave")) == order


def test_graph_first_puts_text_last() -> None:
    assert letters(fuse(rankings(g=1, t=1, r=2, w=1), strategy="graph_first")) == "grrwt"


def test_text_first_puts_graph_last() -> None:
    assert letters(fuse(rankings(g=1, t=1, r=2, w=1), strategy="text_first")) == "twrrg"


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"node_vector": 0.8, "node_fulltext": 0.2}, {"g": 0.8, "t": 0.2, "r": 0.8, "w": 0.2}),
        (
            {"node_vector": 1, "node_fulltext": 1, "relationship_vector": 1},
            {"g": 1 / 3, "t": 1 / 3, "r": 1 / 3},
        ),
        ({"node_fulltext": 1}, {"t": 1.0, "g": 0.0, "r": 0.0}),
        (None, {"g": 0.5, "t": 0.5, "r": 0.5}),
    ],
)
def test_weights_are_divided_by_their_sum(
    weights: dict[FusedRetriever, float] | None, expected: dict[str, float]
) -> None:
    given: dict[Retriever, list[Candidate]] = {
        SHORT[name]: [Candidate(name, 1.0)] for name in expected
    }
    fused = fuse(given, strategy="weighted", weights=weights)
    assert {item.key: item.score for item in fused} == pytest.approx(expected)
    assert fused[0].score == max(expected.values())


def test_weighted_scores_of_two_rankings_are_ordered_together() -> None:
    given: dict[Retriever, list[Candidate]] = {
        "node_vector": [Candidate("a", 0.9), Candidate("b", 0.5)],
        "node_fulltext": [Candidate("c", 0.8), Candidate("d", 0.6)],
    }
    fused = fuse(given, strategy="weighted")
    assert [item.score for item in fused] == pytest.approx([0.45, 0.4, 0.3, 0.25])


@pytest.mark.parametrize(
    "weights",
    [{"node_vector": 0.0}, {"node_vector": -1.0, "node_fulltext": 2.0}, {"nodes": 1.0}, {}],
)
def test_invalid_weights_are_rejected(weights: Any) -> None:
    with pytest.raises(InputError, match="weights must name"):
        fuse(rankings(g=1), strategy="weighted", weights=weights)


def test_an_unknown_strategy_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(
        InputError,
        match=r"strategy must be one of calibrated, rrf, weighted, interleave.*got 'best'",
    ):
        fuse(rankings(g=1), strategy="best")


ANY_RETRIEVERS = st.dictionaries(
    st.sampled_from(FUSED),
    st.lists(st.builds(Candidate, st.sampled_from("abcdef"), st.floats(0.0, 1.0)), max_size=6),
)


@given(
    ANY_RETRIEVERS,
    st.sampled_from(["rrf", "weighted", "interleave", "graph_first", "text_first"]),
)
def test_every_strategy_returns_each_item_once_whatever_the_order_of_rankings(
    given_rankings: Any, strategy: Any
) -> None:
    fused = fuse(given_rankings, strategy=strategy)
    every = {item.key for items in given_rankings.values() for item in items}
    assert len({item.key for item in fused}) == len(fused) == len(every)
    for order in itertools.islice(itertools.permutations(given_rankings), 6):
        assert fuse({name: given_rankings[name] for name in order}, strategy=strategy) == fused
