"""Going on from the best hits to the relationships that share a node with them."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.retrieval import beam
from kgagent.tools import Toolset

QUESTION = "orchard painter"


async def joined(tools: Toolset, chain: dict[tuple[str, str], str]) -> dict[str, str]:
    """People who are joined as `chain` says, from name and name to description."""
    keys: dict[str, str] = {}
    for name in dict.fromkeys(name for pair in chain for name in pair):
        keys[name] = (await tools.create_node(label="Person", name=name))["entity_key"]
    for (first, second), description in chain.items():
        answer = await tools.create_relationship(
            from_entity_key=keys[first],
            to_entity_key=keys[second],
            relationship_type=description.split()[-1],
            description=description,
        )
        assert answer["success"], answer
    return keys


CHAIN = {
    ("Ada", "Bo"): "painter orchard neighbour",
    ("Bo", "Cy"): "violin duet",
    ("Cy", "Di"): "glacier expedition",
    ("Eve", "Fay"): "submarine chess",
}


async def found(graph: KnowledgeGraph, user_id: str, hops: int, **more: object) -> list[tuple[str, str]]:
    matches = await graph.retrieval.relationship_vector_search(
        QUESTION,
        0.2,
        user_id,
        expand_hops=hops,
        **more,  # type: ignore[arg-type]
    )
    return [(match.from_name, match.to_name) for match in matches]


async def test_each_hop_reaches_one_relationship_further(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await joined(tools, CHAIN)
    assert await found(graph, user_id, 0) == [("Ada", "Bo")]
    assert await found(graph, user_id, 1) == [("Ada", "Bo"), ("Bo", "Cy")]
    assert await found(graph, user_id, 2) == [("Ada", "Bo"), ("Bo", "Cy"), ("Cy", "Di")]


async def test_what_was_reached_tells_its_path_and_score(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await joined(tools, CHAIN)
    first, second, third = await graph.retrieval.relationship_vector_search(QUESTION, 0.2, user_id, expand_hops=2)
    assert first.path == ()
    assert first.score == first.similarity
    assert second.path == ("Ada neighbour Bo",)
    assert third.path == ("Ada neighbour Bo", "Bo duet Cy")
    assert first.score > second.score > third.score
    assert second.similarity < 0.2


async def test_nodes_are_discovered_through_what_was_reached(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await joined(tools, CHAIN)
    discovered = await graph.retrieval.find_nodes_via_relationship_search(QUESTION, 0.2, user_id, expand_hops=2)
    assert {node.name for node in discovered.nodes} == {"Ada", "Bo", "Cy", "Di"}


async def test_explore_goes_on_as_far_as_it_is_asked_to(tools: Toolset) -> None:
    await joined(tools, CHAIN)
    query = {"queries": [{"query": QUESTION, "threshold": 0.2}]}
    near = await tools.explore(**query, expand_hops=0)
    far = await tools.explore(**query, expand_hops=2)
    assert {node["name"] for node in near["nodes"]} == {"Ada", "Bo"}
    assert {node["name"] for node in far["nodes"]} == {"Ada", "Bo", "Cy", "Di"}


async def test_the_limit_holds_for_all_together(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await joined(tools, CHAIN)
    assert await found(graph, user_id, 2, limit=2) == [("Ada", "Bo"), ("Bo", "Cy")]


async def test_only_the_free_types_asked_for_are_reached(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await joined(tools, CHAIN)
    assert await found(graph, user_id, 2, relationship_types=["neighbour", "expedition"]) == [("Ada", "Bo")]


async def test_a_relationship_without_a_sound_vector_is_passed_over(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await joined(tools, CHAIN)
    for planted in ([1.0, 2.0], None, "text", [0.0] * 384):
        await graph.store.write(
            "MATCH ({user_id: $user})-[r {description: 'violin duet'}]->() "
            "SET r.relationship_embedding = $planted REMOVE r.embedding_hash",
            {"user": user_id, "planted": planted},
        )
        assert await found(graph, user_id, 2) == [("Ada", "Bo")]


async def test_no_relationship_of_another_user_is_reached(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    keys = await joined(tools, CHAIN)
    stranger = f"{user_id}-stranger"
    theirs = (await graph.tools(user_id=stranger).create_node(label="Person", name="Stranger"))["entity_key"]
    for owner in (user_id, stranger):
        await graph.store.write(
            "MATCH (a {entity_key: $a}), (b {entity_key: $b}), ({user_id: $user})-[r {description: 'violin duet'}]->() "
            "CREATE (a)-[s:has_relationship_with]->(b) SET s = r {.*, user_id: $owner, relationship_key: null}",
            {"a": keys["Bo"], "b": theirs, "user": user_id, "owner": owner},
        )
    assert ("Bo", "Stranger") not in await found(graph, user_id, 3)


async def test_a_hub_is_read_no_further_than_its_limit(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await joined(
        tools, {("Ada", "Bo"): "painter orchard neighbour"} | {("Bo", f"P{i}"): f"task{i} duty" for i in range(9)}
    )
    monkeypatch.setattr(beam, "HUB_LIMIT", 4)
    assert len(await found(graph, user_id, 1)) <= 1 + 4


@pytest.mark.parametrize("hops", [-1, 6])
async def test_hops_out_of_range_are_refused(graph: KnowledgeGraph, user_id: str, hops: int) -> None:
    with pytest.raises(InputError, match=f"expand_hops must be 0 to 5, got {hops}"):
        await found(graph, user_id, hops)
