"""The formulas of reranking: decay by age, cross-encoders, maximal marginal relevance, cosine."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.errors import InputError, RerankingError
from kgagent.models import GraphNode
from kgagent.search.candidates import Candidate
from kgagent.search.rerank import (
    RETENTION_HALF_LIFE_DAYS,
    cosine,
    decay,
    decayed,
    heat,
    maximal_marginal_relevance,
    model_scores,
    written_at,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)

Item = tuple[int, float, Sequence[float] | None]
"""Number, relevance and vector."""

components = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
relevances = st.sampled_from([-0.5, 0.0, 0.2, 0.2, 0.9])
items_of_any_kind = st.lists(
    st.tuples(relevances, st.one_of(st.none(), st.tuples(components, components, components))),
    max_size=8,
).map(
    lambda pairs: [(number, relevance, vector) for number, (relevance, vector) in enumerate(pairs)]
)


def found(
    name: str, score: float, days: float | None = 0.0, accesses: int | None = None
) -> Candidate:
    properties: dict[str, object] = {} if accesses is None else {"access_count": accesses}
    if days is not None:
        properties["updated_at"] = (NOW - timedelta(days=days)).isoformat()
    return Candidate(
        name,
        score,
        result=GraphNode(entity_key=name, label="Person", name=name, properties=properties),
    )


def after_decay(
    *candidates: Candidate, half_life_days: float | None = 30.0, drop_below: float = 0.001
) -> list[tuple[str, float]]:
    ranked = decayed(
        candidates,
        now=NOW,
        half_life_days=half_life_days,
        use_access_counts=True,
        drop_below=drop_below,
    )
    return [(one.key, one.score) for one in ranked]


@pytest.mark.parametrize(
    ("age_days", "half_life_days", "expected"),
    [(0, 30, 1.0), (30, 30, 0.5), (1, 30, 0.9771599684342459), (-10, 30, 1.0), (10, 0, 1.0)],
)
def test_decay_halves_with_each_half_life(
    age_days: float, half_life_days: float | None, expected: float
) -> None:
    assert decay(age_days, half_life_days) == pytest.approx(expected)
    assert decay(age_days, None) == 1.0


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [(-3, 0.0), (1, 0.2890648263178878), (5, 0.7472217363092141), (10, 1.0), (100, 1.0)],
)
def test_heat_grows_with_the_logarithm_of_accesses_up_to_1(accesses: int, expected: float) -> None:
    assert heat(accesses, 10) == pytest.approx(expected)
    assert heat(100, 0) == 0.0


def test_the_score_is_multiplied_by_decay_and_half_of_it_by_heat() -> None:
    items = [found("uncounted", 1.0, 30), found("hot", 1.0, 30, 20), found("cold", 1.0, 30, 0)]
    assert after_decay(*items) == [("uncounted", 0.5), ("hot", 0.5), ("cold", 0.25)]


def test_retention_classes_have_half_lives() -> None:
    assert RETENTION_HALF_LIFE_DAYS == {
        "permanent": None,
        "decision": 365,
        "standard": 90,
        "ephemeral": 7,
        "session": 1,
    }


def test_items_are_sorted_again_after_decay_and_equal_ones_keep_their_order() -> None:
    items = [found("old", 0.8, days=60), found("b", 0.5), found("a", 0.5)]
    assert after_decay(*items) == [("b", 0.5), ("a", 0.5), ("old", 0.2)]
    assert after_decay(*items, half_life_days=None) == [("old", 0.8), ("b", 0.5), ("a", 0.5)]


def test_items_that_decayed_below_a_thousandth_are_dropped_whatever_their_score() -> None:
    items = [found("nine half lives", 0.001, days=270), found("ten half lives", 900.0, days=300)]
    assert after_decay(*items) == [("nine half lives", 0.001 / 512)]
    assert after_decay(found("cold", 0.001, accesses=0)) == [("cold", 0.0005)]


def test_items_without_a_date_or_with_a_future_date_do_not_decay() -> None:
    items = [found("undated", 0.5, days=None), found("ahead", 0.4, days=-5)]
    assert after_decay(*items) == [("undated", 0.5), ("ahead", 0.4)]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"updated_at": "2026-01-01T00:00:00Z", "created_at": "2020-01-01T00:00:00Z"}, NOW),
        ({"created_at": "2026-01-01T01:00:00.000000000+01:00"}, NOW),
        ({"updated_at": "2026-01-01T01:00+01:00[Europe/Berlin]"}, NOW),
        ({"updated_at": "yesterday", "created_at": "2026-01-01T00:00:00"}, NOW),
        ({"updated_at": 1_767_225_600}, None),
    ],
)
def test_the_age_of_a_record_counts_from_its_last_change(
    properties: dict[str, str], expected: datetime | None
) -> None:
    node = GraphNode(entity_key="key", label="Person", name="Ada", properties=properties)
    assert written_at(node) == expected


class Answers:
    """Gives the scores that it was made with."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:  # noqa: ARG002
        return self.scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((), "given 2 texts and returned 0 scores"),
        ((0.1,) * 3, "given 2 texts and returned 3 scores"),
        ((0.1, math.nan), "no finite number for text 2 of 2"),
    ],
)
async def test_invalid_scores_of_a_cross_encoder_are_errors(
    scores: tuple[float, ...], message: str
) -> None:
    with pytest.raises(RerankingError, match=message):
        await model_scores(Answers(*scores), "chess", ["a row", "chess"])


