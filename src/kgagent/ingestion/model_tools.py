"""The tools that the chat model is offered while it reads a source."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgagent.adapters.json_schema import Schema, arguments_schema, described_schema, map_parts
from kgagent.errors import ConfigurationError
from kgagent.tools import BoundTool, Payload
from kgagent.tools.payload import failure

READ_TOOLS = ("explore", "hybrid_search", "get_relationship")
WRITE_TOOLS = (
    "create_node",
    "update_node",
    "create_relationship",
    "update_relationship",
    "add_note_to_relationship",
)
DEFAULT_TOOLS = (*READ_TOOLS, *WRITE_TOOLS)
"""Tools that search, add and correct. None deletes, because the request to delete could come from
the source.
"""

SOURCE_ARGUMENT = "source_entity_key"


class ModelTools:
    """Tools bound to one user and one source; the model chooses neither."""

    def __init__(
        self, tools: Mapping[str, BoundTool], *, names: Sequence[str], source_label: str
    ) -> None:
        """Select tools.

        Args:
            tools: all tools, bound to the user and the source.
            names: names of the tools to offer.
            source_label: label of source nodes, which the model must not create.

        Raises:
            ConfigurationError: a name is unknown, or no selected tool is read-only.
        """
        for name in names:
            if name not in tools:
                raise ConfigurationError(f"Unknown tool: {name!r}. Available: {', '.join(tools)}")
        self._tools = {name: tools[name] for name in names}
        if not any(tool.read_only for tool in self._tools.values()):
            raise ConfigurationError(
                f"At least one read-only tool is required, got {', '.join(names) or 'none'}"
            )
        self._source_label = source_label

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """Argument of a chat model's `bind_tools`."""
        return [_schema(tool) for tool in self._tools.values()]

    def is_read_only(self, name: str) -> bool:
        """Whether the tool changes nothing; True for an unknown tool."""
        return name not in self._tools or self._tools[name].read_only

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Payload:
        """Run a tool. Errors are returned, not raised."""
        if name not in self._tools:
            return failure(f"Unknown tool: {name[:100]!r}. Available: {', '.join(self._tools)}")
        if name == "create_node" and str(arguments.get("label", "")).strip() == self._source_label:
            return failure(
                f"The {self._source_label} that you are reading already has a node; do not create "
                f"another one"
            )
        return await self._tools[name](**arguments)


def _schema(tool: BoundTool) -> dict[str, Any]:
    parameters = _without_source_argument(arguments_schema(tool.arguments, tool.neo4j_types))
    description, parameters = described_schema(tool.description, parameters)
    return {
        "type": "function",
        "function": {"name": tool.name, "description": description, "parameters": parameters},
    }


def _without_source_argument(schema: Mapping[str, Any]) -> Schema:
    changed = map_parts(schema, _without_source_argument)
    if "properties" in changed:
        changed["properties"] = {
            name: part for name, part in changed["properties"].items() if name != SOURCE_ARGUMENT
        }
    return changed
