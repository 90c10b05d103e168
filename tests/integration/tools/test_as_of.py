"""An answer as of a day: the record of that day is put together first, then filtered and shown."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import succeeded

NODES = [{"label": "Person", "name": name} for name in ("Ada", "Bo")]
ENDS = {"from": "Ada", "to": "Bo"}

Call = dict[str, Any]


def said(relationship_type: str, said_on: str | None = None, **item: object) -> Call:
    """A call of remember that says what Ada is to Bo now."""
    item = {**ENDS, "relationship_type": relationship_type, "replaces": True, **item}
    return {"relationships": [item], "said_on": said_on}


BOSS = said("boss", when="2015/2018", attitude=5)


@pytest.mark.parametrize(
    ("calls", "filters", "shown"),
    [
        ([BOSS, said("manager")], {"as_of": "2016"}, ("boss", "2015/2018")),
        ([BOSS, said("manager")], {"as_of": "2021"}, None),
        ([BOSS, said("manager")], {}, ("manager", None)),
        (
            [BOSS, said("manager")],
            {"as_of": "2016", "relationship_types": ["boss"]},
            ("boss", "2015/2018"),
        ),
        ([BOSS, said("rival", attitude=1)], {"as_of": "2016", "max_attitude": 2}, None),
        (
            [said("boss", when="2019/2021"), said("boss", when="2019/2023")],
            {"as_of": "2022"},
            ("boss", "2019/2023"),
        ),
        (
            [said("boss"), said("manager"), said("friend", when="2019/..")],
            {"as_of": "2018"},
            ("boss", None),
        ),
        ([BOSS, said("mentor", correction=True)], {"as_of": "2016"}, ("mentor", "2015/2018")),
        ([said("boss", "2020-05"), said("rival", "2023-01")], {"as_of": "2021"}, ("boss", None)),
    ],
)
async def test_a_search_as_of_a_day_has_the_relationship_of_that_day(
    graph: KnowledgeGraph,
    user_id: str,
    tools: Toolset,
    calls: list[Call],
    filters: Call,
    shown: tuple[str, str | None] | None,
) -> None:
    succeeded(await tools.remember(nodes=NODES))
    for call in calls:
        succeeded(await tools.remember(**call))
    found = succeeded(
        await tools.hybrid_search(query="What is Ada to Bo?", format="json", **filters)
    )
    near = await graph.retrieval.relationship_vector_search(
        "Ada and Bo", -1.0, user_id=user_id, **filters
    )
    of_tool = [
        (one["relationship_type"], one.get("when")) for one in found.get("relationships", ())
    ]
    of_vectors = [(one.relationship_type, one.when) for one in near]
    assert of_tool == of_vectors == ([] if shown is None else [shown])


@pytest.mark.parametrize(
    ("as_of", "shown"),
    [("2019", None), ("2021", "friend"), ("2024", "friend, boss"), (None, "friend, boss")],
)
async def test_a_type_that_was_added_holds_since_then(
    tools: Toolset, as_of: str | None, shown: str | None
) -> None:
    succeeded(await tools.remember(nodes=NODES, **said("friend", "2020-05")))
    succeeded(await tools.remember(**said("boss", "2023-01", replaces=False)))
    found = succeeded(await tools.hybrid_search(query="Ada and Bo", as_of=as_of))
    types = [one["relationship_type"] for one in found.get("relationships", ())]
    assert types == ([shown] if shown else [])


async def test_what_is_dated_by_a_conversation_is_found_between_its_days(tools: Toolset) -> None:
    succeeded(await tools.remember(nodes=NODES, **said("boss", "2020-05")))
    for between, count in (("2020", 1), ("2021", 0)):
        found = succeeded(await tools.hybrid_search(query="Ada", between=between, format="json"))
        assert len(found.get("relationships", ())) == count, between
    [one] = succeeded(await tools.get_relationship(from_entity_key="Ada", between="2020"))[
        "statements"
    ]
    assert (one["when"], one["triplet"]) == ("2020-05", "Ada boss Bo")


async def test_what_began_between_two_days_comes_before_what_began_earlier(tools: Toolset) -> None:
    places = [{"label": "Entity", "name": name} for name in ("Oslo", "Bergen", "Rome")]
    was_in = {"from": "Ada", "relationship_type": "stayed in"}
    stays = [
        {**was_in, "to": "Oslo", "when": "2015/.."},
        {**was_in, "to": "Bergen", "when": "2022-05"},
        {**was_in, "to": "Rome", "notes": [{"content": "Ada stayed.", "when": "2022-08"}]},
    ]
    succeeded(await tools.remember(nodes=[*NODES, *places], relationships=stays))
    found = await tools.hybrid_search(query="Where was Ada?", between="2022", format="json")
    *within, earlier = (one["to_name"] for one in succeeded(found)["relationships"])
    assert (sorted(within), earlier) == (["Bergen", "Rome"], "Oslo")


async def test_what_an_earlier_conversation_said_is_a_former_value(tools: Toolset) -> None:
    succeeded(await tools.remember(nodes=NODES, **said("friend", "2022-03", description="Newer.")))
    older = said("friend", "2020-03", description="Older.", attitude=4)
    for _ in range(2):
        answer = await tools["remember"].call_text(older)
        assert "Kept as former: description, as the present one was said later" in answer.text

    async def description(**filters: str) -> str:
        found = await tools.hybrid_search(query="Ada and Bo", format="json", **filters)
        [one] = succeeded(found)["relationships"]
        return str(one["description"])

    assert [await description(), await description(as_of="2021")] == ["Newer.", "Older."]
    ends = {"from_entity_key": "Ada", "to_entity_key": "Bo"}
    shown = succeeded(await tools.get_relationship(**ends))["relationship"]
    assert [(one["value"], one["said_on"]) for one in shown["history"]] == [("Older.", "2022-03")]
    assert shown["attitude"] == 4
