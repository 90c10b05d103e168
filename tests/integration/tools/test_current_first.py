"""What holds now comes before what has ended, and what has ended is marked, wherever it is shown."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Payload, Toolset
from tests.support.payloads import succeeded
from tests.support.people import remembered

QUESTION = "In which country live those by whom Acme is led?"
WAY = "Acme led by Zoe (2015/2018, past)"
ENOUGH = {"token_budget": 20_000}


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Acme was led by Zoe, who lives in Norway, and is led by Bo, who lives in Sweden."""
    led = {"from": "Acme", "relationship_type": "led by"}
    return await remembered(
        tools,
        [
            *({"label": "Entity", "name": name} for name in ("Acme", "Norway", "Sweden")),
            *({"label": "Person", "name": name} for name in ("Zoe", "Bo")),
        ],
        [
            led | {"to": "Zoe", "when": "2015/2018", "attitude": 5, "proximity": 5},
            led | {"to": "Bo", "when": "2019/.."},
            {"from": "Zoe", "to": "Norway", "relationship_type": "lives in"},
            {"from": "Bo", "to": "Sweden", "relationship_type": "lives in"},
            {"from": "Norway", "to": "Sweden", "relationship_type": "neighbor of"},
        ],
    )


def pairs(payload: Payload, field: str = "relationships") -> list[str]:
    """The ends of each relationship by their names, in order."""
    return [f"{one['from_name']} {one['to_name']}" for one in succeeded(payload)[field]]


@pytest.mark.usefixtures("keys")
async def test_a_search_has_the_present_value_and_where_it_leads_before_the_former_one(
    tools: Toolset,
) -> None:
    asked = {"query": QUESTION, "threshold": -1, **ENOUGH}
    found = pairs(await tools.hybrid_search(**asked))
    assert found.index("Acme Bo") < found.index("Acme Zoe")
    assert found.index("Bo Sweden") < found.index("Zoe Norway")
    explored = await tools.explore(queries=[{"query": QUESTION, "threshold": -1}], **ENOUGH)
    edges = pairs(explored, "edges")
    assert edges.index("Acme Bo") < edges.index("Acme Zoe")
    then = pairs(await tools.hybrid_search(**asked, as_of="2016"))
    assert "Acme Zoe" in then
    assert "Acme Bo" not in then


@pytest.mark.usefixtures("keys")
async def test_a_former_value_is_marked_also_where_it_led_to_a_result(tools: Toolset) -> None:
    asked = {"query": QUESTION, "threshold": -1, **ENOUGH}
    found = succeeded(await tools.hybrid_search(**asked))["relationships"]
    assert [one["to_name"] for one in found if "past" in one] == ["Zoe"]
    [norway] = [one for one in found if one["to_name"] == "Norway"]
    assert norway["path"] == [WAY]
    assert norway["contributions"]["past"] < 0.0
    then = succeeded(await tools.hybrid_search(**asked, as_of="2016"))["relationships"]
    assert "past" not in str(then)


async def test_what_only_a_former_value_joins_to_a_named_node_costs_also_if_it_is_found_itself(
    tools: Toolset, keys: dict[str, str]
) -> None:
    pair = {"from_entity_key": keys["Zoe"], "to_entity_key": keys["Norway"]}
    succeeded(await tools.update_relationship(**pair, description="Zoe tends lighthouses."))
    asked = {"query": "Who at Acme tends lighthouses?", "threshold": -1, **ENOUGH}
    found = succeeded(await tools.hybrid_search(**asked))["relationships"]
    [norway] = [one for one in found if one["to_name"] == "Norway"]
    assert "path" not in norway
    assert norway["contributions"]["past"] < 0.0
    assert "past" not in norway


async def test_the_former_value_is_found_where_it_alone_answers(tools: Toolset) -> None:
    await remembered(
        tools,
        [{"label": "Entity", "name": "Acme"}, {"label": "Person", "name": "Zoe"}],
        [{"from": "Acme", "to": "Zoe", "relationship_type": "led by", "when": "2015/2018"}],
    )
    answer = await tools["hybrid_search"].call_text({"query": "Who led Acme?"})
    assert "(2015/2018, past)" in answer.text


