"""Searches for a name that no node has."""

from typing import Any

import pytest

from kgagent.tools import Toolset
from tests.support.people import node, person, relate

LINE = 'No node is named "Oslo".'


@pytest.fixture
async def places(tools: Toolset) -> None:
    """A person who lives in a town."""
    ada = await person(tools, "Ada Lovelace", "Was in Turin once")
    bergen = await node(tools, "Entity", "Bergen", "A town")
    await relate(tools, ada, bergen, "lives in")


async def text_of(tools: Toolset, **given: Any) -> str:
    return (await tools["explore"].call_text(given)).text


@pytest.mark.usefixtures("places")
async def test_an_answer_begins_with_the_names_that_no_node_has(tools: Toolset) -> None:
    towns = {"queries": [{"query": "town", "threshold": -1}]}
    assert (await text_of(tools, **towns, text_matches=["Oslo", "Bergen"])).splitlines()[0] == LINE
    assert "No node is named" not in await text_of(tools, **towns, text_matches=["Bergen"])
    assert "No node is named" not in await text_of(tools, **towns)


async def test_an_empty_answer_only_says_that_nothing_was_found(tools: Toolset) -> None:
    assert await text_of(tools, text_matches=["Oslo"]) == "Nothing found"
