"""The short form of `scripts/soak.py`, and proofs that it notices what it looks for."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.tools import BoundTool, ToolText
from tests.adversarial.soak import SHARED, World, soak
from tests.adversarial.soak_agent import Agent
from tests.adversarial.soak_faults import Faults
from tests.adversarial.soak_model import Change, Node, Stored, Zone, settled
from tests.support.proxy import proxy_to
from tests.support.stored import cypher


async def test_agents_of_several_users_leave_what_they_wrote_and_nothing_else(
    settings: Settings, user_id: str
) -> None:
    users = [f"{user_id}-{place}" for place in range(2)]
    figures = await soak(
        settings, users=users, agents=2, calls=50, seconds=None, seed=1, steps=14, doctor=False
    )
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
    world.zones[user][SHARED].relationships[first, second].notes.append(
        "A note that nobody stored."
    )
    at = "MATCH (n:Person|Concept|Entity {user_id: $user, entity_key: $key})"
    await cypher(graph, f"{at} DETACH DELETE n", user=user, key=lost)
    await cypher(
        graph, f"{at} SET n.description = $said", user=user, key=changed, said=world.word(other)
    )
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
        (
            {"success": True, "message": "m", "node": {"embedding": [0.1] * 4}},
            "shows what it must not",
        ),
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


async def test_a_call_that_a_time_limit_ended_is_counted_apart(world: World) -> None:
    error = "The database stopped the statement because it exceeded its time limit"
    tools = cast(
        "Mapping[str, BoundTool]", {"create_node": Answering({"success": False, "error": error})}
    )
    await world.call(tools, world.users[0], "create_node", {}, kind="valid")
    assert world.figures.violations == []
    assert (world.figures.late, world.figures.refused) == (1, 0)


def _noted(zone: Zone, _keys: Mapping[str, str]) -> None:
    zone.nodes["k"].notes.append("new")


def _created(zone: Zone, keys: Mapping[str, str]) -> None:
    zone.nodes[keys["agent0 2"]] = Node("agent0 2", "", "Person")


def _stored(*notes: str, **more: str) -> Stored:
    """What is stored: a node with notes, and others by key and name."""
    first = {
        "entity_key": "k",
        "name": "agent0 1",
        "description": "",
        "notes": json.dumps([{"content": note} for note in notes]),
    }
    others = {
        key: {"entity_key": key, "name": name, "description": ""} for key, name in more.items()
    }
    return Stored({"k": first, **others}, [])


@pytest.mark.parametrize(
    ("changes", "stored", "notes", "keys"),
    [
        ([_noted], _stored("old"), ["old"], {"k"}),
        ([_noted], _stored("old", "new"), ["old", "new"], {"k"}),
        ([_created], _stored("old"), ["old"], {"k"}),
        ([_created], _stored("old", m="agent0 2"), ["old"], {"k", "m"}),
        ([_created, _noted], _stored("old", m="agent0 2"), ["old"], {"k", "m"}),
        ([_created, _noted], _stored("old", "new", m="agent0 2"), ["old", "new"], {"k", "m"}),
    ],
)
def test_a_call_whose_reply_was_lost_did_nothing_or_some_of_its_changes_in_order(
    changes: list[Change], stored: Stored, notes: list[str], keys: set[str]
) -> None:
    zone = Zone(nodes={"k": Node("agent0 1", "", "Person", ["old"])})
    after = settled("agent0", zone, changes, stored)
    assert after is not None
    assert after.nodes["k"].notes == notes
    assert after.nodes.keys() == keys
    assert zone.nodes["k"].notes == ["old"]


@pytest.mark.parametrize(
    ("changes", "stored"),
    [
        ([_noted], _stored("old", "new", "new")),
        ([_noted], _stored("new")),
        ([_created], _stored("old", m="agent0 2", n="agent0 2")),
        ([_created, _noted], _stored("old", "new")),
    ],
    ids=["twice", "another is lost", "two nodes", "out of order"],
)
def test_what_no_call_leaves_is_not_settled(changes: list[Change], stored: Stored) -> None:
    zone = Zone(nodes={"k": Node("agent0 1", "", "Person", ["old"])})
    assert settled("agent0", zone, changes, stored) is None


async def test_agents_go_on_beside_connections_that_are_cut_and_an_embedder_that_fails(
    settings: Settings, user_id: str
) -> None:
    async with proxy_to(str(settings.neo4j_uri)) as proxy:
        faults = Faults(proxy, times=1, seed=1)
        figures = await soak(
            settings,
            users=[user_id],
            agents=2,
            calls=None,
            seconds=None,
            seed=1,
            steps=6,
            doctor=False,
            faults=faults,
        )
    assert figures.violations == []
    assert set(faults.happened.values()) == {1}
    assert figures.comparisons == 3
