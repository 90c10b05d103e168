"""Expansion: which paths are extended, and how relationships score by the paths through them."""

from typing import Any

import pytest

from kgagent.search import scoring
from kgagent.search.candidates import Candidate, key_of, read_relationship
from kgagent.search.expansion import BEAM_WIDTH, Expansion
from kgagent.search.query import NamedNode, QueryReading
from kgagent.search.scoring import WEIGHTS

NOTHING_NAMED = QueryReading()


def stored(first: str, second: str, relationship_type: str = "friend") -> list[Any]:
    """A relationship as a statement returns it."""
    fields = [["relationship_type", relationship_type]]
    return [f"{first} {second}", "connected_to", first, second, first, second, ["Entity"], ["Entity"], fields]


def key(first: str, second: str) -> str:
    return key_of(read_relationship(stored(first, second)))


def expansion(
    matches: dict[tuple[str, str], float], reading: QueryReading = NOTHING_NAMED, texts: dict[str, float] | None = None
) -> Expansion:
    """An expansion that starts with relationships of known similarity."""
    records = {ends: read_relationship(stored(*ends)) for ends in matches}
    starts = [Candidate(key_of(records[ends]), value, records[ends], value) for ends, value in matches.items()]
    return Expansion(reading, texts or {}, starts, WEIGHTS)


def reached(first: str, second: str, *, lead: int = 0, doubt: float = 0.0, **more: Any) -> dict[str, Any]:
    """What a hop returns of one relationship."""
    return {"lead": lead, "doubt": doubt, "similarity": 0.1, "relationship": stored(first, second, **more)}


def test_what_a_hop_reaches_scores_by_its_start_and_its_choices() -> None:
    one = expansion({("Ann", "Film"): 0.7})
    one.extend(one.frontier, [reached("Film", "Bo", doubt=0.1), reached("Film", "Cy", doubt=0.3)])
    start, near, far = one.candidates()
    assert (start.key, near.key, far.key) == (key("Ann", "Film"), key("Bo", "Film"), key("Cy", "Film"))
    assert [record.triplet for record in near.path] == ["Ann friend Film"]
    assert near.features is not None
    assert near.features.similarity == 0.7
    assert near.features.clarity == pytest.approx(0.9)
    assert near.similarity == 0.1


def test_a_relationship_scores_as_the_best_path_through_it() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Ann", "Book"): 0.7}, QueryReading(words=("director",)))
    lead = [path.last.to_name for path in one.frontier].index("Film")
    one.extend(one.frontier, [reached("Film", "Bo", lead=lead, relationship_type="directed by")])
    scores = {candidate.key: candidate for candidate in one.candidates()}
    [last] = [candidate for candidate in scores.values() if candidate.path]
    assert scores[key("Ann", "Film")].features == last.features
    assert scores[key("Ann", "Film")].score > scores[key("Ann", "Book")].score


def test_of_a_path_the_relationship_that_the_query_is_about_comes_first() -> None:
    one = expansion({("Jonas", "Steam"): 0.7}, QueryReading(words=("mentor",), named=[NamedNode("Me", 1.0)]))
    one.extend(one.frontier, [reached("Jonas", "Me", relationship_type="mentor")])
    first, second = one.candidates()
    assert first.score == second.score
    assert (first.path != (), second.key) == (True, key("Jonas", "Steam"))


def test_of_two_paths_to_a_relationship_the_better_one_is_kept() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Ann", "Book"): 0.4})
    one.extend(one.frontier, [reached("Film", "Bo", lead=0), reached("Book", "Bo", lead=1)])
    one.extend(one.frontier, [reached("Bo", "Cy", lead=0), reached("Bo", "Cy", lead=1)])
    [last] = [candidate for candidate in one.candidates() if candidate.key == key("Bo", "Cy")]
    assert [record.triplet for record in last.path] == ["Ann friend Film", "Film friend Bo"]


def test_a_match_that_a_path_reaches_keeps_its_own_score_if_that_is_higher() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Film", "Bo"): 0.69})
    one.extend(one.frontier, [reached("Film", "Bo", doubt=0.5)])
    [bo] = [candidate for candidate in one.candidates() if candidate.key == key("Film", "Bo")]
    assert bo.path == ()
    assert bo.features is not None
    assert bo.features.similarity == 0.69


def test_a_path_never_leaves_by_a_named_node_nor_back_the_way_it_came() -> None:
    one = expansion({("Ann", "Film"): 0.7}, QueryReading(named=[NamedNode("Ann", 1.0)]))
    [start] = one.frontier
    assert start.exits == {"Film"}
    one.extend([start], [reached("Film", "Bo")])
    [longer] = one.frontier
    assert longer.exits == {"Bo"}


def test_a_path_between_two_named_nodes_is_not_extended() -> None:
    both = [NamedNode("Ann", 1.0), NamedNode("Film", 1.0)]
    assert expansion({("Ann", "Film"): 0.7}, QueryReading(named=both)).frontier == []


def test_each_named_node_on_a_path_adds_to_its_score() -> None:
    reading = QueryReading(named=[NamedNode("Ann", 1.0), NamedNode("Bo", 1.0)])
    one = expansion({("Ann", "Film"): 0.7, ("Ann", "Bo"): 0.7, ("Cy", "Di"): 0.7}, reading)
    assert [candidate.key for candidate in one.candidates()] == [key("Ann", "Bo"), key("Ann", "Film"), key("Cy", "Di")]


def test_the_level_that_the_query_says_counts_for_the_relationship_that_has_it() -> None:
    record = read_relationship([*stored("Ann", "Bo")[:-1], [["relationship_type", "friend"], ["attitude", 1]]])
    match = Candidate(key_of(record), 0.7, record, 0.7)
    said = QueryReading(levels=frozenset([("connected_to", "attitude", 1)]))
    [with_level] = Expansion(said, {}, [match], WEIGHTS).candidates()
    [without] = Expansion(NOTHING_NAMED, {}, [match], WEIGHTS).candidates()
    assert with_level.score - without.score == pytest.approx(scoring.share_of_weight("level"))


def test_words_that_name_types_count_by_the_share_that_a_path_has() -> None:
    one = expansion({("Ann", "Film"): 0.7}, QueryReading(words=("directed", "year", "unknown")))
    one.extend(one.frontier, [reached("Film", "Bo", relationship_type="directed by")])
    one.extend(one.frontier, [reached("Bo", "1984", relationship_type="release year")])
    [last] = [candidate for candidate in one.candidates() if len(candidate.path) == 2]
    assert last.features is not None
    assert last.features.type_words == 1.0


def test_only_the_best_paths_are_extended() -> None:
    one = expansion({("Ann", f"P{number}"): number / 100 for number in range(3 * BEAM_WIDTH)})
    assert len(one.frontier) == BEAM_WIDTH
    assert min(path.similarity for path in one.frontier) == 2 * BEAM_WIDTH / 100


def test_a_relationship_that_was_deleted_while_it_was_read_is_not_added() -> None:
    one = expansion({("Ann", "Film"): 0.7})
    one.extend(one.frontier, [{"lead": 0, "doubt": 0.0, "similarity": 0.1, "relationship": None}])
    assert [candidate.key for candidate in one.candidates()] == [key("Ann", "Film")]
