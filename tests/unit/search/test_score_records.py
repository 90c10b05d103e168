"""The scores of records that were read in full: each statement has its own, and the best one
decides the record's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import FoundStatement
from kgagent.ontology import default_ontology
from kgagent.search.candidates import Candidate, key_of
from kgagent.search.expand import Path
from kgagent.search.features import FeatureReader, PathFacts, StoredRecord, nodes_of
from kgagent.search.query import EmbeddedQuery, read_query
from kgagent.search.results import ReadRecord
from kgagent.search.retrieve import Retrieved, SearchSpec
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import WEIGHTS, score
from kgagent.search.search import Found, Ranked, score_records

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONTOLOGY = default_ontology()
NO_STORE: Any = None
"""Scoring reads nothing."""

SCOPE = SearchScope(NO_STORE, ONTOLOGY, "model", 1, 1.0, {}, "user")

KEEPER, BOATS, PEANUTS = "Lighthouse keeper", "Repairs boats", "Allergic to peanuts"


def keeper(*notes: str, description: str = KEEPER, expired: str = "") -> NodeRecord:
    """A lighthouse keeper with notes, one of them expired."""
    known: list[dict[str, str]] = [{"content": note} for note in notes]
    known += (
        [{"content": expired, "expires_at": (NOW - timedelta(days=1)).isoformat()}]
        if expired
        else []
    )
    properties = {
        "entity_key": "jonna",
        "name": "Jonna",
        "description": description,
        "notes": json.dumps(known),
    }
    return NodeRecord(element_id="jonna", vector_length=None, properties=properties, label="Person")


def friends(
    first: str = "Ann", second: str = "Bo", relationship_type: str = "friend", **more: str
) -> RelationshipRecord:
    """Two friends."""
    return RelationshipRecord(
        element_id=first + second,
        vector_length=None,
        properties={"relationship_type": relationship_type, **more},
        neo4j_type="has_relationship_with",
        from_entity_key=first,
        to_entity_key=second,
        from_name=first,
        to_name=second,
    )


def ranked(
    text: str,
    *records: StoredRecord,
    named: Sequence[str] = (),
    through: Mapping[str, Path] | None = None,
) -> Ranked:
    """What was retrieved for a query; its words are compared with these records."""
    query = read_query(EmbeddedQuery((1.0,), 0.0, text), ONTOLOGY)
    query = replace(query, weights=dict.fromkeys(query.words, 1.0), named=dict.fromkeys(named, 1.0))
    reader = FeatureReader.over(query, [(record, [KEEPER, BOATS, PEANUTS]) for record in records])
    candidates = [Candidate(key_of(record), 0.0, record) for record in records]
    return Ranked(Retrieved(query), reader, candidates, through or {})


def scored(reads: Sequence[ReadRecord], *of_queries: Ranked) -> list[Candidate]:
    records = {key_of(read.record): read for read in reads}
    spec = SearchSpec(SCOPE, ["Person"], RelationshipFilter(now=NOW), weights=WEIGHTS)
    return score_records(Found(spec, 0.0, of_queries), records)


def scores(candidate: Candidate) -> dict[str, float]:
    """The scores of the statements of a record, by text, best first."""
    return {text: one.score for text, one in statements(candidate).items()}


def statements(candidate: Candidate) -> dict[str, FoundStatement]:
    assert candidate.result is not None
    description = candidate.result.description
    return {
        description if one.note is None else one.note.content: one
        for one in candidate.result.statements
    }


def test_the_best_statement_decides_the_score_of_its_record_and_others_have_their_own() -> None:
    record = keeper(BOATS, PEANUTS)
    read = ReadRecord(
        record, [0.1], [(BOATS, [0.8], None), (PEANUTS, [0.2], None), (KEEPER, [0.4], None)]
    )
    [one] = scored([read], ranked("", record))
    assert scores(one) == {BOATS: 0.8, KEEPER: 0.4, PEANUTS: 0.2}
    assert list(scores(one)) == [BOATS, KEEPER, PEANUTS]
    assert (one.score, one.similarity) == (0.8, 0.8)


def test_a_word_of_the_query_can_make_another_statement_the_best() -> None:
    record = keeper(BOATS, PEANUTS)
    read = ReadRecord(record, [0.1], [(BOATS, [0.5], None), (PEANUTS, [0.45], None)])
    [one] = scored([read], ranked("peanuts", record))
    assert list(scores(one)) == [PEANUTS, BOATS]
    assert one.similarity == 0.45


def test_contributions_of_each_statement_add_up_to_its_score() -> None:
    record = friends(relationship_type="mentor", description=BOATS)
    [one] = scored(
        [ReadRecord(record, [0.3], [(BOATS, [0.5], None)])],
        ranked("Ann's mentor boats", record, named=["Ann"]),
    )
    [statement] = statements(one).values()
    assert statement.contributions.keys() == {"similarity", "words", "named", "types"}
    assert sum(statement.contributions.values()) == pytest.approx(statement.score)


def test_records_are_sorted_by_their_scores() -> None:
    far, near = friends("Ann", "Bo"), friends("Ann", "Cy")
    found = scored([ReadRecord(far, [0.2]), ReadRecord(near, [0.6])], ranked("", far, near))
    assert [one.record for one in found] == [near, far]


def test_an_expired_note_has_no_score_and_raises_none() -> None:
    record = keeper(BOATS, expired=PEANUTS)
    read = ReadRecord(record, [0.1], [(PEANUTS, [0.9], None), (BOATS, [0.5], None)])
    [one] = scored([read], ranked("peanuts", record))
    assert scores(one) == {BOATS: 0.5}
    assert one.score == 0.5


def test_of_several_queries_each_statement_has_its_best_score() -> None:
    record = keeper(BOATS, PEANUTS)
    read = ReadRecord(record, [0.1, 0.1], [(BOATS, [0.8, 0.1], None), (PEANUTS, [0.2, 0.7], None)])
    [one] = scored([read], ranked("", record), ranked("", record))
    assert scores(one) == {BOATS: 0.8, PEANUTS: 0.7}
    assert (one.score, one.similarity) == (0.8, 0.8)


def test_a_record_is_scored_by_the_queries_that_found_it() -> None:
    record = keeper(BOATS)
    read = ReadRecord(record, [0.1, 0.1], [(BOATS, [0.8, 0.3], None)])
    [one] = scored([read], ranked(""), ranked("", record))
    assert one.score == 0.3


def test_a_record_that_no_query_found_is_omitted() -> None:
    assert scored([ReadRecord(keeper(BOATS), [0.9])], ranked("")) == []


def test_a_record_that_is_not_in_the_index_of_statements_has_one_statement_with_its_own_similarity() -> (
    None
):
    record = keeper(BOATS, PEANUTS)
    [one] = scored([ReadRecord(record, [0.6])], ranked("", record))
    [statement] = statements(one).values()
    assert (statement.note, statement.similarity, statement.score) == (None, 0.6, 0.6)


def test_a_statement_without_an_embedding_is_scored_by_its_words() -> None:
    record = keeper(BOATS)
    [one] = scored([ReadRecord(record, (), [(BOATS, (), None)])], ranked("boats", record))
    assert statements(one)[BOATS].similarity is None
    assert one.score > 0.0


def test_a_description_that_only_repeats_the_triplet_has_no_score_beside_notes() -> None:
    notes = json.dumps([{"content": BOATS}])
    record = friends(description="Ann friend Bo.", notes=notes)
    read = ReadRecord(record, [0.1], [("Ann friend Bo.", [0.9], None), (BOATS, [0.5], None)])
    [one] = scored([read], ranked("", record))
    assert scores(one) == {BOATS: 0.5}


def test_a_description_that_only_repeats_the_triplet_is_the_statement_of_a_relationship_without_notes() -> (
    None
):
    record = friends(description="Ann friend Bo")
    [one] = scored(
        [ReadRecord(record, [0.1], [("Ann friend Bo", [0.9], None)])], ranked("", record)
    )
    assert scores(one) == {"Ann friend Bo": 0.9}


def test_only_the_best_statement_of_a_relationship_has_its_type() -> None:
    record = friends(
        relationship_type="mentor", notes=json.dumps([{"content": BOATS}, {"content": PEANUTS}])
    )
    read = ReadRecord(record, [0.1], [(BOATS, [0.8], None), (PEANUTS, [0.7], None)])
    [one] = scored([read], ranked("Ann's mentor", record, named=["Ann"]))
    assert {text: "types" in each.contributions for text, each in statements(one).items()} == {
        BOATS: True,
        PEANUTS: False,
    }


def path_to(
    record: RelationshipRecord, start: RelationshipRecord, reader: FeatureReader, similarity: float
) -> Path:
    """A path of two relationships."""
    facts = PathFacts((start, record), similarity, 0, 0.0)
    features = reader.of_path(facts)
    keys, nodes = (key_of(start), key_of(record)), nodes_of(start) | nodes_of(record)
    return Path(facts, keys, nodes_of(start), nodes, features, score(features))


def test_a_path_raises_the_best_statement_of_what_it_leads_to_but_not_the_others() -> None:
    start, record = (
        friends("Ann", "Bo"),
        friends("Bo", "Cy", notes=json.dumps([{"content": BOATS}]), description=KEEPER),
    )
    plain = ranked("", record)
    path = path_to(record, start, plain.reader, 0.9)
    read = ReadRecord(record, [0.1], [(BOATS, [0.3], None), (KEEPER, [0.2], None)])
    [one] = scored([read], replace(plain, through={key_of(record): path}))
    assert (one.score, one.path) == (path.score, (start,))
    assert scores(one) == {BOATS: path.score, KEEPER: 0.2}


def test_a_path_does_not_lower_a_score() -> None:
    start, record = friends("Ann", "Bo"), friends("Bo", "Cy", description=KEEPER)
    plain = ranked("", record)
    path = path_to(record, start, plain.reader, 0.3)
    [one] = scored(
        [ReadRecord(record, [0.1], [(KEEPER, [0.8], None)])],
        replace(plain, through={key_of(record): path}),
    )
    assert (one.score, one.path) == (0.8, ())


def test_where_a_path_begins_it_raises_the_score_without_being_a_way_there() -> None:
    start, record = friends("Ann", "Bo", description=KEEPER), friends("Bo", "Cy")
    plain = ranked("", start)
    path = path_to(record, start, plain.reader, 0.9)
    [one] = scored(
        [ReadRecord(start, [0.1], [(KEEPER, [0.2], None)])],
        replace(plain, through={key_of(start): path}),
    )
    assert (one.score, one.path) == (path.score, ())


def test_of_equal_scores_the_order_does_not_depend_on_that_of_reading() -> None:
    records: list[StoredRecord] = [friends("Ann", "Cy"), friends("Ann", "Bo"), keeper(BOATS)]
    reads = [ReadRecord(record, [0.5]) for record in records]
    first = scored(reads, ranked("", *records))
    assert [one.key for one in first] == [
        one.key for one in scored(reads[::-1], ranked("", *records))
    ]
    assert isinstance(first[-1].record, NodeRecord)
