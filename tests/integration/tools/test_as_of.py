"""An answer as of a day: the record of that day is put together first, then filtered and shown; as known
on a day, from what had been said by then.
"""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
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
RIVAL = [said("boss", "2020-05"), said("rival", "2023-01")]
WRONG = [said("boss", "2020-05", when="2015/2018"), said("mentor", "2023-01", correction=True)]
DATED = [
    said("boss", "2020-05"),
    said("boss", "2022-01", when="2015/2018"),
    said("boss", "2023-01", when="2019/.."),
]


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
        (RIVAL, {"known_as_of": "2020-04"}, None),
        (RIVAL, {"known_as_of": "2021"}, ("boss", None)),
        (RIVAL, {"known_as_of": "2021", "relationship_types": ["Boss"]}, ("boss", None)),
        (RIVAL, {"known_as_of": "2021", "relationship_types": ["rival"]}, None),
        (RIVAL, {"known_as_of": "2021", "as_of": "2019"}, None),
        (RIVAL, {"known_as_of": "2023", "as_of": "2021"}, ("boss", None)),
        (WRONG, {"known_as_of": "2021", "as_of": "2016"}, ("boss", "2015/2018")),
        (WRONG, {"known_as_of": "2023", "as_of": "2016"}, ("mentor", "2015/2018")),
        (DATED, {"known_as_of": "2021"}, ("boss", None)),
        (DATED, {"known_as_of": "2021", "as_of": "2016"}, None),
        (DATED, {"known_as_of": "2022", "as_of": "2016"}, ("boss", "2015/2018")),
        (DATED, {"known_as_of": "2022", "as_of": "2019"}, None),
        (DATED, {"as_of": "2019"}, ("boss", "2015/2018; 2019/..")),
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


async def test_no_search_has_what_became_known_later(
    graph: KnowledgeGraph, user_id: str, tools: Toolset
) -> None:
    await graph.add_source("Letter", "Ada rows alone.", user_id=user_id, said_on="2020-05")
    await graph.add_source("Call", "Ada and Bo row.", user_id=user_id, said_on="2023-01")
    first = {**said("friend", "2020-05", notes=["They row."]), "nodes": NODES}
    succeeded(await tools.remember(**first))
    cy = {"label": "Person", "name": "Cy"}
    boss = {"from": "Bo", "to": "Cy", "relationship_type": "boss", "notes": ["They row too."]}
    again = {**ENDS, "notes": ["They row still."]}
    later = {"nodes": [cy], "relationships": [boss, again], "said_on": "2023-01"}
    keys = {
        node["name"]: node["entity_key"]
        for node in succeeded(await tools.remember(**later))["created_nodes"]
    }
    known: Call = {"user_id": user_id, "known_as_of": "2021"}
    found = await graph.search("Who rows?", threshold=-1, **known)
    [friends] = found.relationships or ()
    assert [note.content for note in friends.notes] == ["They row."]
    assert {node.name for node in found.objects} == {"Ada", "Bo", "Letter"}
    explored = await graph.explore("Who rows?", text_matches=["Cy", "Bo"], **known)
    assert {one.node.name for one in explored.nodes} == {"Ada", "Bo", "Letter"}
    assert [one.relationship_type for one in explored.relationships] == ["friend"]
    ada, bo = (one.entity_key for one in sorted(found.objects, key=lambda node: node.name)[:2])
    ends = {"from_entity_key": ada, "to_entity_key": keys["Cy"]}
    for then, names in ((known, ["Bo"]), ({"user_id": user_id}, ["Bo", "Cy"])):
        reached = await graph.traverse(ada, hops=2, **then)
        assert [one.node.name for one in reached.reached] == names
        assert bool((await graph.find_paths(**ends, **then)).paths) is ("Cy" in names)
    around = await graph.retrieval.expand_graph([bo], **known)
    assert [one.name for one in around.neighbors] == ["Ada"]


