"""The sample graph, written through remember, is the graph that loading its file makes."""

import json
from typing import Any

from kgagent import KnowledgeGraph
from kgagent.cli.demo.sample import sample_file
from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.stored import nodes_of, note_contents, relationships_of

NODES_IN_A_CALL = 100
RELATIONSHIPS_IN_A_CALL = 200


async def graph_of(graph: KnowledgeGraph, user_id: str) -> tuple[set[Any], set[Any]]:
    """What a user's graph says, with names in place of keys."""
    nodes = await nodes_of(graph, user_id)
    names = {node["entity_key"]: node["name"] for node in nodes}
    said = {
        (node["name"], node["description"], node.get("is_owner"), *(note_contents(node) if "notes" in node else ()))
        for node in nodes
    }
    return said, {
        (
            names[one["first"]],
            one["neo4j_type"],
            names[one["second"]],
            one.get("is_reversed"),
            *(one[field] for field in ("relationship_type", "description", "attitude", "proximity")),
            *(note_contents(one) if "notes" in one else ()),
            one["embedding_hash"],
        )
        for one in await relationships_of(graph, user_id)
    }


async def test_the_sample_graph_is_remembered_in_two_calls(tools: Toolset, graph: KnowledgeGraph, user_id: str) -> None:
    loaded = f"{user_id}-loaded"
    with sample_file() as file:
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        await graph.load(file, user_id=loaded)
    names = {line["id"]: line["name"] for line in lines if line["kind"] == "node"}
    nodes = [
        {
            **{field: line[field] for field in ("label", "name", "description", "notes") if field in line},
            "is_owner": "is_owner" in line.get("properties", {}),
        }
        for line in lines
        if line["kind"] == "node"
    ]
    relationships = [
        {**line, "from": names[line["from"]], "to": names[line["to"]]} for line in lines if line["kind"] != "node"
    ]
    for relationship in relationships:
        del relationship["kind"]
    calls = [
        {"nodes": nodes[:NODES_IN_A_CALL]},
        {"nodes": nodes[NODES_IN_A_CALL:], "relationships": relationships[:RELATIONSHIPS_IN_A_CALL]},
    ]
    for call in calls:
        payload = succeeded(await tools.remember(**call))
        assert payload["failures"] == []
    assert await graph_of(graph, user_id) == await graph_of(graph, loaded)
    again = [succeeded(await tools.remember(**call))["message"] for call in calls]
    assert again == ["Nodes: 100 unchanged", f"Nodes: 8 unchanged. Relationships: {len(relationships)} unchanged"]
