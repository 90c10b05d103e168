"""Expansion through nodes whose names may be those of the same thing."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.retrieval.same_names import may_name_the_same
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


async def test_the_second_hop_leaves_a_node_of_the_same_name(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await joined(tools, FILM)
    first, second, _ = FILM
    assert await _found(graph, user_id, 1) == [first]
    assert await _found(graph, user_id, 2) == [first, second]


async def test_a_reached_relationship_of_another_name_is_expanded_away_from_it(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    beyond = {("Isaac King", "Di"): "glacier expedition", ("Henry King", "Ed"): "submarine chess"}
    await joined(tools, FILM | beyond)
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
    keys = await joined(tools, {first: FILM["Orchard Film", "Henry King (director)"], second: FILM[second]})
    succeeded(await tools.update_node(entity_key=keys[of], aliases=["The King of Film"]))
    assert await _found(graph, user_id, 2) == [first]
    succeeded(await tools.update_node(entity_key=keys[of], aliases=[alias]))
    assert await _found(graph, user_id, 1) == [first]
    assert await _found(graph, user_id, 2) == [first, second]


async def test_no_node_of_another_user_is_the_same(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    first, second, _ = FILM
    await joined(tools, {first: FILM[first]})
    others = graph.tools(user_id=f"{user_id}-other")
    keys = await joined(others, {second: FILM[second]})
    succeeded(await others.update_node(entity_key=keys["Henry King"], aliases=["Henry King (director)"]))
    assert await _found(graph, user_id, 3) == [first]


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
