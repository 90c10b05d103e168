"""`verbose`: the answer of a tool that writes shows the record, within a token budget."""

import json

import pytest

from kgagent.answers.token_budget import estimated_tokens
from kgagent.tools import TOOLS, Toolset
from tests.support.payloads import succeeded
from tests.support.people import two_friends

RECORD, TEXT, PAYLOAD = 10_000, 2_000, 20_100
NOTES = [
    f"Note number {number}: they sailed along the coast and talked about the harbor. "
    + "It rained. " * 30
    for number in range(150)
]
LONG = "A long story. " * 1_400


async def text_of(tools: Toolset, tool: str, /, **arguments: object) -> str:
    answer = await tools[tool].call_text(arguments)
    assert not answer.is_error, answer.text
    return answer.text


def test_every_tool_that_writes_takes_verbose() -> None:
    without = [
        tool.name
        for tool in TOOLS
        if not tool.read_only and "verbose" not in tool.arguments.model_fields
    ]
    assert without == []


async def test_a_write_shows_the_record_only_if_it_is_verbose(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They row", attitude=4, notes=["Met in May."])
    short = await text_of(tools, "update_relationship", **ends, proximity=4)
    assert "They row" not in short
    shown = await text_of(tools, "update_relationship", **ends, proximity=5, verbose=True)
    assert shown.startswith(short.splitlines()[0])
    assert "They row" in shown
    assert "Met in May." in shown


async def test_a_write_whose_record_cannot_be_shown_has_succeeded(
    tools: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> str:
        raise RuntimeError

    monkeypatch.setattr("kgagent.tools.write_results.records_text", broken)
    shown = await text_of(tools, "create_node", label="Concept", name="Sailing", verbose=True)
    assert "Sailing" in shown


async def test_every_write_of_a_node_and_its_notes_can_show_the_node(tools: Toolset) -> None:
    created = await text_of(
        tools, "create_node", label="Concept", name="Sailing", description="At sea", verbose=True
    )
    assert "At sea" in created
    key = created.split("entity_key: ")[1].splitlines()[0]
    calls: dict[str, dict[str, object]] = {
        "update_node": {"entity_key": key, "notes": ["Fun."]},
        "update_note": {"entity_key": key, "note": "Fun", "content": "Great fun."},
        "delete_note": {"entity_key": key, "note": "Great fun."},
        "delete_node": {"entity_key": key},
        "restore": {"entity_key": key},
        "remember": {"notes": [{"on": "Sailing", "content": "Starts in May."}]},
    }
    for tool, arguments in calls.items():
        assert "At sea" in await text_of(tools, tool, **arguments, verbose=True), tool


async def test_the_payload_of_a_verbose_call_has_the_records(tools: Toolset) -> None:
    items = [
        {"label": "Concept", "name": name, "description": f"About {name}"}
        for name in ("Sailing", "Rowing")
    ]
    plain = succeeded(await tools.remember(nodes=items))
    assert "records" not in plain
    shown = succeeded(await tools.remember(nodes=items, verbose=True))
    assert [record["description"] for record in shown["records"]] == [
        "About Sailing",
        "About Rowing",
    ]


async def test_a_record_with_many_notes_is_cut_to_the_budget_and_says_so(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They row")
    for start in range(0, len(NOTES), 50):
        succeeded(await tools.add_note_to_relationship(**ends, notes=NOTES[start : start + 50]))
    payload = succeeded(await tools.add_note_to_relationship(**ends, content="The newest."))
    shown = payload["relationship"]
    assert estimated_tokens(json.dumps(payload)) <= RECORD * 1.1
    assert shown["notes"][-1]["content"] == "The newest."
    assert len(shown["notes"]) + shown["omitted_notes"] == len(NOTES) + 1
    text = await text_of(tools, "update_relationship", **ends, attitude=2, verbose=True)
    assert estimated_tokens(text) <= TEXT * 1.1
    assert "The newest." in text
    assert "of 152 shown; get_relationship reads all" in text


async def test_what_else_an_answer_says_leaves_less_room_for_records(tools: Toolset) -> None:
    first, second = (
        [
            {"label": "Person", "name": f"Sailor {number}", "description": word * 400}
            for number in range(100)
        ]
        for word in ("Rows. ", "Bakes. ")
    )
    created = await tools["remember"].call_text({"nodes": first, "verbose": True})
    new = created.text.splitlines()[1]
    assert all(f"Sailor {number} (Person" in new for number in range(100))
    assert estimated_tokens(created.text) <= estimated_tokens(new) + TEXT / 2
    replaced = succeeded(await tools.remember(nodes=second, verbose=True))
    for payload in (created.payload, replaced):
        assert 0 < len(payload["records"]) < 100
        assert estimated_tokens(json.dumps(payload)) <= PAYLOAD
