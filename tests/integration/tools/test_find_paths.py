"""find_paths: how two nodes are related."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.models import FindPathsRequest
from kgagent.search import paths
from kgagent.tools import Toolset
from tests.support.drawn import Drawing
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import person, persons, relate
from tests.support.stored import Database, cosine, cypher


def names(payload: dict[str, Any]) -> list[str]:
    """The nodes of each path by their names."""
    return ["".join(node["name"] for node in path["nodes"]) for path in succeeded(payload)["paths"]]


def pairs(text: str) -> list[tuple[str, str]]:
    """What is joined: "ab bc" is a with b and b with c."""
    return [(pair[0], pair[1]) for pair in text.split()]


async def find(drawing: Drawing, first: str, second: str, **more: Any) -> dict[str, Any]:
    tools = drawing.graph.tools(user_id=drawing.user_id)
    return await tools.find_paths(
        from_entity_key=drawing.key(first), to_entity_key=drawing.key(second), **more
    )


@pytest.fixture
def drawing(graph: KnowledgeGraph, user_id: str) -> Drawing:
    return Drawing(graph, user_id)


async def test_the_shortest_paths_come_first_in_any_direction(drawing: Drawing) -> None:
    await drawing.nodes(*"abcdefg")
    await drawing.joins(pairs("ab cb cd ae ed ef gf"))
    assert names(await find(drawing, "a", "d")) == ["aed", "abcd"]
    assert names(await find(drawing, "a", "d", limit=1)) == ["aed"]
    assert names(await find(drawing, "a", "d", max_hops=2)) == ["aed"]
    assert names(await find(drawing, "b", "g")) == ["baefg"]
    none = await find(drawing, "b", "g", max_hops=3)
    assert (names(none), none["message"]) == ([], "Found no path of at most 3 hops between b and g")
    six = await find(drawing, "b", "g", max_hops=6, token_budget=20_000)
    assert names(six) == ["baefg", "bcdefg"]


async def test_a_path_has_a_text_and_an_explained_score(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ada, bo, cy = await persons(tools, "Ada", "Bo", "Cy")
    await relate(
        tools, bo, ada, "chess partner", description="They play chess", attitude=4, proximity=4
    )
    await relate(tools, bo, cy, "neighbour", description="Next door", proximity=2)
    embedder.forget()
    payload = succeeded(
        await tools.find_paths(from_entity_key=ada, to_entity_key=cy, query="who plays chess?")
    )
    assert embedder.calls == 1
    assert payload["message"] == "Found 1 path between Ada and Cy, the shortest with 2 hops"
    [path] = payload["paths"]
    assert path["text"] == "Bo chess partner Ada; Bo neighbour Cy"
    assert [node["name"] for node in path["nodes"]] == ["Ada", "Bo", "Cy"]
    assert [item["description"] for item in path["relationships"]] == [
        "They play chess",
        "Next door",
    ]
    assert path["is_shortest"] is True
    [query] = await embedder.embed(["who plays chess?"])
    stored = {
        item["relationship_type"]: item["relationship_embedding"]
        for item in await database.relationships()
    }
    chess, door = (cosine(query, stored[name]) for name in ("chess partner", "neighbour"))
    assert path["score"] == pytest.approx((chess + door) / 2 - 0.02, abs=1e-5)
    assert path["explanation"] == (
        f"score {path['score']:.2f} = mean similarity to the query {(chess + door) / 2:.2f} "
        f"({chess:.2f}, {door:.2f}) - 0.02 for 2 hops"
    )
    embedder.forget()
    [path] = succeeded(await tools.find_paths(from_entity_key=ada, to_entity_key=cy))["paths"]
    assert path["score"] == pytest.approx((0.8 + 0.2) / 2 - 0.02)
    assert "mean strength (attitude and proximity, of 10) 0.50 (0.80, 0.20)" in path["explanation"]
    assert embedder.calls == 0


async def test_no_path_leads_through_nodes_of_other_users(drawing: Drawing) -> None:
    theirs = Drawing(drawing.graph, f"{drawing.user_id}-other")
    await drawing.nodes(*"abcd")
    await theirs.nodes("x")
    await drawing.joins(pairs("ac cd db"))
    await cypher(
        drawing.graph,
        "MATCH (a:Person {entity_key: $a}), (b:Person {entity_key: $b}), "
        "(x:Person {entity_key: $x}), (d:Person {entity_key: $d}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user}]->(x)-[:has_relationship_with]->(b), "
        "(a)-[:has_relationship_with {user_id: $other}]->(b), (a)-[:knows_of {user_id: "
        "$user}]->(d), "
        "(a)-[:has_relationship_with]->(:Elsewhere {user_id: $user, entity_key: "
        "'e'})-[:has_relationship_with]->(b)",
        a=drawing.key("a"),
        b=drawing.key("b"),
        d=drawing.key("d"),
        x=theirs.key("x"),
        user=drawing.user_id,
        other=theirs.user_id,
    )
    for more in ({}, {"query": "chess"}):
        assert names(await find(drawing, "a", "b", max_hops=6, **more)) == ["acdb"]
        tools = drawing.graph.tools(user_id=drawing.user_id)
        payload = await tools.find_paths(
            from_entity_key=drawing.key("a"), to_entity_key=theirs.key("x"), **more
        )
        assert error_of(payload) == f"Node not found: {theirs.key('x')}" + WHERE_KEYS_ARE


async def test_identical_or_missing_ends_are_named(tools: Toolset) -> None:
    ada = await person(tools, "Ada")
    assert "two different nodes" in error_of(
        await tools.find_paths(from_entity_key=ada, to_entity_key=ada)
    )
    missing = error_of(await tools.find_paths(from_entity_key=ada, to_entity_key="ghost"))
    assert missing == "Node not found: ghost" + WHERE_KEYS_ARE
    for wrong in ({"max_hops": 0}, {"max_hops": 7}, {"limit": 0}, {"limit": 21}):
        payload = await tools.find_paths(from_entity_key=ada, to_entity_key="ghost", **wrong)
        assert error_of(payload).startswith(next(iter(wrong)))


async def test_paths_lead_through_hubs(drawing: Drawing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PARTIAL_PATHS", 10)
    between = [f"n{number:04}" for number in range(1_500)]
    await drawing.nodes("a", "b", "hub", "other", *between)
    await drawing.joins([("a", "hub"), ("other", "b"), *(("hub", name) for name in between)])
    await drawing.joins([(between[77], "other")])
    payload = succeeded(await find(drawing, "a", "b", query="chess"))
    assert names(payload) == ["ahubn0077otherb"]
    await drawing.joins((name, "other") for name in between)
    payload = succeeded(await find(drawing, "a", "b", max_hops=6, limit=20, token_budget=20_000))
    assert len(payload["paths"]) == 20
    assert {path["hops"] for path in payload["paths"]} == {4}


async def test_a_timeout_is_reported(
    graph: KnowledgeGraph, drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await drawing.nodes(*"ab")
    await drawing.joins(pairs("ab"))
    monkeypatch.setattr(paths, "SEARCH_SHARE", 0.0)
    request = FindPathsRequest(from_entity_key=drawing.key("a"), to_entity_key=drawing.key("b"))
    found = await graph.retrieval.find_paths(request, user_id=drawing.user_id)
    assert found.paths == ()
    assert found.warnings == ("The search ran out of time; other paths may exist",)
