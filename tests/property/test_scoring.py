"""Invariants 9 and 10: the score that is shown sorts, and what is at least as good in every feature
ranks no lower.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.answers.found import by_statement, hybrid_items
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.names import are_forms
from kgagent.ontology import default_ontology
from kgagent.search.candidates import read_relationship
from kgagent.search.features import FeatureReader, PathFacts
from kgagent.search.query import EmbeddedQuery, read_query
from kgagent.search.score import WEIGHTS, Features, contributions, highest_score, score
from kgagent.tools import Payload
from tests.support.examples import examples
from tests.support.payloads import succeeded

COSTS = ("doubt", "hops", "past")
ONTOLOGY = default_ontology()

Drawn = tuple[str, str, str, str, int]
"""The names of two nodes, the type, the description and the attitude of a relationship."""

shares = st.floats(0.0, 1.0)
features = st.builds(Features, **dict.fromkeys(Features._fields, shares))
words = st.sampled_from(["chess", "mentor", "college", "hostile", "close", "Rome", "Ruth", "me"])
phrases = st.lists(words, min_size=1, max_size=5).map(" ".join)
names = st.sampled_from(["Ada", "Ruth", "Bo", "Rome", "Chess club"])
relationships = st.lists(
    st.tuples(names, names, words, phrases, st.integers(1, 5)).filter(lambda one: one[0] != one[1]),
    min_size=1,
    max_size=12,
    unique_by=lambda one: frozenset(one[:2]),
)


def test_costs_lower_the_score_and_every_other_feature_raises_it() -> None:
    assert {name for name, weight in WEIGHTS._asdict().items() if weight < 0.0} == set(COSTS)
    assert all(weight > 0.0 for name, weight in WEIGHTS._asdict().items() if name not in COSTS)


@given(features, features)
def test_what_is_at_least_as_good_in_every_feature_and_costs_no_more_never_scores_less(
    one: Features, other: Features
) -> None:
    better = {
        name: (min if name in COSTS else max)(getattr(one, name), getattr(other, name))
        for name in one._fields
    }
    assert score(Features(**better)) >= max(score(one), score(other))


@given(features)
def test_no_score_is_above_the_highest(one: Features) -> None:
    assert score(one) <= highest_score()


@given(features, features)
def test_contributions_add_up_to_the_score_whatever_the_weights(
    one: Features, weights: Features
) -> None:
    assert sum(contributions(one, weights).values()) == pytest.approx(score(one, weights))


@given(
    relationships,
    phrases,
    st.floats(-1.0, 1.0),
    st.floats(-0.5, 9.0),
    st.lists(shares, min_size=4, max_size=4),
    st.integers(1, 6),
)
def test_every_feature_is_0_to_1(
    drawn: list[Drawn],
    query: str,
    similarity: float,
    doubt: float,
    values: list[float],
    length: int,
) -> None:
    records = [
        read_relationship(
            [
                "id",
                "relates",
                *one[:2],
                *one[:2],
                [],
                [],
                [["relationship_type", one[2]], ["attitude", one[4]]],
            ]
        )
        for one in drawn
    ]
    read = read_query(EmbeddedQuery((1.0,), 0.0, query), ONTOLOGY)
    weights = dict(zip(read.words, itertools.cycle(values), strict=False))
    named = dict(zip(["Ada", "Ruth", "Bo", "Rome"], values, strict=True))
    texts = [one[3] for one in drawn]
    reader = FeatureReader.over(
        replace(read, weights=weights, named=named),
        zip(records[:3], ([text] for text in texts), strict=False),
    )
    every = [
        reader.of_statements(record, [(text, similarity)], WEIGHTS)[0][0]
        for record, text in zip(records, texts, strict=True)
    ]
    every.append(
        reader.of_path(PathFacts(records[:length], similarity, (1 << len(weights)) - 1, doubt))
    )
    assert all(0.0 <= value <= 1.0 for one in every for value in one)


@given(st.text("abcde", max_size=9), st.text("abcde", max_size=9))
def test_forms_of_a_word_are_forms_of_each_other(one: str, other: str) -> None:
    assert are_forms(one, other) is are_forms(other, one)


async def build(graph: KnowledgeGraph, drawn: Sequence[Drawn]) -> str:
    """A graph of a user with an owner; gives the user."""
    user_id = f"user-{uuid4()}"
    nodes = [
        {"label": "Person", "name": name, "is_owner": name == "Ada"}
        for name in dict.fromkeys(name for first, second, *_ in drawn for name in (first, second))
    ]
    ways = [
        {
            "from": first,
            "to": second,
            "relationship_type": kind,
            "description": text,
            "attitude": attitude,
        }
        for first, second, kind, text, attitude in drawn
    ]
    succeeded(await graph.tools(user_id=user_id).remember(nodes=nodes, relationships=ways))
    return user_id


def items_of(payload: Payload) -> list[dict[str, float]]:
    items: list[dict[str, float]] = [*payload["objects"], *payload.get("relationships", ())]
    return sorted(items, key=lambda item: item["rank"])


@examples(5)
@given(drawn=relationships, query=phrases)
async def test_the_score_of_an_item_sorts_the_results_and_is_the_sum_of_its_contributions(
    graph: KnowledgeGraph, drawn: list[Drawn], query: str
) -> None:
    user_id = await build(graph, drawn)
    options = HybridSearchRequest(query=query, threshold=-1.0, limit=100)
    items = (await graph.retrieval.hybrid_search(options, user_id=user_id)).items
    assert len(items) >= len(drawn)
    scores = [item.score for item in items]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([sum(item.contributions.values()) for item in items])


@examples(5)
@given(drawn=relationships, query=phrases)
async def test_the_score_of_each_statement_is_the_weighted_sum_of_its_features(
    graph: KnowledgeGraph, drawn: list[Drawn], query: str
) -> None:
    user_id = await build(graph, drawn)
    options = HybridSearchRequest(query=query, threshold=-1.0, limit=100)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    items = by_statement(hybrid_items(result), datetime.now(UTC))
    scored = [item for item in items if getattr(item, "shown", None) is not None]
    assert len(scored) >= len(drawn)
    weights = WEIGHTS._asdict()
    for item in scored:
        assert item.score == pytest.approx(sum(item.contributions.values()))
        assert all(
            -1e-9 <= value / weights[name] <= 1.0 + 1e-9
            for name, value in item.contributions.items()
        )


@examples(5)
@given(drawn=relationships, query=phrases)
async def test_no_later_page_has_an_item_that_scores_higher(
    graph: KnowledgeGraph, drawn: list[Drawn], query: str
) -> None:
    tools = graph.tools(user_id=await build(graph, drawn))
    scores: list[float] = []
    cursor: dict[str, str] = {}
    for _ in range(40):
        page = succeeded(
            await tools.hybrid_search(
                query=query, threshold=-1, limit=32, token_budget=1_000, **cursor
            )
        )
        scores += [item["score"] for item in items_of(page)]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert scores == sorted(scores, reverse=True)
