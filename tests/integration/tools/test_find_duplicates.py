"""Likely duplicates: the tool, Python and the command line."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.people import remembered

FRIENDS = [
    f"{first} {last}" for first in ("Ira", "Max", "Zoe") for last in ("Bell", "Cole", "Dunn")
]
PEOPLE: list[dict[str, object]] = [
    {"label": "Person", "name": "Ada Lovelace", "description": "Wrote notes on the engine."},
    {"label": "Person", "name": "A. Lovelace"},
    {"label": "Person", "name": "Byron Lovelace", "description": "Son of Ada."},
    {"label": "Person", "name": "Ruth Adeyemi"},
    {"label": "Person", "name": "Roo", "aliases": ["Ruth Adéyemi"]},
    {"label": "Entity", "name": "Ruth Adeyemi Ltd"},
    {"label": "Entity", "name": "Royal Society"},
    *(dict[str, object](label="Person", name=name) for name in FRIENDS),
]
JOINED: list[dict[str, object]] = [
    {"from": "Ada Lovelace", "to": "Royal Society", "relationship_type": "member of"},
    {"from": "A. Lovelace", "to": "Royal Society", "relationship_type": "visited"},
    {"from": "Byron Lovelace", "to": "Ada Lovelace", "relationship_type": "son of"},
]


@pytest.fixture(autouse=True)
async def people(tools: Toolset) -> None:
    await remembered(tools, PEOPLE, JOINED)


async def test_pairs_have_a_score_and_the_reason_and_nothing_changes(tools: Toolset) -> None:
    found = succeeded(await tools.find_duplicates())
    pairs = {tuple(sorted(one["name"] for one in pair["nodes"])) for pair in found["duplicates"]}
    assert pairs == {("A. Lovelace", "Ada Lovelace"), ("Roo", "Ruth Adeyemi")}
    assert found["message"] == "Found 2 likely duplicates"
    reasons = {pair["reason"] for pair in found["duplicates"]}
    assert any("A. Lovelace" in one and "shared neighbors: Royal Society" in one for one in reasons)
    assert any("Ruth Adéyemi" in one for one in reasons)
    scores = [pair["score"] for pair in found["duplicates"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0.5 <= score <= 1.0 for score in scores)

    text = (await tools["find_duplicates"].call_text({"limit": 1})).text
    assert text.count("\n") == 0
    assert " and " in text
    assert succeeded(await tools.find_duplicates())["duplicates"] == found["duplicates"]


async def test_python_has_the_same_pairs_and_another_user_none(
    graph: KnowledgeGraph, user_id: str
) -> None:
    found = await graph.duplicates(user_id=user_id)
    assert len(found) == 2
    assert found[0].score >= found[1].score
    assert {"names", "unique", "said"} <= found[0].contributions.keys()
    assert await graph.duplicates(user_id=f"{user_id}-other") == ()
    assert len(await graph.duplicates(user_id=user_id, threshold=0.0, limit=1)) == 1
