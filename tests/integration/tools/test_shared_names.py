"""A name of one node that is an alias of another: answers say so."""

import pytest

from kgagent.tools import Toolset
from tests.support.people import node, person, relate


@pytest.fixture
async def robert(tools: Toolset) -> str:
    """Robert Hofmann, whom others call Bobby."""
    return await person(tools, "Robert Hofmann", "Sound engineer.", aliases=["Bobby"])


async def test_a_reference_that_is_a_name_and_an_alias_says_which_was_used(tools: Toolset, robert: str) -> None:
    bobby = await node(tools, "Concept", "Bobby")
    answer = await tools["remember"].call_text({"notes": [{"on": "Bobby", "content": "A dance."}]})
    expected = f"Bobby → Bobby (Concept, {bobby[:12]}); also an alias of Robert Hofmann"
    assert answer.text.splitlines()[1:] == [f"Note: {expected}"]
    ada = await person(tools, "Ada")
    await relate(tools, ada, bobby, "dances")
    changed = await tools["update_relationship"].call_text(
        {"from_entity_key": "Ada", "to_entity_key": "Bobby", "attitude": 3}
    )
    assert expected in changed.text
    for reference in (bobby, robert, "Robert Hofmann", "Ada"):
        unshared = await tools["remember"].call_text({"notes": [{"on": reference, "content": "Another one."}]})
        assert "also an alias" not in unshared.text


async def test_a_shared_name_is_not_compared_with_parts_of_the_names_of_the_call(tools: Toolset, robert: str) -> None:
    bobby = await person(tools, "Bobby")
    relationship = {"from": robert, "to": "Bobby", "relationship_type": "cousin of"}
    call = {"nodes": [{"label": "Person", "name": "Bobby Fischer"}], "relationships": [relationship]}
    answer = await tools["remember"].call_text({**call, "verbose": True})
    assert answer.payload["failures"] == []
    assert bobby[:8] in answer.text
    assert "also an alias of Robert Hofmann" in answer.text
