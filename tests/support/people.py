"""Creates small graphs with the tools."""

from typing import Any

from kgagent.tools import Payload, Toolset
from tests.support.payloads import succeeded


async def node(tools: Toolset, label: str, name: str, description: str = "", **more: object) -> str:
    """Create a node and give its key."""
    payload = succeeded(await tools.create_node(label=label, name=name, description=description, **more))
    return str(payload["entity_key"])


async def person(tools: Toolset, name: str, description: str = "", **more: object) -> str:
    """Create a person and give the key."""
    return await node(tools, "Person", name, description, **more)


async def relate(tools: Toolset, first: str, second: str, relationship_type: str = "friend", **more: Any) -> Payload:
    """Create a relationship and give the answer."""
    return succeeded(
        await tools.create_relationship(
            from_entity_key=first, to_entity_key=second, relationship_type=relationship_type, **more
        )
    )


async def two_friends(tools: Toolset, **more: Any) -> dict[str, str]:
    """Two people, one relationship; gives its ends as arguments of a tool."""
    first, second = await person(tools, "Ada"), await person(tools, "Bo")
    await relate(tools, first, second, **more)
    return {"from_entity_key": first, "to_entity_key": second}
