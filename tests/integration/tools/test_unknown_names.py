"""Searches for a name that no node has, or a type that no relationship has, say so."""

from typing import Any

from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.people import remembered

CALLS: dict[str, dict[str, Any]] = {
    "hybrid_search": {"query": "who works with Ada?", "threshold": -1.0},
    "explore": {"queries": [{"query": "who works with Ada?", "threshold": -1.0}]},
    "traverse": {"entity_key": "Ada"},
}


async def test_types_that_are_written_differently_are_found_and_others_warned_about(
    tools: Toolset,
) -> None:
    types = {"Bo": "colleague of", "Cy": "Works_With", "Di": "friend"}
    await remembered(
        tools,
        [{"label": "Person", "name": name} for name in ("Ada", *types)],
        [{"from": "Ada", "to": name, "relationship_type": kind} for name, kind in types.items()],
    )
    for name, arguments in CALLS.items():
        found = succeeded(
            await tools[name](**arguments, relationship_types=["works with", "FRIEND"])
        )
        assert "works with" in str(found).lower().replace("_", " "), name
        assert name == "explore" or "colleague" not in str(found), name
        assert "warnings" not in found, name
        missed = await tools[name].call_text(
            {**arguments, "relationship_types": ["colleague", "friend"]}
        )
        assert "No relationship has the type 'colleague'. Nearest: colleague of" in missed.text, (
            name
        )
        assert missed.payload["warnings"] == [
            "No relationship has the type 'colleague'. Nearest: colleague of"
        ]
    nothing = await tools.traverse.call_text({**CALLS["traverse"], "relationship_types": ["enemy"]})
    assert "No relationship has the type 'enemy'" in nothing.text


async def test_an_answer_begins_with_the_names_that_no_node_has(tools: Toolset) -> None:
    async def text_of(*names: str, **more: object) -> str:
        return (await tools.explore.call_text({"text_matches": [*names], **more})).text

    assert await text_of("Oslo") == "Nothing found"
    await remembered(tools, [{"label": "Entity", "name": "Bergen", "description": "A town"}])
    towns = {"queries": [{"query": "town", "threshold": -1}]}
    assert (await text_of("Oslo", "Bergen", **towns)).splitlines()[0] == 'No node is named "Oslo".'
    assert "No node is named" not in await text_of("Bergen", **towns)
    assert "No node is named" not in await text_of(**towns)
