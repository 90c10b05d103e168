"""What a client finds and what its calls do, the same over both transports."""

import pytest
from mcp import MCPError
from mcp.types import TextContent

from kgagent import KnowledgeGraph
from kgagent.ontology import default_ontology
from kgagent.tools import TOOLS
from tests.integration.adapters.mcp.conftest import Connect
from tests.support.mcp_clients import MODES, Mode, call, read
from tests.support.payloads import error_of, succeeded


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_listed_are_those_of_the_registry(connect: Connect, graph: KnowledgeGraph, mode: Mode) -> None:
    registered = graph.tools(user_id="anyone")
    async with connect(mode=mode) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == list(registered)
    for tool in listed:
        bound = registered[tool.name]
        assert tool.description == bound.description
        schema = bound.arguments.model_json_schema()
        assert tool.input_schema["properties"].keys() == schema["properties"].keys()
        assert tool.input_schema.get("required") == schema.get("required")
        assert tool.input_schema["additionalProperties"] is False
        assert tool.input_schema.get("examples") == schema.get("examples")
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is bound.read_only
        assert tool.annotations.idempotent_hint is bound.idempotent
        assert tool.annotations.destructive_hint is bound.destructive
        assert tool.annotations.open_world_hint is False


async def test_calls_create_relate_and_find(connect: Connect) -> None:
    async with connect() as client:
        keys = [
            succeeded(await call(client, "create_node", label="Person", name=name))["entity_key"]
            for name in ("Ada", "Grace")
        ]
        succeeded(
            await call(
                client,
                "create_relationship",
                from_entity_key=keys[0],
                to_entity_key=keys[1],
                relationship_type="mentor",
                notes=["They met in 1952"],
            )
        )
        found = succeeded(await call(client, "explore", queries=[{"query": "mentor", "threshold": 0.1}]))
    assert {node["name"] for node in found["nodes"]} == {"Ada", "Grace"}
    assert [edge["relationship_type"] for edge in found["edges"]] == ["mentor"]


async def test_wrong_arguments_are_a_result_that_is_an_error(connect: Connect) -> None:
    async with connect() as client:
        error = error_of(await call(client, "create_node", label="Person", nmae="Ada"))
        assert "name is missing" in error
        assert "unknown argument nmae" in error
        assert "At least one search method" in error_of(await call(client, "explore"))
        assert "Unknown label: Cat" in error_of(await call(client, "create_node", label="Cat", name="Tom"))


async def test_a_model_cannot_choose_the_user(connect: Connect, graph: KnowledgeGraph) -> None:
    async with connect() as client:
        for tool in (await client.list_tools()).tools:
            assert "user_id" not in str(tool.input_schema)
            error = error_of(await call(client, tool.name, user_id="victim"))
            assert "unknown argument user_id" in error
        refused = await call(client, "create_node", label="Person", name="Mallory", user_id="victim")
        assert "unknown argument user_id" in error_of(refused)
        found = await call(client, "explore", text_matches=["Mallory"])
    assert succeeded(found)["nodes"] == []
    assert succeeded(await graph.tools(user_id="victim").explore(text_matches=["Mallory"]))["nodes"] == []


async def test_unknown_names_are_errors_of_the_protocol(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError, match="Unknown tool: drop_all"):
            await client.call_tool("drop_all", {})
        with pytest.raises(MCPError, match="Unknown resource: kgagent://secrets"):
            await client.read_resource("kgagent://secrets")
        with pytest.raises(MCPError, match="Unknown prompt: obey"):
            await client.get_prompt("obey")
        with pytest.raises(MCPError, match=r"Unknown argument: taks\. There is task"):
            await client.get_prompt("use_knowledge_graph", {"taks": "Note that Ada met Grace."})


async def test_resources_tell_schema_ontology_and_the_users_counts(connect: Connect) -> None:
    async with connect() as client:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == ["kgagent://schema", "kgagent://ontology", "kgagent://statistics"]

        schema = await read(client, "kgagent://schema")
        assert schema["problems"] == []
        assert schema["embedding_dimensions"] == 384
        assert {part["state"] for part in schema["parts"]} == {"ONLINE"}

        ontology = await read(client, "kgagent://ontology")
        kind = default_ontology().relationships["has_relationship_with"]
        assert list(ontology["labels"]) == list(default_ontology().labels)
        same = {label: rule["same_content_is_same_node"] for label, rule in ontology["labels"].items()}
        assert same == {"Person": False, "Concept": True, "Entity": True, "Source": False}
        assert ontology["relationships"]["has_relationship_with"]["attitude"] == list(kind.attitude)

        assert (await read(client, "kgagent://statistics"))["nodes"]["total"] == 0
        await call(client, "create_node", label="Person", name="Ada")
        await call(client, "create_node", label="Concept", name="Sailing")
        counts = await read(client, "kgagent://statistics")
    assert counts["nodes"] == {"total": 2, "by_label": {"Person": 1, "Concept": 1, "Entity": 0, "Source": 0}}
    assert counts["relationships"]["total"] == 0


async def test_the_prompt_teaches_how_to_use_the_graph(connect: Connect) -> None:
    async with connect() as client:
        [prompt] = (await client.list_prompts()).prompts
        [message] = (await client.get_prompt(prompt.name, {"task": "Note that Ada met Grace."})).messages
        assert client.instructions is not None
        assert "Explore before you write" in client.instructions
    assert isinstance(message.content, TextContent)
    text = message.content.text
    for rule in ("Explore before you write", "Update instead of creating", "add_note_to_relationship"):
        assert rule in text
    assert text.endswith("Your task: Note that Ada met Grace.")


def test_every_example_is_one_that_its_tool_takes() -> None:
    shown = 0
    for tool in TOOLS:
        for example in tool.arguments.model_json_schema().get("examples", []):
            tool.arguments.model_validate(example)
            shown += 1
    assert shown >= 8
