"""Expansion through nodes whose names may be those of the same thing."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from kgagent.retrieval.same_names import may_name_the_same

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.integration.retrieval.test_expand_hops import QUESTION, joined
from tests.support.payloads import succeeded

FILM = {
    ("Orchard Film", "Henry King (director)"): "orchard painter director",
    ("Henry King", "Isaac King"): "violin duet",
    ("Henry Kingsley", "Ada Lovelace"): "glacier expedition",
}


async def _found(graph: KnowledgeGraph, user_id: str, hops: int) -> list[tuple[str, str]]:
    matches = await graph.retrieval.relationship_vector_search(QUESTION, 0.2, user_id=user_id, expand_hops=hops)
    return [(match.from_name, match.to_name) for match in matches]


async def test_the_second_hop_leaves_a_node_of_the_same_name(graph: KnowledgeGraph, user_id: str) -> None:
    await joined(graph, user_id, FILM)
    first, second, _ = FILM
    assert await _found(graph, user_id, 1) == [first]
    assert await _found(graph, user_id, 2) == [first, second]


async def test_a_reached_relationship_of_another_name_is_expanded_away_from_it(
    graph: KnowledgeGraph, user_id: str
) -> None:
    beyond = {("Isaac King", "Di"): "glacier expedition", ("Henry King", "Ed"): "submarine chess"}
    await joined(graph, user_id, FILM | beyond)
    matches = await graph.retrieval.relationship_vector_search(QUESTION, 0.2, user_id=user_id, expand_hops=3)
    paths = {match.to_name: match.path for match in matches}
    first = "Orchard Film director Henry King (director)"
    assert paths["Isaac King"] == (first,)
    assert paths["Di"] == (first, "Henry King duet Isaac King")
    assert paths["Ed"] == (first,)


@pytest.mark.parametrize(("of", "alias"), [("Henry King", "harry"), ("Harry", "HENRY KING")])
async def test_the_second_hop_leaves_a_node_that_has_the_name_as_an_alias(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, of: str, alias: str
) -> None:
    first, second = ("Orchard Film", "Harry"), ("Henry King", "Isaac King")
    keys = await joined(graph, user_id, {first: FILM["Orchard Film", "Henry King (director)"], second: FILM[second]})
    succeeded(await tools.update_node(entity_key=keys[of], aliases=["The King of Film"]))
    assert await _found(graph, user_id, 2) == [first]
    succeeded(await tools.update_node(entity_key=keys[of], aliases=[alias]))
    assert await _found(graph, user_id, 1) == [first]
    assert await _found(graph, user_id, 2) == [first, second]


async def test_no_node_of_another_user_is_the_same(graph: KnowledgeGraph, user_id: str) -> None:
    first, second, _ = FILM
    await joined(graph, user_id, {first: FILM[first]})
    other = f"{user_id}-other"
    keys = await joined(graph, other, {second: FILM[second]})
    others = graph.tools(user_id=other)
    succeeded(await others.update_node(entity_key=keys["Henry King"], aliases=["Henry King (director)"]))
    assert await _found(graph, user_id, 3) == [first]


@pytest.fixture
async def crowd(graph: KnowledgeGraph, user_id: str, tmp_path: Path) -> None:
    """More relationships that match the question than a search expands, one of them at Rocky; and two of Rocky Reed."""
    names = ["Rocky", "Rocky Reed", "Mill", "Harbour", *(f"Person {number}" for number in range(70))]
    nodes = [{"kind": "node", "label": "Person", "id": name, "name": name} for name in names]
    ends = [*pairwise(names[4:]), ("Rocky", "Person 0")]
    ways = [{"from": one, "to": other, "description": "orchard painter"} for one, other in ends]
    ways += [{"from": "Rocky Reed", "to": one, "description": "orchard painter lamp"} for one in ("Mill", "Harbour")]
    ways = [{"kind": "relationship", "relationship_type": "neighbour", **way} for way in ways]
    path = tmp_path / "graph.jsonl"
    path.write_text("\n".join(map(json.dumps, [*nodes, *ways])), "utf-8")
    report = await graph.load(path, user_id=user_id)
    assert not report.problems


@pytest.mark.usefixtures("crowd")
async def test_a_name_that_contains_the_name_of_a_match_is_looked_up(graph: KnowledgeGraph, user_id: str) -> None:
    matches = await graph.retrieval.relationship_vector_search(
        f"{QUESTION} of Rocky Reed", 0.2, user_id=user_id, expand_hops=1, limit=10
    )
    assert {match.to_name for match in matches[:2]} == {"Mill", "Harbour"}


@pytest.mark.usefixtures("crowd")
async def test_all_relationships_of_a_mentioned_node_are_starts(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    created = await tools.create_relationship(
        from_entity_key="Rocky Reed", to_entity_key="Person 1", relationship_type="neighbour", description=QUESTION
    )
    assert created["success"], created
    matches = await graph.retrieval.relationship_vector_search(
        f"{QUESTION} of Rocky Reed", 0.2, user_id=user_id, expand_hops=1, limit=10
    )
    assert {match.to_name for match in matches if match.from_name == "Rocky Reed"} == {"Mill", "Harbour", "Person 1"}


@pytest.mark.usefixtures("crowd")
async def test_no_node_of_another_user_is_looked_up(graph: KnowledgeGraph, user_id: str) -> None:
    other = f"{user_id}-other"
    keys = await joined(graph, other, {("Rocky", "Bo"): QUESTION})
    matches = await graph.retrieval.relationship_vector_search(
        f"{QUESTION} of Rocky Reed", 0.2, user_id=other, expand_hops=3
    )
    assert {match.to_entity_key for match in matches} == {keys["Bo"]}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Henry King", "Henry King (director)", True),
        ("Henry King (film director)", "henry king", True),
        ("Henry King", "King Henry", True),
        ("Henry King", "Henry King the Elder Son", False),
        ("King", "Henry King", False),
        ("Henry King", "Henry Kingsley", False),
        ("", "Henry King", False),
    ],
)
def test_names_of_the_same_thing_share_all_words_of_the_shorter(one: str, other: str, expected: bool) -> None:
    assert may_name_the_same(one, other) is may_name_the_same(other, one) is expected