async def test_paths_and_traversals_have_what_holds_now_first_and_take_a_day(
    tools: Toolset, keys: dict[str, str]
) -> None:
    ends = {"from_entity_key": keys["Acme"], "to_entity_key": "Sweden", "max_hops": 3}
    found = succeeded(await tools.find_paths(**ends))["paths"]
    assert [path["text"] for path in found] == [
        "Acme led by Bo (2019/..); Bo lives in Sweden",
        f"{WAY}; Zoe lives in Norway; Norway neighbor of Sweden",
    ]
    assert "1.00 as it is not current" in found[1]["explanation"]
    asked = succeeded(await tools.find_paths(**ends, query="led by Zoe, Norway"))["paths"]
    assert [path["hops"] for path in asked] == [2, 3]
    [then] = succeeded(await tools.find_paths(**ends, as_of="2016"))["paths"]
    assert (
        then["text"]
        == "Acme led by Zoe (2015/2018); Zoe lives in Norway; Norway neighbor of Sweden"
    )
    nodes = succeeded(await tools.traverse(entity_key=keys["Acme"], hops=2))["nodes"]
    assert [node["name"] for node in nodes] == ["Bo", "Zoe", "Sweden", "Norway"]
    [way] = nodes[1]["relationships"]
    assert (way["when"], way["past"]) == ("2015/2018", True)
    text = (await tools["traverse"].call_text({"entity_key": "Acme"})).text
    assert "2015/2018, past)" in text.splitlines()[1]
    assert [
        [
            node["name"]
            for node in succeeded(await tools.traverse(entity_key="Acme", **more))["nodes"]
        ]
        for more in ({"as_of": "2016"}, {"as_of": "2019/2020"}, {"as_of": "2010"})
    ] == [["Zoe"], ["Bo"], []]


@pytest.mark.usefixtures("keys")
async def test_a_pattern_has_what_holds_now_first_and_can_ask_for_it_or_for_a_day(
    tools: Toolset,
) -> None:
    def asked(**of_step: object) -> dict[str, Any]:
        either_way = {"relation_type": "associated_with", "direction": "BOTH"}
        named = {"property_path": "name", "value": "Acme", "at_step": "start"}
        words = [
            {"property_path": "relationship_type", "value": word, "at_step": step}
            for step, word in enumerate(("led by", "lives in"))
        ]
        return {
            "steps": [
                {"source_label": "Entity", "target_label": "Person", **either_way, **of_step},
                {"target_label": "Entity", **either_way},
            ],
            "constraints": [
                {"type": "=", **named},
                *({"type": "=", "on": "relationship", **word} for word in words),
            ],
        }

    async def ways(**more: Any) -> list[str]:
        found = succeeded(await tools.query_patterns(query=QUESTION, **more, **ENOUGH))
        return [path["path"].rsplit(" ", 1)[1] for path in found.get("paths", ())]

    assert await ways(**asked()) == ["Sweden", "Norway"]
    assert await ways(**asked(), ranking="EDGE_WEIGHT") == ["Sweden", "Norway"]
    assert await ways(**asked(current=True)) == ["Sweden"]
    assert await ways(**asked(), as_of="2016") == ["Norway"]
    assert await ways(**asked(max_hops=2, current=True), as_of="2016") == ["Norway"]
    last = succeeded(await tools.query_patterns(**asked()))["paths"][1]
    assert last["path"].startswith("Acme -[associated_with: led by]-> Zoe -[")
    assert last["relationships"][0]["past"] is True
    assert "- 1 as it is not current" in last["explanation"]
    text = (await tools["query_patterns"].call_text(asked())).text
    assert "-[led by (2015/2018, past)]-> Zoe" in text


async def test_surroundings_have_what_holds_now_first_and_take_a_day(
    graph: KnowledgeGraph, user_id: str, keys: dict[str, str]
) -> None:
    async def around(as_of: str | None) -> list[str]:
        found = await graph.retrieval.expand_graph([keys["Acme"]], user_id=user_id, as_of=as_of)
        return [node.name for node in found.neighbors]

    assert await around(None) == ["Bo", "Zoe"]
    assert await around("2016") == ["Zoe"]


async def test_a_timeline_marks_what_has_ended(tools: Toolset, keys: dict[str, str]) -> None:
    asked = {"from_entity_key": keys["Acme"], "between": "../.."}
    answer = (await tools["get_relationship"].call_text(asked)).text
    assert "2015/2018, past: Acme" in answer
    assert "2019/.. Acme" in answer
