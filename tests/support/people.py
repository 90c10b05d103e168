"""Creates small graphs with the tools, or with one load."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from kgagent import KnowledgeGraph
from kgagent.tools import Payload, Toolset
from tests.support.payloads import succeeded
from tests.support.stored import cypher


async def node(tools: Toolset, label: str, name: str, description: str = "", **more: object) -> str:
    """Create a node and give its key."""
    payload = succeeded(
        await tools.create_node(label=label, name=name, description=description, **more)
    )
    return str(payload["entity_key"])


async def person(tools: Toolset, name: str, description: str = "", **more: object) -> str:
    """Create a person and give the key."""
    return await node(tools, "Person", name, description, **more)


async def relate(
    tools: Toolset, first: str, second: str, relationship_type: str = "friend", **more: Any
) -> Payload:
    """Create a relationship and give the answer."""
    return succeeded(
        await tools.create_relationship(
            from_entity_key=first, to_entity_key=second, relationship_type=relationship_type, **more
        )
    )


async def two_friends(tools: Toolset, **more: Any) -> dict[str, str]:
    """Two people, one relationship; gives its ends as arguments of a tool."""
    first, second = await persons(tools, "Ada", "Bo")
    await relate(tools, first, second, **more)
    return {"from_entity_key": first, "to_entity_key": second}


async def create_all(
    graph: KnowledgeGraph,
    user_id: str,
    nodes: Iterable[Mapping[str, object]],
    relationships: Iterable[Mapping[str, object]] = (),
) -> dict[str, str]:
    """Create nodes of different names, and relationships between these names; gives the keys of the
    nodes by name.

    Loading all of them takes a third of the CPU of a call of a tool for each: with every
    transaction the server refreshes its indexes.

    Args:
        graph: where to.
        user_id: a user whose graph is empty.
        nodes: label, name and what else a line of a file may have.
        relationships: `from`, `to`, `relationship_type` and so on.
    """
    lines = [
        {"kind": "node", "id": node["name"], **_own_key(graph, node), **node} for node in nodes
    ]
    lines += [{"kind": "relationship", **relationship} for relationship in relationships]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lines.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        report = await graph.load(path, user_id=user_id)
    assert not report.problems, report
    rows = await cypher(
        graph,
        "MATCH (n:Person|Concept|Entity|Source {user_id: $user}) RETURN n.name AS name, "
        "n.entity_key AS key",
        user=user_id,
    )
    return {row["name"]: row["key"] for row in rows}


def _own_key(graph: KnowledgeGraph, node: Mapping[str, object]) -> dict[str, str]:
    """A random key, unless the label derives it from the content."""
    return (
        {}
        if graph.ontology.label(str(node["label"])).is_deterministic
        else {"entity_key": str(uuid4())}
    )


async def persons(tools: Toolset, *names: str) -> list[str]:
    """Create people with one call, and give their keys."""
    nodes = [{"label": "Person", "name": name, "new": True} for name in names]
    return [
        created["entity_key"]
        for created in succeeded(await tools.remember(nodes=nodes))["created_nodes"]
    ]


async def remembered(
    tools: Toolset,
    nodes: Iterable[Mapping[str, object]],
    relationships: Iterable[Mapping[str, object]] = (),
) -> dict[str, str]:
    """Create nodes of different names and their relationships with one call; gives the keys by
    name.
    """
    payload = succeeded(await tools.remember(nodes=[*nodes], relationships=[*relationships]))
    assert not payload.get("failures"), payload
    return {created["name"]: created["entity_key"] for created in payload["created_nodes"]}
