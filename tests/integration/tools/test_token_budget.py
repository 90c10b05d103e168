"""Answers of the tools that read, within their token budget, at a hub with many relationships and
notes.
"""

import json
from typing import Any
from uuid import uuid4

import pytest

from kgagent import KnowledgeGraph
from kgagent.answers.token_budget import estimated_tokens
from kgagent.tools import Toolset
from tests.support.drawn import Drawing
from tests.support.payloads import error_of, succeeded
from tests.support.people import remembered
from tests.support.stored import Database, cypher

NEIGHBORS = 500
READERS: dict[str, dict[str, Any]] = {
    "explore": {"text_matches": ["hub"], "queries": [{"query": "mentor", "threshold": -1}]},
    "hybrid_search": {"query": "hub mentor", "threshold": -1, "limit": 100},
    "traverse": {"entity_key": "hub"},
    "find_paths": {"from_entity_key": "n0001", "to_entity_key": "n0002"},
    "get_relationship": {"from_entity_key": "n0001", "to_entity_key": "hub"},
    "query_patterns": {"patterns": [{"steps": [{"source_label": "Person"}]}]},
    "describe_graph": {},
}

NO_PATH = {
    "query": "who sails with a mentor?",
    "patterns": [{"steps": [{"relation_type": "engages_with", "target_label": "Concept"}]}],
}
"""A pattern that nothing matches, so that the answer is that of a hybrid search."""


@pytest.fixture(scope="module")
def hub_user() -> str:
    """The user of `hub`."""
    return f"user-{uuid4()}"


@pytest.fixture(scope="module")
async def hub(opened: KnowledgeGraph, hub_user: str) -> Drawing:
    """A node with 500 relationships, each with a long description and many notes, for tests that
    only read.
    """
    drawing = Drawing(opened, hub_user)
    names = [f"n{number:04}" for number in range(NEIGHBORS)]
    await drawing.nodes("hub", *names)
    await drawing.joins(("hub", name) for name in names)
    await cypher(
        opened,
        "MATCH (:Person {user_id: $user})-[r]->(n) SET r.description = $said, n.description = "
        "$said, r.notes = $notes, "
        "r.relationship_type = 'mentor', "
        "r.created_at = datetime({year: 2000 + toInteger(right(n.name, 2)), month: 5, day: 1})",
        user=hub_user,
        said="They sail every summer. " * 100,
        notes=json.dumps(
            [{"content": f"Summer {year}: sailed to Bergen"} for year in range(1, 200)]
        ),
    )
    return drawing


@pytest.fixture
def hub_tools(graph: KnowledgeGraph, hub: Drawing) -> Toolset:
    """The tools of its user."""
    return graph.tools(user_id=hub.user_id)


def arguments_of(tool: str, drawing: Drawing) -> dict[str, Any]:
    keys = {"entity_key", "from_entity_key", "to_entity_key"}
    return {
        name: drawing.key(value) if name in keys else value for name, value in READERS[tool].items()
    }


async def test_no_answer_exceeds_its_budget(hub_tools: Toolset, hub: Drawing) -> None:
    for name, arguments in [
        *((name, arguments_of(name, hub)) for name in READERS),
        ("query_patterns", NO_PATH),
    ]:
        for budget in (100, 500, 2_000, 20_000):
            given = arguments | {"token_budget": budget}
            text = await hub_tools[name].call_text(given)
            assert not text.is_error, (name, text.text)
            assert 0 < estimated_tokens(text.text) <= budget, (name, budget)
            as_json = await hub_tools[name].call_text(given | {"format": "json"})
            assert as_json.payload["success"] or (
                budget < 2_000 and "is too small" in as_json.text
            ), (
                name,
                as_json.text,
            )
            assert estimated_tokens(as_json.text) <= budget, (name, budget, as_json.text[:2_000])


async def test_the_relationships_of_a_hub_are_listed_to_the_end_by_date(
    hub_tools: Toolset, hub: Drawing
) -> None:
    given: dict[str, Any] = {"entity_key": hub.key("hub"), "sort": "date", "token_budget": 20_000}
    lines: list[str] = []
    cursor = None
    while cursor is not None or not lines:
        answer = await hub_tools["traverse"].call_text(given | {"cursor": cursor})
        *listed, last = answer.text.splitlines()
        cursor = answer.payload.get("next_cursor")
        lines += listed if cursor else [*listed, last]
        assert answer.payload["total"] == NEIGHBORS
        assert cursor is None or last.endswith(f'of 500 shown; continue with cursor "{cursor}"')
    assert len(lines) == len({line.partition("-> ")[2] for line in lines}) == NEIGHBORS
    assert [line[:10] for line in lines] == sorted((line[:10] for line in lines), reverse=True)
    assert lines[0].startswith("2099-05-01 ")


