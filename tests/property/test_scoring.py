"""Invariants 9 and 10: the number that is shown sorts, and what is at least as good in every feature ranks no lower."""

import itertools
from collections.abc import Sequence
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.models.hybrid import HybridSearchOptions
from kgagent.plain_names import are_forms
from kgagent.search.scoring import (
    FEATURES,
    WEIGHTS,
    Features,
    clarity,
    named,
    nearness,
    score,
    specificity,
)
from kgagent.tools import Payload
from tests.support.examples import examples
from tests.support.payloads import succeeded

shares = st.floats(0.0, 1.0)
features = st.builds(Features, **dict.fromkeys(FEATURES, shares))
words = st.sampled_from(["chess", "mentor", "college", "hostile", "close", "Rome", "Ruth", "me"])
phrases = st.lists(words, min_size=1, max_size=5).map(" ".join)
names = st.sampled_from(["Ada", "Ruth", "Bo", "Rome", "Chess club"])
relationships = st.lists(
    st.tuples(names, names, words, phrases, st.integers(1, 5)).filter(lambda one: one[0] != one[1]),
    min_size=1,
    max_size=12,
    unique_by=lambda one: frozenset(one[:2]),
)


def dominates(one: Features, other: Features) -> bool:
    """Whether one is at least as good in every feature."""
    return all(mine >= theirs for mine, theirs in zip(one, other, strict=True))


def test_no_weight_is_negative_and_there_are_at_most_eight() -> None:
    assert len(FEATURES) <= 8
    assert min(WEIGHTS) >= 0.0
    assert sum(WEIGHTS) > 0.0


@given(features, features)
def test_what_is_at_least_as_good_in_every_feature_never_scores_less(one: Features, other: Features) -> None:
    best = Features(*map(max, one, other))
    assert score(best) >= max(score(one), score(other))


@given(features)
def test_a_score_is_0_to_1(one: Features) -> None:
    assert 0.0 <= score(one) <= 1.0


@given(features, st.sampled_from(FEATURES), shares)
def test_a_better_feature_never_lowers_the_score(one: Features, feature: str, value: float) -> None:
    higher = one._replace(**{feature: max(value, getattr(one, feature))})
    assert score(higher) >= score(one)


@given(st.lists(st.floats(-2.0, 2.0)), st.integers(0, 9), st.integers(0, 10_000), st.integers(0, 10_000))
def test_every_feature_is_0_to_1(values: list[float], hops: int, degree: int, total: int) -> None:
    for value in (clarity(values), nearness(hops), specificity(degree, total), named(map(abs, values))):
        assert 0.0 <= value <= 1.0


@given(st.text("abcde", max_size=9), st.text("abcde", max_size=9))
def test_forms_of_a_word_are_forms_of_each_other(one: str, other: str) -> None:
    assert are_forms(one, other) is are_forms(other, one)


async def build(graph: KnowledgeGraph, drawn: Sequence[tuple[str, str, str, str, int]]) -> str:
    """A graph of a user with an owner; gives the user."""
    user_id = f"user-{uuid4()}"
    nodes = [
        {"label": "Person", "name": name, "is_owner": name == "Ada"}
        for name in dict.fromkeys(name for first, second, *_ in drawn for name in (first, second))
    ]
    ways = [
        {"from": first, "to": second, "relationship_type": kind, "description": text, "attitude": attitude}
        for first, second, kind, text, attitude in drawn
    ]
    succeeded(await graph.tools(user_id=user_id).remember(nodes=nodes, relationships=ways))
    return user_id


def items_of(payload: Payload) -> list[dict[str, float]]:
    items: list[dict[str, float]] = [*payload["objects"], *payload.get("relationships", ())]
    return sorted(items, key=lambda item: item["rank"])


@examples(5)
@given(drawn=relationships, query=phrases, threshold=st.sampled_from([-1.0, 0.3]))
async def test_the_score_of_an_item_is_that_of_its_features_and_sorts_the_results(
    graph: KnowledgeGraph, drawn: list[tuple[str, str, str, str, int]], query: str, threshold: float
) -> None:
    user_id = await build(graph, drawn)
    options = HybridSearchOptions(query=query, threshold=threshold, limit=100)
    items = (await graph.retrieval.hybrid_search(options, user_id=user_id)).items
    scores = [item.score for item in items]
    assert scores == sorted(scores, reverse=True)
    scored = [Features(**item.features) for item in items]
    assert scores == pytest.approx([score(one) for one in scored])
    for (above, first), (below, second) in itertools.combinations(zip(items, scored, strict=True), 2):
        if dominates(second, first):
            assert above.score == pytest.approx(below.score)


@examples(5)
@given(drawn=relationships, query=phrases)
async def test_no_later_page_has_an_item_that_scores_higher(
    graph: KnowledgeGraph, drawn: list[tuple[str, str, str, str, int]], query: str
) -> None:
    tools = graph.tools(user_id=await build(graph, drawn))
    scores: list[float] = []
    cursor: dict[str, str] = {}
    for _ in range(40):
        page = succeeded(await tools.hybrid_search(query=query, threshold=-1, limit=32, token_budget=2_000, **cursor))
        scores += [item["score"] for item in items_of(page)]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert scores == sorted(scores, reverse=True)
