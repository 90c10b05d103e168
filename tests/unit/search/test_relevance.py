"""How far results stand out: by their lead in the ranking, the words of the query, and whether it
names a node.
"""

from dataclasses import replace

import pytest

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.ontology import default_ontology
from kgagent.search.candidates import Candidate, Ranking
from kgagent.search.features import FeatureReader
from kgagent.search.query import EmbeddedQuery, read_query
from kgagent.search.relevance import BEST, RELEVANT, names_without_match, relevance
from kgagent.search.retrieve import Retrieved
from kgagent.search.search import Ranked

ONTOLOGY = default_ontology()
DOES_NOT_LEAD, LEADS = (0.53, 0.46), (0.66, 0.45)


def node(name: str, description: str = "", notes: str = "") -> Candidate:
    """A node that was found and read."""
    properties = {"entity_key": name, "name": name, "description": description, "notes": notes}
    record = NodeRecord(element_id=name, vector_length=None, properties=properties, label="Person")
    return Candidate(name, 0.5, record, result=record.to_model(ONTOLOGY))


def relationship(first: str, second: str, *path: Candidate) -> Candidate:
    """A relationship that was found, perhaps by a path."""
    record = RelationshipRecord(
        element_id=first + second,
        vector_length=None,
        properties={"relationship_type": "friend"},
        neo4j_type="has_relationship_with",
        from_entity_key=first,
        to_entity_key=second,
        from_name=first,
        to_name=second,
    )
    led = tuple(one.record for one in path if isinstance(one.record, RelationshipRecord))
    return Candidate(first + second, 0.5, record, result=record.to_model(ONTOLOGY), path=led)


def found(text: str, span: tuple[float, float] | None = DOES_NOT_LEAD, **names: str) -> Ranked:
    """What was found by a vector search of statements whose similarities run from the first to the
    last of the span.

    Args:
        text: the query.
        span: the similarities.
        names: keys of the nodes that the query names, with their names.
    """
    query = read_query(EmbeddedQuery((1.0, 0.0), 0.3, text), ONTOLOGY)
    query = replace(query, named=dict.fromkeys(names, 1.0), names=names)
    return Ranked(
        Retrieved(query, {"statement_vector": Ranking(span=span)}), FeatureReader(query), []
    )


def assessed(ranked: Ranked, *items: Candidate) -> float:
    share = relevance(replace(ranked, candidates=items), items)
    assert share is not None
    return share


def test_nothing_found_is_nothing_relevant() -> None:
    assert relevance(found("who sails?"), ()) == 0.0


def test_a_graph_with_too_few_statements_to_compare_only_says_what_is_relevant() -> None:
    ruth = [node("Ruth", "She sails")]
    sure = relevance(found("does Ruth sail?", None, Ruth="Ruth"), ruth)
    assert sure is not None
    assert sure >= RELEVANT
    assert relevance(found("photosynthesis", None), ruth) is None


def test_a_best_match_that_does_not_lead_is_not_relevant_without_the_words_of_the_query() -> None:
    assert assessed(found("photosynthesis"), node("Ruth", "A bridge engineer")) < RELEVANT


def test_a_larger_lead_is_more_relevant() -> None:
    ruth = node("Ruth", "Her mentor")
    assert assessed(found("who taught me to sail?"), ruth) < assessed(
        found("who taught me to sail?", LEADS), ruth
    )


def test_the_words_of_the_query_in_the_results_add_to_the_lead() -> None:
    plain, worded = node("Ruth", "Likes boats"), node("Ruth", "Her mentor")
    assert assessed(found("who are my mentors?"), plain) < assessed(
        found("who are my mentors?"), worded
    )


def test_a_query_that_names_a_node_is_more_relevant() -> None:
    heat = node("Heat", "a film")
    assert assessed(found("Heat"), heat) < assessed(found("Heat", Heat="Heat"), heat)


@pytest.mark.parametrize("span", [(0.9, 0.2), (1.0, 0.999), (1.0, 1.0), (-0.2, -0.9)])
def test_a_relevance_is_0_to_1(span: tuple[float, float]) -> None:
    assert 0.0 <= assessed(found("who sails?", span), node("Ruth", "She sails")) <= 1.0


def test_the_words_of_notes_count_too() -> None:
    query = found("who are my mentors?")
    assert assessed(query, node("Ruth", notes='[{"content": "A mentor"}]')) == assessed(
        query, node("Ruth", "A mentor")
    )


def test_results_say_which_names_of_the_query_none_of_the_best_is_about() -> None:
    query = found("what do Ann and Bo eat?", ann="Ann", bo="Bo")
    others = [node(f"other {position}") for position in range(BEST)]
    assert names_without_match(query, others) == ("Ann", "Bo")
    assert names_without_match(query, [*others, node("ann")]) == ("Ann", "Bo")


@pytest.mark.parametrize(
    "candidate",
    [node("ann"), relationship("ann", "cy"), relationship("cy", "di", relationship("ann", "cy"))],
)
def test_results_are_about_a_name_by_a_node_a_relationship_or_a_path(candidate: Candidate) -> None:
    assert names_without_match(found("Ann and Bo", ann="Ann", bo="Bo"), [candidate]) == ()
