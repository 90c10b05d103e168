"""The exact statements that one call of each writing tool sends: a statement too many is a failing
test.
"""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.observability import Recorder
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.graphs import watched_graph
from tests.support.payloads import succeeded
from tests.support.people import relate, remembered

RESOLVE = "resolve_references"
READ_NODES, READ_PAIRS = "read_nodes", "read_pairs"
WRITE = "write_records"
SPORT = "Travelling by boat."


class Watched:
    """The tools of a user, and what they sent since the last call of `sent`."""

    def __init__(self, tools: Toolset, recorder: Recorder) -> None:
        self._tools = tools
        self._recorder = recorder

    async def sent(self, tool: str, **arguments: Any) -> tuple[list[str], int]:
        """The statements and the number of embedding requests of a call that succeeds."""
        self._recorder.clear()
        succeeded(await self._tools[tool](**arguments))
        return [statement.name for statement in self._recorder.statements], len(
            self._recorder.embeddings
        )


@pytest.fixture
async def watched(
    opened: KnowledgeGraph, embedder: Embedder, clock: Clock, user_id: str
) -> Watched:
    recorder = Recorder()
    graph = watched_graph(opened, embedder, recorder, clock)
    return Watched(graph.tools(user_id=user_id), recorder)


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """The owner Ines, Ruth, who is her mentor, Tom, and sailing."""
    mentor = {"relationship_type": "mentor of", "notes": ["They met in May."]}
    people = [{"label": "Person", "name": name} for name in ("Ruth Calder", "Tom")]
    sailing = {"label": "Concept", "name": "Sailing", "description": SPORT}
    made = await remembered(
        tools,
        [{"label": "Person", "name": "Ines", "is_owner": True}, *people, sailing],
        [{"from": "Ruth Calder", "to": "Ines", **mentor}],
    )
    return {name.split()[0]: key for name, key in made.items()}


async def test_remember_creates_and_updates_with_four_statements_and_one_embedding_request(
    watched: Watched, keys: dict[str, str]
) -> None:
    assert keys
    new = [
        {"label": "Person", "name": "Anna Berg", "aliases": ["Annie"]},
        {"label": "Concept", "name": "Chess"},
    ]
    old = [{"label": "Person", "name": "Ruth Calder", "description": "Naval architect."}]
    relationships = [
        {"from": "Annie", "to": "Chess", "relationship_type": "plays", "notes": ["Since 2010."]},
        {"from": "Ruth Calder", "to": "me", "relationship_type": "friend of", "attitude": 5},
        {"from": "Ruth Calder", "to": "Anna Berg", "relationship_type": "neighbor of"},
    ]
    notes = [
        {"on": "Sailing", "content": "Starts in May."},
        {"on": "Sailing", "content": "Ends in October."},
        {"on": ["me", "Ruth Calder"], "content": "They sail."},
        {
            "on": ["Ruth Calder", "me"],
            "content": "They met in June.",
            "replaces": "They met in May",
        },
    ]
    sent = await watched.sent(
        "remember", nodes=[*new, *old], relationships=relationships, notes=notes
    )
    assert sent == ([RESOLVE, READ_NODES, READ_PAIRS, WRITE], 1)


async def test_a_large_call_of_remember_with_new_nodes_alone_takes_two_statements(
    watched: Watched, keys: dict[str, str]
) -> None:
    assert keys
    names = [f"Neighbor {number}" for number in range(100)]
    ties = [{"from": name, "to": "me", "relationship_type": "neighbor of"} for name in names]
    likes = [{"from": name, "to": "Sailing", "relationship_type": "likes"} for name in names]
    notes = [{"on": name, "content": f"Note {number}."} for name in names for number in range(2)]
    nodes = [{"label": "Person", "name": name} for name in names]
    sent = await watched.sent("remember", nodes=nodes, relationships=[*ties, *likes], notes=notes)
    assert sent == ([RESOLVE, WRITE], 1)
    # Now all exist.
    changes = [{**tie, "attitude": 4} for tie in ties] + [{**like, "attitude": 4} for like in likes]
    nodes = [{**one, "description": "Next door."} for one in nodes]
    sent = await watched.sent("remember", nodes=nodes, relationships=changes, notes=notes)
    assert sent == ([RESOLVE, READ_NODES, READ_PAIRS, WRITE], 1)


async def test_unknown_references_cost_remember_two_more_statements(
    watched: Watched, keys: dict[str, str]
) -> None:
    assert keys
    notes = [{"on": "Ruth", "content": "Sails."}, {"on": "Nobody", "content": "Sings."}]
    relationships = [{"from": "Calder", "to": "Nowhere", "relationship_type": "lives in"}]
    nodes = [
        {"entity_key": "Tom", "description": "Baker."},
        {"entity_key": "Nemo", "description": "Captain."},
    ]
    sent = await watched.sent("remember", nodes=nodes, relationships=relationships, notes=notes)
    assert sent == ([RESOLVE, "find_loose_names", "find_similar_names", READ_NODES, WRITE], 1)


