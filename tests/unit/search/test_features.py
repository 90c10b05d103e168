"""The features of statements and paths: words, names, types and levels that a query says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models.search import MAX_HOPS
from kgagent.ontology import default_ontology
from kgagent.search.candidates import read_relationship
from kgagent.search.features import FeatureReader, PathFacts, StoredRecord
from kgagent.search.query import EmbeddedQuery, read_query
from kgagent.search.score import WEIGHTS, Features


def related(
    first: str, second: str, relationship_type: str = "friend", **levels: int
) -> RelationshipRecord:
    fields = [["relationship_type", relationship_type], *levels.items()]
    kind = "has_relationship_with"
    return read_relationship(
        [f"{first} {second}", kind, first, second, first, second, ["Person"], ["Person"], fields]
    )


def person(name: str) -> NodeRecord:
    return NodeRecord(
        element_id=name,
        vector_length=None,
        properties={"entity_key": name, "name": name},
        label="Person",
    )


def reader(
    text: str,
    *retrieved: StoredRecord,
    named: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    texts: Sequence[str] = ("",),
) -> FeatureReader:
    """Computes features for a query that names nodes with such values; its words weigh 1 or as
    given.
    """
    query = read_query(EmbeddedQuery((1.0,), 0.0, text), default_ontology())
    query = replace(query, named=named or {}, weights=weights or dict.fromkeys(query.words, 1.0))
    return FeatureReader.over(query, [(record, texts) for record in retrieved])


def path(one: FeatureReader, *records: RelationshipRecord, **more: Any) -> PathFacts:
    """The facts of a path with such relationships."""
    words = 0
    for record in records:
        words |= one.words_of_record(record)
    return PathFacts(
        **{"records": records, "similarity": 0.5, "words": words, "doubt": 0.0, **more}
    )


def only(one: FeatureReader, record: StoredRecord, text: str, similarity: float | None) -> Features:
    """The features of the only statement of a record."""
    [features], _ = one.of_statements(record, [(text, similarity)], WEIGHTS)
    return features


@pytest.mark.parametrize(
    ("similarity", "feature"), [(0.6, 0.6), (0.0, 0.0), (-0.4, 0.0), (None, 0.0)]
)
def test_a_similarity_below_0_or_none_counts_0(similarity: float | None, feature: float) -> None:
    assert only(reader("boats"), person("Ann"), "Boats", similarity).similarity == feature


def test_a_statement_with_more_words_of_the_query_has_more_of_the_feature() -> None:
    texts = ("Sails a boat", "Sails", "Likes tea")
    one = reader("who sails boats?", person("Ann"), texts=texts)
    values = [only(one, person("Ann"), text, None).words for text in texts]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3
    assert values[-1] == 0.0


def test_a_word_that_is_rare_in_the_graph_weighs_more() -> None:
    weights = {"sails": 1.0, "catamaran": 5.0}
    one = reader(
        "who sails a catamaran?", person("Ann"), weights=weights, texts=("Sails a catamaran",)
    )
    rare, usual = (
        only(one, person("Ann"), text, None).words for text in ("A catamaran", "She sails")
    )
    assert rare == pytest.approx(5 * usual)


def test_words_in_the_names_and_the_type_of_a_record_count_as_those_of_its_text() -> None:
    record = related("Ann", "Bo", "mentor")
    one = reader("Ann's mentors boat", record, texts=("boat",))
    assert only(one, record, "boat", None).words > only(one, record, "", None).words
    assert only(one, record, "", None).words == only(one, person("Cy"), "Ann, a mentor", None).words


def test_a_word_of_a_long_text_counts_less_and_one_of_a_name_in_full() -> None:
    note, passage = "the boat", "the boat " + "and more " * 60
    one = reader("boat of Ann", person("Ann"), texts=[note])
    short, long = (only(one, person("Ann"), text, 0.5).words for text in (note, passage))
    name = only(one, person("Ann"), "nothing of it", 0.5).words
    assert name < long < short
    assert name == only(one, person("Ann"), "nothing of it " * 60, 0.5).words


def test_a_word_that_no_statement_has_does_not_count() -> None:
    record = person("Ann")
    with_unknown = reader("boat zzz", record, weights={"boat": 1.0}, texts=("boat",))
    without = reader("boat", record, texts=("boat",))
    assert only(with_unknown, record, "boat", None) == only(without, record, "boat", None)


def test_each_named_node_adds_its_value() -> None:
    named = {"Ann": 1.0, "Bo": 0.6, "Cy": 0.2}
    one = reader("Ann Bo Cy", named=named)
    both, single = (only(one, related("Ann", other), "", None).named for other in ("Bo", "Di"))
    assert both == pytest.approx(0.8)
    assert single == pytest.approx(0.5)
    assert only(one, person("Cy"), "", None).named == pytest.approx(0.1)
    assert only(one, person("Di"), "", None).named == 0.0


def test_a_type_that_the_query_says_counts_at_a_named_node_only() -> None:
    records = [
        related("Ann", "Bo", "mentor"),
        related("Cy", "Di", "mentor"),
        related("Ann", "Di", "cousin"),
    ]
    one = reader("Ann's mentors", *records, named={"Ann": 1.0})
    types = [only(one, record, "", None).types for record in records]
    assert types == [1.0, 0.0, 0.0]


def test_only_the_best_statement_of_a_record_has_its_type() -> None:
    record = related("Ann", "Bo", "mentor")
    one = reader("Ann's mentor", record, named={"Ann": 1.0})
    features, best = one.of_statements(record, [("", 0.1), ("sails", 0.6), ("", 0.2)], WEIGHTS)
    assert best == 1
    assert [own.types for own in features] == [0.0, 1.0, 0.0]


def test_a_type_counts_as_much_as_its_named_node() -> None:
    record = related("Ann", "Bo", "mentor")
    assert only(
        reader("Ann's mentor", record, named={"Ann": 0.3}), record, "", None
    ).types == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("word", "relationship_type", "counts"),
    [
        ("directors", "directed by", True),
        ("mentor", "mentor", True),
        ("actor", "act", False),
        ("wrote", "written by", False),
    ],
)
def test_a_word_names_a_type_that_starts_alike(
    word: str, relationship_type: str, counts: bool
) -> None:
    assert bool(reader(word).explained_by(related("Ann", "Bo", relationship_type))) is counts


@pytest.mark.parametrize(("attitude", "credit"), [(1, 1.0), (2, 1 / 3), (3, 0.0), (5, 0.0)])
def test_a_level_counts_less_the_farther_it_is_from_the_one_that_the_query_says(
    attitude: int, credit: float
) -> None:
    words = reader("who is hostile?").explained_by(related("Ann", "Bo", attitude=attitude))
    assert words.get("hostile", 0.0) == pytest.approx(credit)


def test_a_path_on_which_each_relationship_has_a_word_of_the_query_counts_in_full() -> None:
    records = [related("Ann", "Film", "directed by"), related("Film", "1984", "release year")]
    one = reader("what year was it directed?", *records, named={"Ann": 1.0})
    assert one.of_path(path(one, *records)).types == pytest.approx(1.0)
    assert one.of_path(path(one, records[0])).types == pytest.approx(2 / 3)


def test_a_word_counts_half_for_a_further_relationship_and_one_without_a_word_not() -> None:
    first, same, other = (
        related("Ann", "Bo", "mentor"),
        related("Bo", "Cy", "mentor"),
        related("Bo", "Cy", "cousin"),
    )
    one = reader("Ann's mentor", first, named={"Ann": 1.0})
    values = [
        one.of_path(path(one, *records)).types
        for records in ((first,), (first, same), (first, other))
    ]
    assert values == pytest.approx([1.0, 2 * 0.75 / 1.75, 2 * 0.5 / 1.5])


def test_a_path_has_the_features_of_all_its_nodes_and_words() -> None:
    records = [related("Ann", "Bo", "mentor"), related("Bo", "Cy", "cousin")]
    one = reader("mentor cousin", *records, named={"Ann": 1.0, "Cy": 1.0})
    together, first = one.of_path(path(one, *records)), one.of_path(path(one, records[0]))
    assert (together.named, first.named) == (1.0, 0.5)
    assert together.words == pytest.approx(2 * first.words)


def test_a_path_costs_its_hops_and_its_choices_up_to_1() -> None:
    records = [related(str(number), str(number + 1)) for number in range(MAX_HOPS + 1)]
    one = reader("mentor")
    costs = [
        one.of_path(path(one, *records[: length + 1], doubt=2.0 * length))
        for length in (0, 1, MAX_HOPS)
    ]
    assert [(cost.hops, cost.doubt) for cost in costs] == [
        (0.0, 0.0),
        (1 / MAX_HOPS, 1.0),
        (1.0, 1.0),
    ]