async def all_notes(tools: Toolset, given: dict[str, Any]) -> list[str]:
    """The notes on all pages of an answer of get_relationship."""
    answer = succeeded(await tools.get_relationship(**given))
    notes = [note["content"] for note in (answer.get("relationship") or answer["node"])["notes"]]
    cursor = answer.get("next_cursor")
    return [*notes, *(await all_notes(tools, given | {"cursor": cursor}) if cursor else ())]


async def test_every_note_of_a_relationship_can_be_read(hub_tools: Toolset, hub: Drawing) -> None:
    read = await all_notes(hub_tools, arguments_of("get_relationship", hub))
    assert read == [f"Summer {year}: sailed to Bergen" for year in range(1, 200)]


async def test_every_note_of_a_node_can_be_read_with_the_call_that_an_answer_names(
    tools: Toolset, database: Database
) -> None:
    await remembered(tools, [{"label": "Person", "name": "Ada", "description": "Keeps bees"}])
    notes = [
        {"content": f"Hive {day}", "when": f"2026-{1 + day // 28:02}-{1 + day % 28:02}"}
        for day in range(60)
    ]
    await database.run(
        "MATCH (n:Person {user_id: $user}) SET n.notes = $notes", notes=json.dumps(notes[::-1])
    )
    found = (await tools["explore"].call_text({"text_matches": ["Ada"], "token_budget": 500})).text
    assert found.count("notes: get_relationship of it alone") == 1
    given = {"from_entity_key": "Ada", "token_budget": 500}
    head, first, *_ = (await tools["get_relationship"].call_text(given)).text.splitlines()
    assert head.endswith("): Keeps bees")
    assert first == "- Note: Hive 0 (2026-01-01)"
    assert await all_notes(tools, given | {"format": "json"}) == [note["content"] for note in notes]


async def test_notes_of_a_node_that_is_named_exactly_are_shown_as_far_as_the_budget_allows(
    tools: Toolset,
) -> None:
    notes = [f"Saw the {n}. heron" for n in range(1, 9)]
    names = {"Clara Vogt": "Ranger", "Clara Vogtmann": "Baker"}
    await remembered(
        tools,
        [
            {"label": "Person", "name": name, "description": work, "notes": notes}
            for name, work in names.items()
        ],
    )
    named, similar = (
        await tools["explore"].call_text({"text_matches": ["clara vogt"]})
    ).text.splitlines()
    assert all(note in named for note in notes)
    assert similar.endswith("+6 notes: get_relationship of it alone")


async def test_a_long_note_of_a_node_or_relationship_is_shown_or_says_how_to_see_the_rest(
    tools: Toolset,
) -> None:
    long = "heron " * 2_000
    nodes: list[dict[str, Any]] = [
        {"label": "Person", "name": "Ada", "notes": [long]},
        {"label": "Person", "name": "Bo"},
    ]
    friend = {"from": "Ada", "to": "Bo", "relationship_type": "friend", "notes": [long]}
    await remembered(tools, nodes, [friend])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("explore", {"text_matches": ["Ada"], "labels": ["Person"]}),
        ("get_relationship", {"from_entity_key": "Ada", "to_entity_key": "Bo"}),
        ("traverse", {"entity_key": "Bo", "verbose": True}),
    ]
    for name, given in calls:
        for budget in (100, 2_000, 20_000):
            text = (await tools[name].call_text(given | {"token_budget": budget})).text
            assert estimated_tokens(text) <= budget
            if budget == 20_000:
                assert long.strip() in text, name
            elif budget == 2_000:
                assert text.count("heron") > 600, name
                assert "characters: raise token_budget)" in text, name


async def test_a_cursor_of_other_arguments_is_refused(hub_tools: Toolset, hub: Drawing) -> None:
    first = succeeded(await hub_tools.traverse(entity_key=hub.key("hub")))
    error = error_of(
        await hub_tools.traverse(
            entity_key=hub.key("hub"), direction="outgoing", cursor=first["next_cursor"]
        )
    )
    assert error.startswith("cursor '")
    assert "does not belong to these arguments" in error
    other = succeeded(
        await hub_tools.traverse(
            entity_key=hub.key("hub"), cursor=first["next_cursor"], token_budget=500
        )
    )
    shown = {node["name"] for node in first["nodes"]}
    assert shown.isdisjoint(node["name"] for node in other["nodes"])
