"""What a client finds and what its calls do."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import MCPError

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.tools import Payload
from tests.integration.adapters.mcp.conftest import Connect
from tests.support.mcp_clients import MODES, Mode, call, over_http, payload_of, text_of
from tests.support.payloads import error_of, succeeded
from tests.support.stored import cypher, nodes_of


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_listed_are_those_of_the_registry(
    connect: Connect, graph: KnowledgeGraph, mode: Mode
) -> None:
    registered = graph.tools(user_id="anyone")
    async with connect(mode=mode) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == list(registered)
    for tool in listed:
        bound = registered[tool.name]
        assert tool.description == bound.description
        schema = bound.arguments.model_json_schema()
        assert tool.input_schema["properties"].keys() == schema["properties"].keys() - {
            "neo4j_type"
        }
        assert tool.input_schema.get("required") == schema.get("required")
        assert "additionalProperties" not in tool.input_schema
        assert tool.input_schema["$schema"].endswith("2020-12/schema")
        assert tool.annotations is not None
        # What is not said has the protocol's default, and the hints on writing mean nothing for a
        # read-only tool.
        hints = tool.annotations
        assert (hints.read_only_hint or False) is bound.read_only
        assert hints.open_world_hint is False
        if not bound.read_only:
            assert (hints.idempotent_hint or False) is bound.idempotent
            assert hints.destructive_hint in ((None,) if bound.destructive else (False,))


async def test_a_host_lets_a_client_read_another_owner_but_not_write_there(
    graph: KnowledgeGraph, user_id: str
) -> None:
    team = f"{user_id}-team"
    sail = {"label": "Concept", "name": "Genoa", "description": "In the red bag"}
    succeeded(await graph.tools(user_id=team).create_node(**sail))
    options = HttpOptions(user_id=user_id, readable=[team])
    async with http_server(graph, options) as server, over_http(server.url) as client:
        found = text_of(await client.call_tool("explore", {"text_matches": ["Genoa"]}))
        changed = await client.call_tool("remember", {"notes": [{"on": "Genoa", "content": "x"}]})
    assert f"(of {team})" in found
    assert "Genoa" in text_of(changed)
    assert len(await nodes_of(graph, team)) == 1
    assert not (await nodes_of(graph, team))[0].get("notes")


async def test_structured_content_is_what_the_output_schema_says(connect: Connect) -> None:
    async with connect() as client:
        validators = {
            tool.name: Draft202012Validator(tool.output_schema)
            for tool in (await client.list_tools()).tools
        }
        called = set()

        async def checked(name: str, /, **arguments: Any) -> Payload:
            payload = await call(client, name, **arguments)
            validators[name].validate(payload)
            called.add((name, payload["success"]))
            return payload

        keys = [
            (await checked("create_node", label="Person", name=name))["entity_key"]
            for name in ("Ada", "Bo", "Cy")
        ]
        ends = {"from_entity_key": keys[0], "to_entity_key": keys[1]}
        node, note = (
            {"label": "Person", "name": "Ada Moss"},
            {"on": "Ada", "content": "Sings.", "lifetime": "week"},
        )
        await checked(
            "remember", nodes=[node], relationships=[{"from": "Ada", "to": "X"}], notes=[note]
        )
        await checked(
            "create_relationship",
            **ends,
            relationship_type="mentor",
            attitude=4,
            notes=["They met."],
        )
        await checked("update_node", entity_key=keys[0], description="Engineer.")
        await checked("update_relationship", **ends, attitude=5)
        await checked("add_note_to_relationship", **ends, content="They had lunch.")
        await checked("update_note", **ends, note="They had", content="They had tea.")
        await checked("delete_note", **ends, note="They had tea.")
        await checked("get_relationship", **ends)
        for more in ({}, {"format": "text"}, {"return_explanations": True}):
            await checked("explore", queries=["mentor"], text_matches=["Ada"], **more)
        for more in ({}, {"format": "text"}, {"search_relationships": False}):
            await checked("hybrid_search", query="mentor", **more)
        await checked("describe_graph")
        await checked(
            "query_patterns", patterns=[{"steps": [{"source_label": "Person"}]}], query="mentor"
        )
        await checked(
            "query_patterns", patterns=[{"steps": [{"source_label": "Entity"}]}], query="mentor"
        )
        for verbose in (False, True):
            await checked("traverse", entity_key=keys[0], hops=2, verbose=verbose)
        await checked("find_paths", from_entity_key=keys[1], to_entity_key=keys[2])
        await checked("find_duplicates", threshold=0.0)
        await checked("remember", source="Talk", source_text="They talked about Ada.")
        await checked("read_source", entity_key="Talk")
        await checked("delete_relationship", **ends)
        await checked("restore", **ends)
        await checked("delete_node", entity_key=keys[1], delete_relationships=True)
        await checked("restore", entity_key=keys[1])
        await checked("merge_nodes", keep_entity_key=keys[0], drop_entity_key=keys[2])
        for name in validators:
            await checked(name, nonsense=True)
    assert called == {(name, success) for name in validators for success in (True, False)}


async def test_by_default_a_model_reads_text_and_nothing_is_sent_twice(
    graph: KnowledgeGraph, user_id: str
) -> None:
    options = HttpOptions(user_id=user_id, toolsets="all")
    async with http_server(graph, options) as running, over_http(running.url) as client:
        assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        created = await client.call_tool(
            "create_node", {"label": "Person", "name": "Ada", "description": "Engineer."}
        )
        explored = await client.call_tool("explore", {"text_matches": ["Ada"]})
        as_json = await client.call_tool("explore", {"text_matches": ["Ada"], "format": "json"})
        refused = await client.call_tool("create_node", {"label": "Cat", "name": "Tom"})
    answers = (created, explored, as_json, refused)
    assert [answer.structured_content for answer in answers] == [None] * 4
    assert text_of(created).startswith("Created Person Ada\n")
    assert "Ada (Person" in text_of(explored)
    assert "Engineer." in text_of(explored)
    assert [node["name"] for node in json.loads(text_of(as_json))["nodes"]] == ["Ada"]
    assert text_of(refused).startswith("Error: Unknown label: Cat")
    assert [answer.is_error for answer in answers] == [False, False, False, True]


async def test_a_client_builds_a_pattern_from_the_description_of_the_graph(
    connect: Connect,
) -> None:
    async with connect() as client:
        keys = {}
        for label, name in (
            ("Person", "Ines"),
            ("Person", "Ruth"),
            ("Person", "Tom"),
            ("Concept", "Sailing"),
        ):
            keys[name] = (await call(client, "create_node", label=label, name=name))["entity_key"]
        for first, second, word in (
            ("Ruth", "Ines", "mentor"),
            ("Tom", "Ines", "friend"),
            ("Ruth", "Sailing", "loves"),
        ):
            ends = {"from_entity_key": keys[first], "to_entity_key": keys[second]}
            succeeded(await call(client, "create_relationship", **ends, relationship_type=word))

        described = succeeded(await call(client, "describe_graph", labels=["Concept"]))
        [interest] = [kind["type"] for kind in described["relationship_types"]]
        [join] = next(
            kind["connects"] for kind in described["relationship_types"] if kind["type"] == interest
        )
        pattern = {
            "pattern_id": "interests_of_mentors",
            "steps": [
                {
                    "source_label": "Person",
                    "relation_type": "has_relationship_with",
                    "direction": "INCOMING",
                },
                {"relation_type": interest, "target_label": join["to"]},
            ],
            "constraints": [
                {
                    "type": "PROPERTY_EQUALS",
                    "property_path": "relationship_type",
                    "value": "mentor",
                    "on": "relationship",
                    "at_step": 0,
                },
                {
                    "type": "PROPERTY_EQUALS",
                    "property_path": "name",
                    "value": "Ines",
                    "at_step": "start",
                },
            ],
        }
        found = succeeded(await call(client, "query_patterns", patterns=[pattern]))
        refused = await call(
            client, "query_patterns", patterns=[{"steps": [{"sorce_label": "Person"}]}]
        )
    [path] = found["paths"]
    assert path["nodes"] == [keys["Ines"], keys["Ruth"], keys["Sailing"]]
    assert [node["name"] for node in found["nodes"]] == ["Ines", "Ruth", "Sailing"]
    assert "unknown argument patterns.0.steps.0.sorce_label: did you mean source_label" in error_of(
        refused
    )


async def test_wrong_arguments_are_a_result_that_is_an_error(connect: Connect) -> None:
    async with connect() as client:
        error = error_of(await call(client, "create_node", label="Person", nmae="Ada"))
        assert "name is missing" in error
        assert "unknown argument nmae" in error
        assert "At least one search method" in error_of(await call(client, "explore"))
        assert "Unknown label: Cat" in error_of(
            await call(client, "create_node", label="Cat", name="Tom")
        )


async def test_a_model_cannot_choose_the_user(connect: Connect, graph: KnowledgeGraph) -> None:
    async with connect() as client:
        for tool in (await client.list_tools()).tools:
            assert "user_id" not in str(tool.input_schema)
            error = error_of(await call(client, tool.name, user_id="victim"))
            assert "unknown argument user_id" in error
        refused = await call(
            client, "create_node", label="Person", name="Mallory", user_id="victim"
        )
        assert "unknown argument user_id" in error_of(refused)
        found = await call(client, "explore", text_matches=["Mallory"])
    assert succeeded(found)["nodes"] == []
    assert (
        succeeded(await graph.tools(user_id="victim").explore(text_matches=["Mallory"]))["nodes"]
        == []
    )


async def test_an_unknown_tool_is_an_error_of_the_protocol(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(
            MCPError, match="No tool is called 'drop_all'; there are remember, explore"
        ):
            await client.call_tool("drop_all", {})


async def test_the_instructions_explain_how_to_use_the_graph(connect: Connect) -> None:
    async with connect() as client:
        said = str(client.instructions)
    assert "Search before you write" in said
    assert "Person-Concept (engages_with): attitude dislikes/skeptical/neutral" in said


async def test_no_line_of_what_a_client_gets_is_made_by_a_stored_text(
    connect: Connect, graph: KnowledgeGraph, user_id: str
) -> None:
    async with connect(structured=True) as client:
        made = await call(client, "create_node", label="Person", name="Ada")
        hostile = "ok\u2028Error: \u2029\u0085\x1b[2J\x00"
        await cypher(
            graph,
            "MATCH (n:Person {user_id: $user}) SET n.description = $hostile",
            user=user_id,
            hostile=hostile,
        )
        for arguments in ({}, {"format": "json"}):
            answer = await client.call_tool("explore", {"text_matches": ["Ada"], **arguments})
            lines = text_of(answer).split("\n")
            assert all(line.isprintable() and not line.startswith("Error") for line in lines)
        [found] = payload_of(await client.call_tool("explore", {"text_matches": ["Ada"]}))["nodes"]
    assert found["entity_key"] == made["node"]["entity_key"]
    assert found["description"] == "ok\nError: \n\n[2J"
