"""The short form of `scripts/soak.py`, and proofs that it notices what it looks for."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.tools import BoundTool, ToolText
from tests.adversarial.soak import SHARED, World, soak
from tests.adversarial.soak_agent import Agent
from tests.support.stored import cypher


async def test_agents_of_several_users_leave_what_they_wrote_and_nothing_else(settings: Settings, user_id: str) -> None:
    users = [f"{user_id}-{place}" for place in range(2)]
    figures = await soak(settings, users=users, agents=2, calls=50, seconds=None, seed=1, steps=14, doctor=False)
    assert figures.violations == []
    assert figures.kinds["valid"] > 30
    assert figures.kinds["mutated"] > 0
    assert figures.compared["notes"] > 0


@pytest.fixture
def world(graph: KnowledgeGraph, user_id: str) -> World:
    return World([graph], [f"{user_id}-0", f"{user_id}-1"], seed=1)


async def test_what_others_changed_is_noticed(world: World, graph: KnowledgeGraph) -> None:
    user, other = world.users
    await world.renew_shared()
    agent = Agent(world, user, 0, seed=3)
    while len(world.zones[user]["agent0"].nodes) < 3:
        await agent.run(1)
    await world.compare(doctor=False)
    assert world.figures.violations == []

    lost, changed, *_ = world.zones[user]["agent0"].nodes
    first, second = world.shared[user]
    world.zones[user][SHARED].relationships[first, second].notes.append("A note that nobody stored.")
    at = "MATCH (n:Person|Concept|Entity {user_id: $user, entity_key: $key})"
    await cypher(graph, f"{at} DETACH DELETE n", user=user, key=lost)
    await cypher(graph, f"{at} SET n.description = $said", user=user, key=changed, said=world.word(other))
    created = "CREATE (n:Concept {user_id: $user, entity_key: $key, name: 'agent0 999'})"
    await cypher(graph, created, user=user, key=f"{user}-more")
    await world.compare(doctor=False)

    said = "\n".join(world.figures.violations)
    for expected in (
        f"description of node {changed} is '{world.word(other)}' instead of",
        "is lost",
        f"node {user}-more is not expected",
        "lost the note 'A note that nobody stored.'",
        "a text of another user is stored",
        "a stored embedding is not current",
    ):
        assert expected in said


class Answering:
    """A tool that answers as it is told, or raises."""

    read_only = True

    def __init__(self, payload: Mapping[str, Any] | None) -> None:
        self._payload = payload

    async def call_text(self, arguments: object) -> ToolText:
        """Answer."""
        if self._payload is None:
            raise ZeroDivisionError(arguments)
        text = json.dumps(self._payload)
        return ToolText(text, is_error=not self._payload["success"], payload=dict(self._payload))


@pytest.mark.parametrize(
    ("payload", "noticed"),
    [
        (None, "raised for"),
        ({"success": True, "message": "OTHER"}, "a text of"),
        ({"success": True, "message": "m", "node": {"embedding": [0.1] * 4}}, "shows what it must not"),
        ({"success": True, "message": "word " * 3_000}, "tokens"),
        ({"success": False, "error": "No"}, "refused a valid call: No"),
    ],
)
async def test_an_answer_that_breaks_a_promise_is_noticed(
    world: World, payload: dict[str, Any] | None, noticed: str
) -> None:
    user, other = world.users
    if payload is not None and payload.get("message") == "OTHER":
        payload = {**payload, "message": world.word(other)}
    tools = cast("Mapping[str, BoundTool]", {"explore": Answering(payload)})
    await world.call(tools, user, "explore", {}, kind="valid")
    [violation] = world.figures.violations
    assert noticed in violation