def choose(items: Sequence[Item], k: int, lambda_: float = 0.5) -> list[Item]:
    return maximal_marginal_relevance(
        items, relevance=lambda item: item[1], vector=lambda item: item[2], k=k, lambda_=lambda_
    )


def worth(item: Item, chosen: Sequence[Item], lambda_: float) -> float:
    nearest = max(cosine(item[2] or (), other[2] or ()) for other in chosen)
    return lambda_ * item[1] - (1 - lambda_) * nearest


def test_a_near_duplicate_of_the_best_ranks_below_a_different_item() -> None:
    best, copy, other = (0, 0.9, [1.0, 0.0]), (1, 0.89, [1.0, 0.01]), (2, 0.5, [0.0, 1.0])
    assert choose([best, copy, other], 2) == [best, other]
    assert choose([best, copy, other], 3) == [best, other, copy]


def test_items_with_vectors_of_another_length_are_similar_to_none() -> None:
    best, copy = (0, 0.9, [1.0, 0.0]), (1, 0.8, [1.0, 0.0])
    for vector in (None, [0.0, 0.0], [1.0, 0.0, 0.0]):
        strange = (2, 0.1, vector)
        assert choose([best, copy, strange], 3) == [best, strange, copy]


@pytest.mark.parametrize(
    ("k", "lambda_", "relevance", "message"),
    [
        (-1, 0.5, 0.1, "k must be 0 or more, got -1"),
        (1, math.nan, 0.1, "lambda_ must be 0 to 1, got nan"),
        (1, 0.5, math.nan, "relevance must be a finite number, got nan"),
    ],
)
def test_invalid_values_are_named(k: int, lambda_: float, relevance: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose([(0, relevance, [1.0])], k, lambda_)


@given(items_of_any_kind, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), st.integers(0, 10))
def test_each_choice_is_the_best_remaining_by_the_formula(
    items: list[Item], lambda_: float, k: int
) -> None:
    chosen = choose(items, len(items), lambda_)
    assert sorted(chosen, key=lambda item: item[0]) == items
    assert choose(items, k, lambda_) == chosen[:k]
    assert choose(items, len(items), 1.0) == sorted(items, key=lambda item: -item[1])
    for position in range(1, len(chosen)):
        rest = chosen[position:]
        best = max(worth(item, chosen[:position], lambda_) for item in rest)
        assert worth(chosen[position], chosen[:position], lambda_) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0, 0], [0, 1, 0], 0.0),
        ([1, 0, 0], [-1, 0, 0], -1.0),
        ([1, 1], [1, 0], 0.5**0.5),
        ([2, 0, 0], [10, 0, 0], 1.0),
        pytest.param([1e200, 1e200], [1e-200, 0], 0.5**0.5, id="very long and very short"),
    ],
)
def test_cosine_is_that_of_the_angle_whatever_the_lengths(
    one: list[float], other: list[float], expected: float
) -> None:
    assert cosine(one, other) == pytest.approx(expected, abs=1e-15)
    assert cosine(one, other) == cosine(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([0, 0, 0], [1, 0, 0], id="zero vector"),
        pytest.param([1, 0], [1, 0, 0], id="different dimensions"),
        pytest.param([], [], id="no dimensions"),
        pytest.param([float("inf"), 1], [1, 1], id="not finite"),
    ],
)
def test_cosine_of_degenerate_vectors_is_0(one: list[float], other: list[float]) -> None:
    assert cosine(one, other) == 0.0
