from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from kgagent.errors import InputError
from kgagent.models import GraphNode
from kgagent.search.rerank import (
    RETENTION_HALF_LIFE_DAYS,
    decay,
    decay_by_age,
    decayed_score,
    heat,
    written_at,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Found(NamedTuple):
    name: str
    score: float
    days: float | None = 0.0
    counts: tuple[int, ...] = ()
    kept: str = "standard"

    @property
    def written(self) -> datetime | None:
        return None if self.days is None else NOW - timedelta(days=self.days)


def decayed(
    *items: Found, half_life_days: float | None = 30.0, top_k: int | None = None
) -> list[tuple[str, float]]:
    ranked = decay_by_age(
        items,
        score=lambda item: item.score,
        timestamp=lambda item: item.written,
        now=NOW,
        half_life_days=half_life_days,
        accesses=lambda item: item.counts,
        top_k=top_k,
    )
    return [(one.item.name, one.score) for one in ranked]


@pytest.mark.parametrize(
    ("age_days", "half_life_days", "expected"),
    [
        (0, 30, 1.0),
        (30, 30, 0.5),
        (1, 30, 0.9771599684342459),
        (-10, 30, 1.0),
        (10, 0, 1.0),
        (10_000, None, 1.0),
        (1e6, 1e-3, 0.0),
    ],
)
def test_decay_halves_with_each_half_life(
    age_days: float, half_life_days: float | None, expected: float
) -> None:
    assert decay(age_days, half_life_days) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [(-3, 0.0), (1, 0.2890648263178878), (5, 0.7472217363092141), (10, 1.0), (100, 1.0)],
)
def test_heat_grows_with_the_logarithm_of_accesses_up_to_1(accesses: int, expected: float) -> None:
    assert heat(accesses, 10) == pytest.approx(expected)
    assert heat(100, 0) == 0.0


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        pytest.param((0,), 0.25, id="never looked at"),
        pytest.param((5, 20), 0.5, id="the greatest of several counts holds"),
        pytest.param((), 0.5, id="nobody counts"),
    ],
)
def test_the_score_is_multiplied_by_decay_and_half_of_it_by_heat(
    accesses: tuple[int, ...], expected: float
) -> None:
    assert decayed_score(1.0, 0.5, accesses, reference=10) == pytest.approx(expected)


def test_retention_classes_have_half_lives() -> None:
    assert RETENTION_HALF_LIFE_DAYS == {
        "permanent": None,
        "decision": 365,
        "standard": 90,
        "ephemeral": 7,
        "session": 1,
    }


def test_items_are_sorted_again_after_decay() -> None:
    assert decayed(Found("old", 0.8, days=60), Found("new", 0.5)) == [("new", 0.5), ("old", 0.2)]


def test_items_decay_before_they_are_cut_off() -> None:
    assert decayed(Found("old", 0.9, days=60), Found("new", 0.5), top_k=1) == [("new", 0.5)]


def test_items_with_equal_scores_keep_their_order() -> None:
    assert [name for name, _ in decayed(Found("b", 0.5), Found("a", 0.5), Found("c", 0.5))] == [
        "b",
        "a",
        "c",
    ]


def test_items_that_decayed_below_a_thousandth_are_dropped_whatever_their_score() -> None:
    kept = decayed(
        Found("nine half lives", 0.001, days=270), Found("ten half lives", 900.0, days=300)
    )
    assert kept == [("nine half lives", 0.001 / 512)]


def test_heat_alone_drops_nothing() -> None:
    assert decayed(Found("cold", 0.001, counts=(0,))) == [("cold", 0.0005)]


def test_items_without_a_date_or_with_a_future_date_do_not_decay() -> None:
    assert decayed(Found("undated", 0.5, days=None), Found("ahead", 0.4, days=-5)) == [
        ("undated", 0.5),
        ("ahead", 0.4),
    ]


def test_a_date_without_a_zone_is_read_as_utc() -> None:
    naive = datetime(2025, 12, 2)
    [ranked] = decay_by_age(
        [1.0], score=float, timestamp=lambda _: naive, now=NOW, half_life_days=30
    )
    assert ranked.score == pytest.approx(0.5)


def test_each_item_can_have_its_own_half_life() -> None:
    items = [Found(name, 1.0, days=7, kept=name) for name in ("session", "ephemeral", "permanent")]
    ranked = decay_by_age(
        items,
        score=lambda item: item.score,
        timestamp=lambda item: item.written,
        now=NOW,
        half_life_days=lambda item: RETENTION_HALF_LIFE_DAYS[item.kept],
    )
    assert [(one.item.name, one.score) for one in ranked] == [
        ("permanent", 1.0),
        ("ephemeral", 0.5),
        ("session", 2**-7),
    ]


def test_without_a_half_life_items_are_only_sorted() -> None:
    assert decayed(Found("a", 0.1, days=900), Found("b", 0.2, days=1), half_life_days=None) == [
        ("b", 0.2),
        ("a", 0.1),
    ]
    assert decayed() == []


def test_a_negative_limit_is_an_error() -> None:
    with pytest.raises(InputError, match="top_k must be 0 or more, got -1"):
        decayed(Found("a", 1.0), top_k=-1)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"updated_at": "2026-01-01T00:00:00Z", "created_at": "2020-01-01T00:00:00Z"}, NOW),
        ({"created_at": "2026-01-01T01:00:00.000000000+01:00"}, NOW),
        ({"updated_at": "2026-01-01T01:00+01:00[Europe/Berlin]"}, NOW),
        ({"updated_at": "yesterday", "created_at": "2026-01-01T00:00:00"}, NOW),
        ({"updated_at": 1_767_225_600}, None),
        ({}, None),
    ],
)
def test_the_age_of_a_record_counts_from_its_last_change(
    properties: dict[str, str], expected: datetime | None
) -> None:
    assert (
        written_at(GraphNode(entity_key="key", label="Person", name="Ada", properties=properties))
        == expected
    )
