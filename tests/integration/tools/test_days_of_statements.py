"""Each statement has its own day, and what holds is told apart from what has ended or not begun."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.stored import nodes_of

PAIR = {"from": "Anna", "to": "Bo"}
ENOUGH = {"token_budget": 20_000}


async def told(tools: Toolset, *days: tuple[str, Mapping[str, Any]]) -> None:
    """What Anna and others of her graph are to each other, as they say it on some days."""
    for name, label in (("Anna", "Person"), ("Bo", "Person"), ("Oslo", "Entity")):
        succeeded(await tools.remember(nodes=[{"label": label, "name": name}]))
    for day, relationship in days:
        succeeded(await tools.remember(relationships=[{**PAIR, **relationship}], said_on=day))


async def text(tools: Toolset, tool: str, **arguments: object) -> str:
    """The answer of a tool as a model reads it."""
    return (await tools[tool].call_text(arguments)).text


async def test_between_finds_a_description_and_a_level_by_the_days_on_which_they_were_said(
    tools: Toolset,
) -> None:
    friend = {"relationship_type": "friend"}
    await told(
        tools,
        ("2023-05-01", friend | {"description": "Anna sails with Bo."}),
        ("2024-02-01", friend | {"description": "Anna climbs with Bo."}),
        ("2025-03", friend | {"proximity": 4}),
    )
    bo = {"label": "Person", "name": "Bo", "description": "Bo builds boats."}
    succeeded(await tools.remember(nodes=[bo], said_on="2022-01"))

    async def found(year: str) -> list[str]:
        asked = {"query": "Anna", "between": year, "threshold": -1, **ENOUGH}
        answer = succeeded(await tools.hybrid_search(**asked))
        return [one.get("description", "") for one in answer["relationships"]]

    assert [bool(await found(year)) for year in ("2022", "2024", "2025", "2026")] == [
        False,
        True,
        True,
        False,
    ]
    climbing = [{"query": "climbing", "threshold": -1}]
    assert "Anna climbs with Bo." in await text(tools, "explore", queries=climbing, between="2024")
    assert "Bo builds boats." in await text(
        tools, "hybrid_search", query="Who builds boats?", between="2022"
    )
    lines = {
        year: (
            await text(tools, "get_relationship", from_entity_key="Anna", between=year)
        ).splitlines()[1:]
        for year in ("2023", "2024", "2025")
    }
    assert lines == {
        "2023": ["2023-05-01 Anna (Person) -[friend]-> Bo (Person)"],
        "2024": ["2024-02-01 Anna (Person) -[friend]-> Bo (Person): Anna climbs with Bo."],
        "2025": ["2025-03 Anna (Person) -[friend]-> Bo (Person) (known-well)"],
    }
    [_, said] = (
        await text(tools, "get_relationship", from_entity_key="Bo", between="2022")
    ).splitlines()
    assert said == "2022-01: Bo builds boats."
    pair = {"from_entity_key": "Anna", "to_entity_key": "Bo", "between": "2025"}
    assert (await text(tools, "get_relationship", **pair)).endswith("- Said 2025-03: proximity")
    assert "(known-well as of 2025-03, said 2023-05-01)" in await text(
        tools, "explore", queries=["Bo"]
    )


async def test_a_plan_and_an_event_of_a_day_have_their_dates_and_are_not_past(
    tools: Toolset,
) -> None:
    await told(
        tools,
        (
            "2023-11-05",
            {"relationship_type": "plans trip to", "to": "Oslo", "when": "2024-05/2024-06"},
        ),
        ("2023-11-05", {"relationship_type": "met", "when": "2019-05-03"}),
    )
    answer = await text(tools, "hybrid_search", query="Anna", threshold=-1)
    assert "(2024-05/2024-06)" in answer
    assert "(2019-05-03)" in answer
    notes = [{"on": ["Anna", "Oslo"], "content": "The trip was a success."}]
    succeeded(await tools.remember(notes=notes, said_on="2024-08-01"))
    assert "(2024-05/2024-06, past)" in await text(
        tools, "hybrid_search", query="Anna", threshold=-1
    )


async def test_what_has_not_begun_follows_what_holds(tools: Toolset) -> None:
    await told(tools)
    home = {"from": "Anna", "relationship_type": "will move to"}
    nodes = [{"label": "Entity", "name": name} for name in ("Adria", "Zadar")]
    relationships = [home | {"to": "Adria", "when": "2097-03/.."}, home | {"to": "Zadar"}]
    succeeded(await tools.remember(nodes=nodes, relationships=relationships))
    asked = {"query": "Where will Anna move to?", "threshold": -1, **ENOUGH}
    found = succeeded(await tools.hybrid_search(**asked))["relationships"]
    assert [one["to_name"] for one in found] == ["Zadar", "Adria"]
    assert "will move to]-> Adria (Entity) (from 2097-03)" in await text(
        tools, "hybrid_search", **asked
    )
    paths = succeeded(await tools.traverse(entity_key="Anna", **ENOUGH))["nodes"]
    assert [one["name"] for one in paths] == ["Zadar", "Adria"]


@pytest.mark.parametrize("strategy", ["calibrated", "rrf", "weighted", "interleave", "text_first"])
async def test_a_past_relationship_follows_an_equal_one_in_each_strategy(
    tools: Toolset, strategy: str
) -> None:
    await told(tools)
    friend = {"from": "Anna", "relationship_type": "friend", "description": "Anna plays chess."}
    nodes = [{"label": "Person", "name": name} for name in ("Cleo", "Dora")]
    relationships = [
        friend | {"to": "Cleo", "when": "2010/2012"},
        friend | {"to": "Dora", "when": "2010/.."},
    ]
    succeeded(await tools.remember(nodes=nodes, relationships=relationships))
    asked = {"query": "With whom is Anna a friend?", "strategy": strategy, "threshold": -1}
    found = succeeded(await tools.hybrid_search(**asked, **ENOUGH))["relationships"]
    assert [one["to_name"] for one in found] == ["Dora", "Cleo"]


async def test_a_pattern_compares_the_values_of_the_day_that_is_asked_for(tools: Toolset) -> None:
    boss, manager = {"relationship_type": "boss of"}, {"relationship_type": "manager of"}
    await told(
        tools,
        ("2015", {**boss, "attitude": 1, "description": "Anna shouts at Bo."}),
        ("2020", {**manager, "replaces": True, "attitude": 5, "description": "They laugh."}),
    )
    bo = {"label": "Person", "name": "Bo", "description": "Bo is a trainee."}
    succeeded(await tools.remember(nodes=[bo], said_on="2015"))
    trained = [{"name": "Bo", "description": "Bo is an engineer."}]
    succeeded(await tools.remember(nodes=trained, said_on="2020"))

    async def kept(as_of: str | None, branch: str = "", **constraint: Any) -> bool:
        of_part = {"on": "relationship", "at_step": 0, **constraint}
        step = {"relation_type": "has_relationship_with", "source_label": "Person"}
        asked: dict[str, Any] = {"steps": [step], "constraints": [of_part]}
        if branch:
            branches = [{"at_step": "start", "steps": [step], "constraints": [of_part]}]
            asked = {"steps": [step], "branches": branches}
        found = succeeded(await tools.query_patterns(**asked, as_of=as_of, strict=False))
        assert "present values" not in str(found.get("warnings"))
        return bool(found.get("paths"))

    async def both(**constraint: Any) -> tuple[bool, bool]:
        return await kept("2016", **constraint), await kept("2021", **constraint)

    attitude = {"property_path": "attitude", "value": 3}
    assert await both(type="GREATER_THAN", **attitude) == (False, True)
    assert await both(type="LESS_THAN", **attitude) == (True, False)
    assert await both(type="LESS_THAN", **attitude, branch="yes") == (True, False)
    of_type = {"property_path": "relationship_type", "type": "="}
    assert await both(**of_type, value="boss of") == (True, False)
    assert await both(**of_type, value="Manager of") == (False, True)
    description = {"property_path": "description"}
    assert await both(**description, type="REGEX_MATCH", value=".*shouts.*") == (True, False)
    node = {"on": "node", "at_step": "end", **description, "type": "CONTAINS"}
    assert await both(**node, value="trainee") == (True, False)


async def test_a_new_person_is_told_apart_from_people_of_whose_names_hers_is_a_part(
    tools: Toolset,
) -> None:
    people = [{"label": "Person", "name": name} for name in ("Victor Hale", "Victor Moss")]
    succeeded(await tools.remember(nodes=people))
    answer = await text(tools, "remember", nodes=[{"label": "Person", "name": "Victor"}])
    notes = [line for line in answer.splitlines() if line.startswith("Note: ")]
    assert [re.sub(r" \([0-9a-f-]+\)", "", note) for note in notes] == [
        "Note: Victor is new; there are Victor Hale and Victor Moss"
    ]
    assert "there are" not in await text(
        tools, "remember", nodes=[{"label": "Person", "name": "Vic"}]
    )


async def test_an_invalid_time_of_a_note_costs_only_itself_in_a_load(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    notes = [
        {"content": "Met at the fair.", "when": "last spring"},
        {"content": "Dined.", "when": "2023-05"},
    ]
    lines = [
        {"kind": "node", "id": "Anna", "label": "Person", "name": "Anna", "notes": notes},
        {"kind": "node", "id": "Bo", "label": "Person", "name": "Bo"},
        {"kind": "relationship", "from": "Anna", "to": "Bo", "relationship_type": "friend"},
    ]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    report = await graph.load(path, user_id=user_id)
    assert (report.nodes.created, report.relationships.created, report.problems) == (2, 1, ())
    [remark] = report.remarks
    assert str(remark).startswith("line 1: when of a note is not stored: must be a date or a")
    assert "got 'last spring'" in str(remark)
    [anna] = [one for one in await nodes_of(graph, user_id) if one["name"] == "Anna"]
    assert [note.get("when") for note in json.loads(anna["notes"])] == [None, "2023-05"]
