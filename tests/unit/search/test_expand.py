"""Expansion: which paths are extended, and the best path through each relationship."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kgagent.models.search import MAX_HOPS
from kgagent.ontology import default_ontology
from kgagent.search.candidates import key_of, read_relationship
from kgagent.search.expand import AT_EACH_NAME, BEAM_WIDTH, Expansion, Path
from kgagent.search.features import FeatureReader, PathFacts, nodes_of
from kgagent.search.query import EmbeddedQuery, read_query
from kgagent.search.score import WEIGHTS, score

Ends = tuple[str, str]


def stored(first: str, second: str, relationship_type: str = "friend") -> list[Any]:
    """A relationship as a statement returns it."""
    fields = [["relationship_type", relationship_type]]
    return [
        f"{first} {second}",
        "connected_to",
        first,
        second,
        first,
        second,
        ["Entity"],
        ["Entity"],
        fields,
    ]


def key(first: str, second: str) -> str:
    return key_of(read_relationship(stored(first, second)))


def expansion(starts: Mapping[Ends, float], *named: str, text: str = "", **more: Any) -> Expansion:
    """An expansion that begins with relationships of such similarities, of a query that names nodes
    and has words.
    """
    query = read_query(EmbeddedQuery((1.0,), 0.0, text), default_ontology())
    query = replace(query, named=dict.fromkeys(named, 1.0), weights=dict.fromkeys(query.words, 1.0))
    records = {ends: read_relationship(stored(*ends, **more)) for ends in starts}
    reader = FeatureReader.over(query, [(record, [""]) for record in records.values()])
    begun = []
    for ends, similarity in starts.items():
        record = records[ends]
        [features], _ = reader.of_statements(record, [("", similarity)], WEIGHTS)
        facts = PathFacts((record,), similarity, reader.words_of_record(record), 0.0)
        begun.append(
            Path(facts, (key_of(record),), frozenset(), nodes_of(record), features, score(features))
        )
    return Expansion.begun(reader, WEIGHTS, begun)


def reached(
    first: str, second: str, *, lead: int = 0, doubt: float = 0.0, **more: Any
) -> dict[str, Any]:
    """What a hop returns of one relationship."""
    return {"lead": lead, "doubt": doubt, "relationship": stored(first, second, **more)}


def names(path: Path) -> list[str]:
    return [record.triplet for record in path.records]


def test_what_a_hop_reaches_has_the_similarity_of_its_start_and_costs_the_choices_and_hops() -> (
    None
):
    one = expansion({("Ann", "Film"): 0.7})
    one = one.extended(one.frontier(), [reached("Film", "Bo", doubt=0.1)])
    path = one.through[key("Film", "Bo")]
    assert (path.features.similarity, path.features.doubt, path.features.hops) == (
        0.7,
        0.1,
        1 / MAX_HOPS,
    )
    assert path.score == score(path.features)
    assert names(path) == ["Ann friend Film", "Film friend Bo"]


def test_costs_of_choices_add_up_along_a_path() -> None:
    one = expansion({("Ann", "Film"): 0.7})
    one = one.extended(one.frontier(), [reached("Film", "Bo", doubt=0.1)])
    one = one.extended(one.frontier(), [reached("Bo", "Cy", doubt=0.2)])
    features = one.through[key("Bo", "Cy")].features
    assert features.doubt == pytest.approx(0.3)
    assert features.hops == 2 / MAX_HOPS


def test_a_path_is_through_each_of_its_relationships() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Cy", "Di"): 0.6})
    one = one.extended(one.frontier(), [reached("Film", "Bo")])
    assert one.through.keys() == {key("Ann", "Film"), key("Film", "Bo")}
    assert one.through[key("Ann", "Film")] is one.through[key("Film", "Bo")]


def test_of_the_paths_through_a_relationship_the_best_counts() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Ann", "Book"): 0.4})
    one = one.extended(one.frontier(), [reached("Film", "Bo"), reached("Book", "Bo", lead=1)])
    one = one.extended(one.frontier(), [reached("Bo", "Cy"), reached("Bo", "Cy", lead=1)])
    assert names(one.through[key("Bo", "Cy")]) == [
        "Ann friend Film",
        "Film friend Bo",
        "Bo friend Cy",
    ]


def test_a_path_has_the_words_of_all_its_relationships() -> None:
    one = expansion({("Ann", "Film"): 0.7}, text="who directed Ann?")
    one = one.extended(one.frontier(), [reached("Film", "Bo", relationship_type="directed by")])
    one = one.extended(one.frontier(), [reached("Bo", "Cy")])
    [start] = expansion({("Ann", "Film"): 0.7}, text="who directed Ann?").frontier()
    assert one.through[key("Bo", "Cy")].features.words > start.features.words > 0.0


def test_only_paths_that_are_better_than_what_is_known_are_extended() -> None:
    one = expansion({("Ann", "Film"): 0.7, ("Film", "Bo"): 0.69})
    one = one.extended(
        one.frontier(), [reached("Film", "Bo", doubt=0.3), reached("Film", "Cy", doubt=0.3)]
    )
    assert [path.keys[-1] for path in one.frontier()] == [key("Film", "Cy")]


def test_a_path_never_leaves_by_a_named_node_nor_back_the_way_it_came() -> None:
    one = expansion({("Ann", "Film"): 0.7}, "Ann")
    [start] = one.frontier()
    assert one.exits(start) == ["Film"]
    one = one.extended([start], [reached("Film", "Bo")])
    [longer] = one.frontier()
    assert one.exits(longer) == ["Bo"]


def test_a_path_between_two_named_nodes_is_not_extended() -> None:
    assert expansion({("Ann", "Film"): 0.7}, "Ann", "Film").frontier() == []


def test_a_few_paths_at_no_named_node_are_extended_best_first() -> None:
    one = expansion({("Ann", f"P{number:03}"): number / 100 for number in range(3 * AT_EACH_NAME)})
    similarities = [path.features.similarity for path in one.frontier()]
    assert (
        similarities == [number / 100 for number in range(2 * AT_EACH_NAME, 3 * AT_EACH_NAME)][::-1]
    )


def test_no_named_node_takes_the_place_of_another() -> None:
    near = {("Ann", f"A{number}"): 0.9 for number in range(2 * AT_EACH_NAME)}
    far = {("Bo", f"B{number}"): 0.1 for number in range(2 * AT_EACH_NAME)}
    frontier = expansion({**near, **far}, "Ann", "Bo").frontier()
    assert [names(path)[0].split()[0] for path in frontier] == ["Ann"] * AT_EACH_NAME + [
        "Bo"
    ] * AT_EACH_NAME


def test_paths_at_all_named_nodes_together_are_limited() -> None:
    people = [f"N{number}" for number in range(BEAM_WIDTH)]
    ends = {(name, f"{name} {number}"): 0.5 for name in people for number in range(2)}
    assert len(expansion(ends, *people).frontier()) == BEAM_WIDTH


def test_a_relationship_that_was_deleted_while_it_was_read_is_not_reached() -> None:
    one = expansion({("Ann", "Film"): 0.7})
    one = one.extended(one.frontier(), [{"lead": 0, "doubt": 0.0, "relationship": None}])
    assert one.through == {}
    assert one.frontier() == []