@pytest.mark.parametrize("exact_scan_limit", [0, 1_000])
async def test_a_search_as_known_on_a_day_has_all_results(
    graph: KnowledgeGraph, user_id: str, tools: Toolset, exact_scan_limit: int
) -> None:
    for said_on, count in (("2020-05", 5), ("2023-01", 60)):
        notes = [{"on": "Ada", "content": f"Ada rowed {n} of {count}."} for n in range(count)]
        others = [{"label": "Entity", "name": f"Boat {said_on} {n}"} for n in range(count)]
        nodes = [*NODES[:1], *others]
        succeeded(await tools.remember(nodes=nodes, notes=notes, said_on=said_on))
    settings = graph.settings.model_copy(update={"exact_scan_limit": exact_scan_limit})
    searching = KnowledgeGraph(
        services_of(graph).store, graph.ontology, services_of(graph).embedder, settings
    )
    asked: Call = {"user_id": user_id, "known_as_of": "2020", "threshold": -1, "limit": 6}
    found = await searching.search("Boat 2023-01", **asked)
    assert len(found.objects) == 6
    [ada] = (node for node in found.objects if node.name == "Ada")
    assert len(ada.notes) == 5


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


OF = {year: f"Of {year}." for year in ("2018", "2020", "2024")}


@pytest.mark.parametrize("when", [{}, {"when": "2010/.."}])
@pytest.mark.parametrize(
    "order", [("2018", "2020", "2024"), ("2020", "2024", "2018"), ("2024", "2018", "2020")]
)
async def test_descriptions_are_those_of_their_days_in_whatever_order_they_are_told(
    graph: KnowledgeGraph, user_id: str, tools: Toolset, order: tuple[str, ...], when: Call
) -> None:
    succeeded(await tools.remember(nodes=[{"label": "Person", "name": "Bo"}], said_on="2017"))
    for year in order:
        ada = {"label": "Concept", "name": "Ada", "description": OF[year]}
        call = said("friend", year, description=OF[year], **when)
        succeeded(await tools.remember(nodes=[ada], **call))
    for year, filters in (
        ("2018", {"known_as_of": "2019"}),
        ("2020", {"known_as_of": "2021"}),
        ("2024", {"known_as_of": "2024"}),
        ("2018", {"as_of": "2019"}),
        ("2020", {"as_of": "2021"}),
        ("2018", {"as_of": "2019", "known_as_of": "2021"}),
        ("2024", {}),
    ):
        asked: Call = {"user_id": user_id, "threshold": -1, **filters}
        found = await graph.search("Ada and Bo", **asked)
        [ada_then] = [one.description for one in found.objects if one.name == "Ada"]
        [friends] = found.relationships or ()
        assert (ada_then, friends.description) == (OF[year], OF[year]), filters


async def test_a_correction_is_newer_than_what_was_said_before_it(
    graph: KnowledgeGraph, user_id: str, tools: Toolset
) -> None:
    succeeded(await tools.remember(nodes=NODES, **said("friend", "2020", description="Wrong.")))
    right = {"from_entity_key": "Ada", "to_entity_key": "Bo", "description": "Right."}
    succeeded(await tools.update_relationship(**right, correction=True))
    for year in ("2022", "2018"):
        succeeded(await tools.remember(**said("friend", year, description=f"Of {year}.")))
    for text, filters in (
        ("Right.", {}),
        ("Of 2018.", {"known_as_of": "2019"}),
        ("Wrong.", {"known_as_of": "2021"}),
        ("Of 2022.", {"known_as_of": "2023"}),
        ("Of 2018.", {"as_of": "2019"}),
        ("Right.", {"as_of": "2021"}),
        ("Of 2022.", {"as_of": "2023"}),
    ):
        asked: Call = {"user_id": user_id, "threshold": -1, **filters}
        found = await graph.search("Ada and Bo", **asked)
        assert [one.description for one in found.relationships or ()] == [text], filters