async def test_quotes_cost_one_more_statement(watched: Watched, keys: dict[str, str]) -> None:
    assert keys
    said = {"source": "Log of the boat", "source_text": "Ruth: We left at six. Ines: At seven."}
    await watched.sent("remember", **said)
    notes = [
        {"on": "Sailing", "content": "They left early.", "quote": "we left at six"},
        {"on": ["me", "Ruth Calder"], "content": "They left late.", "quote": "at eight"},
    ]
    sent = await watched.sent("remember", notes=notes, source="Log of the boat")
    assert sent == ([RESOLVE, READ_NODES, READ_PAIRS, READ_NODES, WRITE], 1)


async def test_remember_without_changes_writes_nothing(
    watched: Watched, keys: dict[str, str]
) -> None:
    assert keys
    same = {"label": "Concept", "name": "Sailing", "description": SPORT}
    mentor = {"from": "Ruth Calder", "to": "me", "relationship_type": "mentor of"}
    assert await watched.sent("remember", nodes=[same], relationships=[mentor]) == (
        [RESOLVE, READ_NODES, READ_PAIRS],
        0,
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "statements", "embeddings"),
    [
        ("create_relationship", {"relationship_type": "friend"}, [READ_PAIRS, WRITE], 1),
        ("update_relationship", {"description": "She taught Ines."}, [READ_PAIRS, WRITE], 1),
        ("update_relationship", {"salience": 0.9}, [READ_PAIRS, WRITE], 0),
        ("add_note_to_relationship", {"content": "They sail."}, [READ_PAIRS, WRITE], 1),
        ("update_note", {"note": "They met", "content": "Met in June."}, [READ_PAIRS, WRITE], 1),
        ("delete_note", {"note": "They met"}, [READ_PAIRS, WRITE], 1),
        ("delete_relationship", {}, [READ_PAIRS, "write_as_whole"], 0),
    ],
)
async def test_tools_for_a_relationship_take_one_more_statement_by_name_than_by_key(
    watched: Watched,
    keys: dict[str, str],
    user_id: str,
    opened: KnowledgeGraph,
    tool: str,
    arguments: dict[str, Any],
    statements: list[str],
    embeddings: int,
) -> None:
    second, name = ("Tom", "Tom") if tool == "create_relationship" else ("Ines", "me")
    by_key = {"from_entity_key": keys["Ruth"], "to_entity_key": keys[second]}
    assert await watched.sent(tool, **by_key, **arguments) == (statements, embeddings)
    # The same call again, on a relationship as it was before.
    plain = opened.tools(user_id=user_id)
    await plain.delete_relationship(**by_key)
    if tool != "create_relationship":
        await relate(plain, keys["Ruth"], keys[second], "mentor of", notes=["They met in May."])
    by_name = {"from_entity_key": "ruth calder", "to_entity_key": name}
    assert await watched.sent(tool, **by_name, **arguments) == ([RESOLVE, *statements], embeddings)


async def test_tools_for_a_node(watched: Watched, keys: dict[str, str]) -> None:
    written = [READ_NODES, WRITE]
    assert await watched.sent("create_node", label="Person", name="Anna Berg") == ([WRITE], 1)
    assert await watched.sent("create_node", label="Concept", name="Chess") == ([RESOLVE, WRITE], 1)
    assert await watched.sent("update_node", entity_key=keys["Tom"], notes=["Sings."]) == (
        written,
        1,
    )
    assert await watched.sent("update_node", entity_key="Tom", aliases=["Tommy"]) == (
        [RESOLVE, *written],
        0,
    )
    deletion = [RESOLVE, READ_NODES, "read_relationships_of_node", "write_as_whole"]
    assert await watched.sent(
        "delete_node", entity_key="Ruth Calder", delete_relationships=True
    ) == (deletion, 0)


async def test_a_type_with_one_value_takes_one_more_statement_unless_its_node_is_new(
    watched: Watched, keys: dict[str, str]
) -> None:
    assert keys
    oslo, bergen = ({"label": "Entity", "name": name} for name in ("Oslo", "Bergen"))
    lives = {"from": "Tom", "to": "Oslo", "relationship_type": "lives in"}
    sent = await watched.sent("remember", nodes=[oslo], relationships=[lives])
    assert sent == ([RESOLVE, "read_single_values", WRITE], 1)
    # The time of what ends is in no text.
    moves = {**lives, "to": "Bergen", "when": "2025/.."}
    sent = await watched.sent("remember", nodes=[bergen], relationships=[moves])
    assert sent == ([RESOLVE, "read_single_values", WRITE], 1)
    back = {**moves, "to": "Oslo", "when": "2026/..", "ends": ["lives in Bergen"]}
    sent = await watched.sent("remember", relationships=[back])
    read = [READ_PAIRS, "read_single_values", "read_named_relationships"]
    assert sent == ([RESOLVE, *read, WRITE], 0)
    new = {"label": "Person", "name": "Una"}
    sent = await watched.sent("remember", nodes=[new], relationships=[{**lives, "from": "Una"}])
    assert sent == ([RESOLVE, WRITE], 1)
