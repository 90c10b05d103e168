"""The default fusion compares scores, so that the tail of one ranking cannot outvote the head of another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from kgagent.retrieval.fusion import NODE_COST, TEXT_WEIGHT, fuse

from kgagent.graph.records import RelationshipRecord
from kgagent.models.hybrid import FusedRetriever
from kgagent.retrieval.candidates import Candidate, key_of


def relationship(name: str) -> RelationshipRecord:
    """A relationship between two nodes whose names begin with its name."""
    return RelationshipRecord(
        element_id=name,
        vector_length=None,
        properties={"relationship_type": name},
        neo4j_type="connected_to",
        from_entity_key=f"{name} from",
        to_entity_key=f"{name} to",
        from_name=f"{name} from",
        to_name=f"{name} to",
    )


def found(**scores: float) -> list[Candidate]:
    """Candidates by key, best first."""
    return [Candidate(key, score) for key, score in scores.items()]


def order(rankings: Mapping[FusedRetriever, Sequence[Candidate]]) -> list[str]:
    """Keys of the fused ranking."""
    return [item.key for item in fuse(rankings)]


def test_the_head_of_the_best_ranking_stays_ahead_of_items_that_two_rankings_end_with() -> None:
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "relationship_vector": found(best=0.64, second=0.61, weak=0.45),
        "relationship_fulltext": found(word=1.0, weak=0.9),
    }
    assert order(rankings)[:2] == ["best", "second"]
    assert next(item.key for item in fuse(rankings, strategy="rrf")) == "weak"


def test_words_decide_between_items_of_about_the_same_similarity() -> None:
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "relationship_vector": found(near=0.62, worded=0.61),
        "relationship_fulltext": found(worded=1.0),
    }
    assert order(rankings) == ["worded", "near"]


def test_the_score_is_the_similarity_with_a_share_of_the_text_score() -> None:
    [item] = fuse({"relationship_vector": found(a=0.5), "relationship_fulltext": found(a=0.8)})
    assert item.score == pytest.approx(0.5 + TEXT_WEIGHT * 0.8)


def test_a_node_costs_more_than_a_relationship() -> None:
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "node_vector": found(node=0.65, near=0.7),
        "relationship_vector": found(relationship=0.6),
    }
    fused = {item.key: item.score for item in fuse(rankings)}
    assert fused["node"] == pytest.approx(0.65 - NODE_COST)
    assert list(fused) == ["near", "relationship", "node"]


def test_the_only_record_that_has_the_words_is_with_the_best_of_all() -> None:
    """A rare word, such as a name in a note, says more than similarities that are all alike."""
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "node_vector": found(a=0.58, b=0.5),
        "relationship_vector": found(relationship=0.6),
        "node_fulltext": found(worded=1.0),
    }
    fused = fuse(rankings)
    assert [item.key for item in fused] == ["worded", "relationship", "a", "b"]
    assert fused[0].score == pytest.approx(0.6 + TEXT_WEIGHT)


def test_of_two_that_have_the_words_alone_the_more_similar_is_first() -> None:
    """ "Ruth mentor" has one word of the node, and both of the relationship."""
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "node_vector": found(ruth=0.6),
        "relationship_vector": found(mentor=0.8),
        "node_fulltext": found(ruth=1.0),
        "relationship_fulltext": found(mentor=1.0),
    }
    assert order(rankings) == ["mentor", "ruth"]


def test_one_of_many_matches_of_words_gains_little() -> None:
    many = found(**{f"worded {number}": 1.0 for number in range(10)})
    fused = fuse({"node_vector": found(a=0.9, b=0.4), "node_fulltext": many})
    assert fused[0].key == "a"
    assert fused[1].score == pytest.approx(0.4 - NODE_COST + 0.5 / 100 + TEXT_WEIGHT)


def test_without_a_vector_search_words_rank_alone() -> None:
    assert order({"node_fulltext": found(a=1.0, b=0.6)}) == ["a", "b"]


def test_what_follows_from_a_match_shares_its_evidence() -> None:
    start, sibling, answer = relationship("start"), relationship("sibling"), relationship("answer")
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "relationship_vector": [
            Candidate(key_of(start), 0.70, start),
            Candidate(key_of(answer), 0.68, answer, path=(start,)),
            Candidate(key_of(sibling), 0.65, sibling),
        ],
        "relationship_fulltext": [Candidate(key_of(start), 1.0, start), Candidate(key_of(sibling), 1.0, sibling)],
    }
    assert order(rankings) == [key_of(start), key_of(answer), key_of(sibling)]


def test_what_follows_from_a_match_stays_behind_a_similar_match_beside_it_that_has_none_of_the_words() -> None:
    start = replace(relationship("start"), from_entity_key="me")
    beside, answer = replace(relationship("beside"), from_entity_key="me"), relationship("answer")
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "relationship_vector": [
            Candidate(key_of(start), 0.64, start),
            Candidate(key_of(beside), 0.62, beside),
            Candidate(key_of(answer), 0.61, answer, path=(start,)),
        ],
        "relationship_fulltext": [Candidate(key_of(start), 1.0, start)],
    }
    assert order(rankings) == [key_of(start), key_of(beside), key_of(answer)]


def test_nodes_in_excess_of_five_more_than_relationships_follow_these() -> None:
    records = [relationship(name) for name in ("one", "two")]
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "node_vector": found(**{f"node {number}": 0.9 - number / 100 for number in range(9)}),
        "relationship_vector": [Candidate(key_of(record), 0.5, record) for record in records],
    }
    fused = fuse(rankings)
    first = [f"node {number}" for number in range(5)]
    one, two = map(key_of, records)
    assert [item.key for item in fused] == [*first, one, "node 5", two, "node 6", "node 7", "node 8"]
    scores = [item.score for item in fused[:8]]
    assert scores == sorted(scores, reverse=True)
    assert [item.key for item in fuse(rankings, limit=6)] == [*first, one]
    # The documents' strategies keep their formulas.
    assert fuse(rankings, strategy="graph_first")[8].key == "node 8"


def test_relationships_make_room_for_nodes() -> None:
    record = relationship("one")
    rankings: dict[FusedRetriever, list[Candidate]] = {
        "node_vector": found(**{f"node {number}": 0.9 - number / 100 for number in range(7)}),
        "relationship_vector": [Candidate(key_of(record), 0.95, record)],
    }
    assert order(rankings) == [key_of(record), *(f"node {number}" for number in range(7))]
