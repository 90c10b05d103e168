"""traverse: what stands around a node."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.search import walk
from kgagent.tools import Toolset
from tests.support.crowd import plant_people, plant_relationships
from tests.support.drawn import Drawing
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import relate, remembered
from tests.support.stored import Database


def hops_by_name(payload: dict[str, Any]) -> dict[str, int]:
    return {item["name"]: item["hops"] for item in succeeded(payload)["nodes"]}


@pytest.fixture
async def chain(tools: Toolset) -> dict[str, str]:
    """Ada mentor Bo; Cy friend Bo; Cy likes Chess, created from Chess."""
    work = {"description": "At work", "attitude": 5, "notes": ["Meet in March"]}
    return await remembered(
        tools,
        [
            *({"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy")),
            {"label": "Concept", "name": "Chess"},
        ],
        [
            {"from": "Ada", "to": "Bo", "relationship_type": "mentor", **work},
            {"from": "Cy", "to": "Bo", "relationship_type": "friend"},
            {"from": "Chess", "to": "Cy", "relationship_type": "keeps busy"},
        ],
    )


async def test_each_node_is_returned_once_with_its_fewest_hops(
    tools: Toolset, chain: dict[str, str]
) -> None:
    await relate(tools, chain["Ada"], chain["Cy"], "friend")
    payload = succeeded(await tools.traverse(entity_key=chain["Ada"], hops=3))
    assert hops_by_name(payload) == {"Bo": 1, "Cy": 1, "Chess": 2}
    assert payload["start"] == {"entity_key": chain["Ada"], "label": "Person", "name": "Ada"}
    assert payload["is_complete"] is True
    assert payload["message"] == "Reached 3 nodes from Ada"


async def test_a_traversal_ends_after_the_given_hops(tools: Toolset, chain: dict[str, str]) -> None:
    reached: dict[str, int] = {}
    for hops, name in enumerate(("Bo", "Cy", "Chess"), start=1):
        reached[name] = hops
        payload = await tools.traverse(entity_key=chain["Ada"], hops=hops)
        assert hops_by_name(payload) == reached
        assert payload["message"] == f"Reached {hops} node{'s' if hops > 1 else ''} from Ada"


async def test_directions_are_those_of_the_triplet(tools: Toolset, chain: dict[str, str]) -> None:
    async def around(name: str, direction: str) -> set[str]:
        return set(hops_by_name(await tools.traverse(entity_key=chain[name], direction=direction)))

    assert await around("Bo", "outgoing") == set()
    assert await around("Bo", "incoming") == {"Ada", "Cy"}
    assert await around("Bo", "both") == {"Ada", "Cy"}
    assert await around("Cy", "outgoing") == {"Bo"}
    assert await around("Cy", "incoming") == {
        "Chess"
    }  # stored from Cy to Chess, created from Chess
    assert await around("Chess", "outgoing") == {"Cy"}


async def test_traversal_filters_by_neo4j_type_and_relationship_type(
    tools: Toolset, chain: dict[str, str]
) -> None:
    kept = await tools.traverse(entity_key=chain["Cy"], neo4j_types=["engages_with"])
    assert hops_by_name(kept) == {"Chess": 1}
    kept = await tools.traverse(
        entity_key=chain["Bo"], hops=3, relationship_types=["friend", "mentor"]
    )
    assert hops_by_name(kept) == {"Ada": 1, "Cy": 1}


async def test_a_short_result_has_triplets_and_a_verbose_one_full_records(
    tools: Toolset, chain: dict[str, str], embedder: WatchedEmbedder
) -> None:
    embedder.forget()
    [short] = succeeded(await tools.traverse(entity_key=chain["Ada"]))["nodes"]
    assert short == {
        "entity_key": chain["Bo"],
        "label": "Person",
        "name": "Bo",
        "hops": 1,
        "relationships": [
            {
                "triplet": "Ada mentor Bo",
                "from_entity_key": chain["Ada"],
                "to_entity_key": chain["Bo"],
                "neo4j_type": "has_relationship_with",
            }
        ],
    }
    [full] = succeeded(await tools.traverse(entity_key=chain["Ada"], verbose=True))["nodes"]
    [record] = full["relationships"]
    assert record["description"] == "At work"
    assert record["attitude_word"] == "close"
    assert [note["content"] for note in record["notes"]] == ["Meet in March"]
    assert embedder.calls == 0


async def test_the_strongest_come_first_and_omitted_nodes_are_reported(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(graph, user_id, 5)
    strengths: list[dict[str, Any]] = [
        {"attitude": 1},
        {"attitude": 5, "proximity": 5},
        {"proximity": "warm"},
        {"attitude": True},
    ]
    await plant_relationships(
        graph,
        user_id,
        [
            {"first": keys[0], "second": key, "properties": p}
            for key, p in zip(keys[1:], strengths, strict=True)
        ],
    )
    payload = succeeded(await tools.traverse(entity_key=keys[0], limit=2))
    assert payload["nodes"][0]["entity_key"] == keys[2]
    assert len(payload["nodes"]) == 2
    assert payload["is_complete"] is False
    assert "there are more" in payload["message"]
    assert len(succeeded(await tools.traverse(entity_key=keys[0], limit=4))["nodes"]) == 4


async def test_a_missing_record_is_named(tools: Toolset, chain: dict[str, str]) -> None:
    assert (
        error_of(await tools.traverse(entity_key="ghost"))
        == "Node not found: ghost" + WHERE_KEYS_ARE
    )
    assert "Unsupported relationship type: x" in error_of(
        await tools.traverse(entity_key=chain["Bo"], neo4j_types=["x"])
    )
    for wrong in ({"hops": 0}, {"hops": 4}, {"direction": "up"}, {"limit": 201}):
        assert error_of(await tools.traverse(entity_key=chain["Bo"], **wrong)).startswith(
            next(iter(wrong))
        )


async def test_no_node_of_another_user_is_reached(
    graph: KnowledgeGraph, database: Database, tools: Toolset, user_id: str
) -> None:
    mine, theirs = Drawing(graph, user_id), Drawing(graph, f"{user_id}-other")
    await mine.nodes("a", "b", "c")
    await theirs.nodes("x")
    await mine.joins([("a", "b")])
    await database.run(
        "MATCH (a:Person {entity_key: $a}), (b:Person {entity_key: $b}), "
        "(c:Person {entity_key: $c}), (x:Person {entity_key: $x}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user}]->(x)-[:has_relationship_with]->(b), "
        "(a)-[:has_relationship_with {user_id: $other}]->(c)",
        a=mine.key("a"),
        b=mine.key("b"),
        c=mine.key("c"),
        x=theirs.key("x"),
        other=theirs.user_id,
    )
    assert hops_by_name(await tools.traverse(entity_key=mine.key("a"), hops=3)) == {"b": 1}
    assert (
        error_of(await tools.traverse(entity_key=theirs.key("x")))
        == f"Node not found: {theirs.key('x')}" + WHERE_KEYS_ARE
    )


async def test_a_traversal_reads_a_bounded_number_of_rows_at_a_hub(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = Drawing(graph, user_id)
    names = [f"n{number:04}" for number in range(2_000)]
    await drawing.nodes("hub", *names)
    await drawing.joins(("hub", name) for name in sorted(names, key=lambda name: name[::-1]))
    payload = succeeded(
        await tools.traverse(entity_key=drawing.key("n0007"), hops=3, limit=20, token_budget=20_000)
    )
    assert [item["name"] for item in payload["nodes"]] == [
        "hub",
        *(name for name in names[:20] if name != "n0007"),
    ]
    assert payload["is_complete"] is False
    monkeypatch.setattr(walk, "READ_PER_HOP", 80)
    cut = succeeded(
        await tools.traverse(entity_key=drawing.key("hub"), limit=200, token_budget=20_000)
    )
    assert len(cut["nodes"]) == 80
