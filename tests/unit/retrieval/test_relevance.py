"""How far results stand out: by their lead in the ranking, by the words of the query, and by the names it mentions."""

import math

import pytest

from kgagent.graph.records import NodeRecord
from kgagent.retrieval.candidates import Candidate, Ranking
from kgagent.retrieval.noise import MIN_SAMPLE, Noise
from kgagent.retrieval.relevance import RELEVANT, relevance

QUERY_VECTOR = (1.0, 0.0)
NOISE = Noise((0.4, 0.0), 0.05)


def node(name: str, description: str = "") -> Candidate:
    """A node that was found."""
    properties = {"entity_key": name, "name": name, "description": description}
    return Candidate(name, 0.5, NodeRecord(element_id=name, vector_length=None, properties=properties, label="Person"))


def assessed(query: str, *found: Candidate, best: float = 0.6, last: float = 0.45) -> float:
    """Relevance of results of one vector search whose similarities run from `best` to `last`."""
    share = relevance(query, QUERY_VECTOR, [(Ranking(span=(best, last)), NOISE)], found)
    assert share is not None
    return share


def known(query: str, found: list[Candidate]) -> float:
    """Relevance of results that no vector search ranked, in a graph with enough records."""
    share = relevance(query, None, [(None, NOISE)], found)
    assert share is not None
    return share


def test_nothing_found_is_nothing_relevant() -> None:
    assert relevance("who sails?", QUERY_VECTOR, [], ()) == 0.0


def test_a_graph_with_too_few_records_to_compare_with_does_not_tell() -> None:
    ranking = Ranking(span=(0.6, 0.45))
    rankings = [(ranking, None), (ranking, None)]
    assert relevance("who sails?", QUERY_VECTOR, rankings, [node("Ruth")]) is None
    sure = relevance("who sails?", QUERY_VECTOR, rankings, [node("Ruth", "She sails")])
    assert sure is not None
    assert sure >= RELEVANT


def test_a_best_match_that_does_not_lead_is_not_relevant_without_the_words_of_the_query() -> None:
    assert assessed("photosynthesis", node("Ruth", "A bridge engineer"), best=0.53, last=0.46) < RELEVANT


def test_a_clear_lead_is_relevant_in_other_words() -> None:
    assert assessed("who taught me to sail?", node("Ruth", "Mentor on the boat"), best=0.66, last=0.45) > RELEVANT


def test_the_words_of_the_query_in_the_results_add_to_the_lead() -> None:
    plain, worded = node("Ruth", "Likes boats"), node("Ruth", "Her mentor")
    assert assessed("who are my mentors?", plain) < assessed("who are my mentors?", worded)


def test_a_name_that_no_result_has_is_not_relevant_although_the_other_words_are() -> None:
    film = node("Heat", "a film directed by Michael Mann")
    other = "who directed the film Jackass Number Two?"
    assert assessed(other, film, best=0.72, last=0.64) < RELEVANT
    assert assessed("who directed the film Heat?", film, best=0.78, last=0.64) > RELEVANT


def test_a_part_of_a_name_counts_by_its_share() -> None:
    lydgate = node("Tertius Lydgate", "a surgeon")
    half = assessed("what became of Lydgate?", lydgate)
    whole = assessed("what became of Tertius Lydgate?", lydgate)
    none = assessed("what became of Ladislaw?", lydgate)
    assert none < half < whole


@pytest.mark.parametrize(
    "query", ["did I sail?", "who sailed in July?", "who sailed on Monday?", "WHO ARE MY MENTORS?"]
)
def test_months_days_and_shouting_are_no_names(query: str) -> None:
    sailing = node("Ruth", "sail sailed monday july mentors are my who")
    assert assessed(query, sailing) > RELEVANT


def test_a_dense_ranking_needs_a_better_match() -> None:
    found = node("Heat", "a film")
    query = "who directed the film Heat Wave?"
    assert assessed(query, found, best=0.75, last=0.65) < assessed(query, found, best=0.60, last=0.50)


def test_a_search_with_few_matches_is_assessed_by_words_and_names() -> None:
    found = [node("Ada", "Likes chess")]
    assert known("who likes chess?", found) > RELEVANT
    assert known("photosynthesis", found) < RELEVANT


def test_words_of_other_scripts_are_found_within_running_text() -> None:
    found = [node("北京", "她住在北京市")]
    assert known("北京", found) > known("上海", found)


def test_a_query_of_function_words_alone_is_not_held_against_the_results() -> None:
    assert known("who?", [node("Ada")]) > 0.0


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
