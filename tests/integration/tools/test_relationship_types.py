"""A filter by type finds types that are written differently, and says so if there are none."""

from collections.abc import Collection
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.suggestions import closest_names
from kgagent.tools import Toolset
from kgagent.tools.relationship_types import MAX_COMPARED, MAX_EXPLAINED
from tests.support.payloads import succeeded
from tests.support.people import person, relate
from tests.support.stored import cypher

CALLS: dict[str, dict[str, Any]] = {
    "hybrid_search": {"query": "who works with Ada?", "threshold": -1.0},
    "explore": {"queries": [{"query": "who works with Ada?", "threshold": -1.0}]},
    "traverse": {"entity_key": "Ada"},
}


@pytest.fixture
async def ada(tools: Toolset) -> str:
    key = await person(tools, "Ada")
    for name, kind in (("Bo", "colleague of"), ("Cy", "Works_With"), ("Di", "friend")):
        await relate(tools, key, await person(tools, name), kind)
    return key


async def test_types_that_are_written_differently_are_found_and_others_warned_about(tools: Toolset, ada: str) -> None:
    assert ada
    for name, arguments in CALLS.items():
        found = succeeded(await tools[name](**arguments, relationship_types=["works with", "FRIEND"]))
        assert "works with" in str(found).lower().replace("_", " "), name
        assert name == "explore" or "colleague" not in str(found), name
        assert "warnings" not in found, name
        missed = await tools[name].call_text({**arguments, "relationship_types": ["colleague", "friend"]})
        assert "No relationship has the type 'colleague'. Nearest: colleague of" in missed.text, name
        assert missed.payload["warnings"] == ["No relationship has the type 'colleague'. Nearest: colleague of"]
    nothing = await tools.traverse.call_text({**CALLS["traverse"], "relationship_types": ["enemy"]})
    assert "No relationship has the type 'enemy'. There are: Works_With, colleague of, friend" in nothing.text


async def test_an_unknown_type_is_compared_with_few_stored_ones(
    graph: KnowledgeGraph, tools: Toolset, ada: str, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cypher(
        graph,
        "MATCH (:Person {user_id: $user, entity_key: $ada})-[r]->(other) UNWIND range(1, 100) AS number "
        "CREATE (other)<-[copy:has_relationship_with]-(:Person {user_id: $user, entity_key: number + other.name}) "
        "SET copy.user_id = $user, copy.relationship_type = 'kind ' + number + other.name",
        user=user_id,
        ada=ada,
    )
    sizes = list[int]()

    def measured(name: str, existing: Collection[str]) -> list[str]:
        sizes.append(len(existing))
        return closest_names(name, existing)

    monkeypatch.setattr("kgagent.tools.relationship_types.closest_names", measured)
    unknown = ["Wroks Wiht", *(f"unknown {number}" for number in range(39))]
    found = succeeded(await tools.traverse(entity_key="Ada", relationship_types=["friend", *unknown]))
    assert [one["name"] for one in found["nodes"]] == ["Di"]
    assert len(found["warnings"]) == MAX_EXPLAINED + 1
    assert found["warnings"][0] == "No relationship has the type 'Wroks Wiht'. Nearest: Works_With"
    assert found["warnings"][-1] == "37 other given types are unknown, too"
    assert max(sizes) <= MAX_COMPARED
