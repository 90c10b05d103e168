"""How far results stand out: by their lead in the ranking, the words of the query, and whether it names a node."""

import math

import pytest

from kgagent.graph.records import NodeRecord
from kgagent.search.candidates import Candidate, Ranking
from kgagent.search.noise import MIN_SAMPLE, Noise
from kgagent.search.pipeline import QueryResult
from kgagent.search.relevance import RELEVANT, relevance
from kgagent.search.vector_targets import EmbeddedQuery

NOISE = Noise((0.4, 0.0), 0.05)
ENOUGH, TOO_FEW = (NOISE, NOISE), (None, None)
DOES_NOT_LEAD, LEADS = (0.53, 0.46), (0.66, 0.45)


def node(name: str, description: str = "") -> Candidate:
    """A node that was found."""
    properties = {"entity_key": name, "name": name, "description": description}
    return Candidate(name, 0.5, NodeRecord(element_id=name, vector_length=None, properties=properties, label="Person"))


def found(query: str, span: tuple[float, float] | None = DOES_NOT_LEAD, *, names_a_node: bool = False) -> QueryResult:
    """What a vector search of relationships found, whose similarities run from the first to the last of the span."""
    query_vector = EmbeddedQuery((1.0, 0.0), 0.3, query)
    return QueryResult(query_vector, {"relationship_vector": Ranking(span=span)}, [], [], names_a_node)


def assessed(result: QueryResult, *items: Candidate) -> float:
    share = relevance(result, ENOUGH, items)
    assert share is not None
    return share


def test_nothing_found_is_nothing_relevant() -> None:
    assert relevance(found("who sails?"), ENOUGH, ()) == 0.0


def test_a_graph_with_too_few_records_to_compare_with_only_tells_what_is_relevant() -> None:
    assert relevance(found("who sails?"), TOO_FEW, [node("Ruth")]) is None
    sure = relevance(found("who sails?"), TOO_FEW, [node("Ruth", "She sails")])
    assert sure is not None
    assert sure >= RELEVANT


def test_a_best_match_that_does_not_lead_is_not_relevant_without_the_words_of_the_query() -> None:
    assert assessed(found("photosynthesis"), node("Ruth", "A bridge engineer")) < RELEVANT


def test_a_larger_lead_is_more_relevant() -> None:
    ruth = node("Ruth", "Her mentor")
    assert assessed(found("who taught me to sail?"), ruth) < assessed(found("who taught me to sail?", LEADS), ruth)


def test_the_words_of_the_query_in_the_results_add_to_the_lead() -> None:
    plain, worded = node("Ruth", "Likes boats"), node("Ruth", "Her mentor")
    assert assessed(found("who are my mentors?"), plain) < assessed(found("who are my mentors?"), worded)


def test_a_query_that_names_a_node_is_more_relevant() -> None:
    heat = node("Heat", "a film")
    assert assessed(found("Heat"), heat) < assessed(found("Heat", names_a_node=True), heat)


def test_a_search_with_few_matches_is_assessed_by_words_and_names() -> None:
    ada = node("Ada", "Likes chess")
    assert assessed(found("who likes chess?", None), ada) > RELEVANT
    assert assessed(found("photosynthesis", None), ada) < RELEVANT


def test_noise_is_the_spread_of_the_sample_around_its_center() -> None:
    angles = [math.pi * position / 60 for position in range(MIN_SAMPLE)]
    noise = Noise.of([(2 * math.cos(angle), 2 * math.sin(angle)) for angle in angles])
    assert noise is not None
    assert noise.center == pytest.approx(
        [sum(map(math.cos, angles)) / MIN_SAMPLE, sum(map(math.sin, angles)) / MIN_SAMPLE]
    )
    assert 0.0 < noise.deviation < 0.5


@pytest.mark.parametrize("sample", [[], [(1.0, 0.0)] * (MIN_SAMPLE - 1), [(1.0, 0.0)] * MIN_SAMPLE])
def test_too_few_or_equal_embeddings_have_no_noise(sample: list[tuple[float, float]]) -> None:
    assert Noise.of(sample) is None
