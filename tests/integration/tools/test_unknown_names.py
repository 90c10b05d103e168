"""Searches for a name that no node has."""

from typing import Any

import pytest

from kgagent.graph.node_references import NodeReferences
from kgagent.tools import Toolset
from tests.support.people import node, person, relate

LINE = 'No node is named "Oslo".'


@pytest.fixture
async def places(tools: Toolset) -> None:
    """A person who lives in one town and has been in another."""
    ada = await person(tools, "Ada Lovelace", "Was in Turin once")
    bergen = await node(tools, "Entity", "Bergen", "A town")
    await relate(tools, ada, bergen, "lives in", notes=["Zoë lives in Bergen too"])


async def first_line(tools: Toolset, tool: str, **given: Any) -> str:
    return (await tools[tool].call_text(given)).text.splitlines()[0]


@pytest.mark.usefixtures("places")
async def test_an_answer_begins_with_the_names_that_no_node_has(tools: Toolset) -> None:
    question = "who lives in Oslo's harbour?"
    assert await first_line(tools, "hybrid_search", query=question, threshold=-1) == LINE
    assert await first_line(tools, "explore", queries=[{"query": question, "threshold": -1}]) == LINE
    assert (
        await first_line(tools, "explore", queries=[{"query": "town", "threshold": -1}], text_matches=["Oslo"]) == LINE
    )
    several = await first_line(tools, "hybrid_search", query="who of Oslo knows Grace Hopper?", threshold=-1)
    assert several == f'{LINE} No node is named "Grace Hopper".'


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    "question",
    [
        "who lives in Bergen?",
        "who was in Turin?",
        "what does Zoe do?",
        "Where does anybody live on Monday in July?",
        "who lives in oslo?",
        "do I know Adas family?",
        "wo arbeitet der Bruder meiner Stiefmutter?",
    ],
)
async def test_other_searches_have_no_such_line_and_ask_the_database_nothing_more(
    tools: Toolset, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    asked: list[object] = []

    async def candidates(_: NodeReferences, user_id: str, references: object) -> dict[str, tuple[()]]:
        asked.append((user_id, references))
        return {}

    monkeypatch.setattr(NodeReferences, "candidates", candidates)
    for tool, given in (("hybrid_search", {"query": question, "threshold": -1}), ("explore", {"queries": [question]})):
        assert "No node is named" not in (await tools[tool].call_text(given)).text
    assert asked == []


async def test_an_empty_answer_only_says_that_nothing_was_found(tools: Toolset) -> None:
    assert await first_line(tools, "explore", text_matches=["Oslo"]) == "Nothing found"


@pytest.mark.usefixtures("places")
async def test_a_node_with_the_name_that_the_search_did_not_return_is_known(tools: Toolset) -> None:
    await node(tools, "Concept", "Oslo")
    given = {"queries": [{"query": "towns of Oslo", "threshold": -1}], "labels": ["Person"]}
    assert "No node is named" not in (await tools["explore"].call_text(given)).text
