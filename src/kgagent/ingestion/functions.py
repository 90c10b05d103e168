"""The tools as the model is offered them while it reads a source."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kgagent.adapters.function_description import described_schema
from kgagent.adapters.json_schema import Schema, with_parts, without_titles
from kgagent.adapters.openai.strict_schema import given_values
from kgagent.errors import ConfigurationError
from kgagent.tools import BoundTool, Payload
from kgagent.tools.base import failure

READING = ("explore", "hybrid_search", "get_relationship")
WRITING = (
    *("create_node", "update_node", "create_relationship", "create_relationships", "update_relationship"),
    *("update_relationships", "add_note_to_relationship"),
)
DEFAULT_TOOLS = (*READING, *WRITING)
"""Those that look, add and correct; none that removes, as what asks for it may be the source."""

BOUND = "source_entity_key"


class Functions:
    """Tools bound to a user and a source; the model chooses neither."""

    def __init__(self, tools: Mapping[str, BoundTool], *, names: Sequence[str], source_label: str) -> None:
        """Choose tools.

        Args:
            tools: bound to the user and the source.
            names: those wanted.
            source_label: label of the nodes of sources, which the model may not make.

        Raises:
            ConfigurationError: a name is not that of a tool, or none of them looks.
        """
        for name in names:
            if name not in tools:
                raise ConfigurationError(f"No tool is called {name!r}; there are {', '.join(tools)}")
        self._tools = {name: tools[name] for name in names}
        if not any(tool.read_only for tool in self._tools.values()):
            raise ConfigurationError(f"A tool that looks is needed, got only {', '.join(names) or 'none'}")
        self._source_label = source_label

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """What `bind_tools` of a chat model takes."""
        return [_schema(tool) for tool in self._tools.values()]

    def is_read_only(self, name: str) -> bool:
        """Whether the tool of that name only looks; an unknown one does nothing."""
        return name not in self._tools or self._tools[name].read_only

    def is_repeatable(self, name: str) -> bool:
        """Whether the same call, made again, changes nothing."""
        return name not in self._tools or self._tools[name].idempotent

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Payload:
        """Carry out a call; what goes wrong is in the answer. A null counts as left out."""
        if name not in self._tools:
            return failure(f"No tool is called {name[:100]!r}; there are {', '.join(self._tools)}")
        given = given_values(dict(arguments))
        if name == "create_node" and str(given.get("label", "")).strip() == self._source_label:
            return failure(f"The {self._source_label} that you read has its node already; make no other")
        return await self._tools[name](**given)


def _schema(tool: BoundTool) -> dict[str, Any]:
    parameters = _without_bound(without_titles(tool.arguments.model_json_schema()))
    description, parameters = described_schema(tool.description, parameters)
    return {
        "type": "function",
        "function": {"name": tool.name, "description": description, "parameters": parameters},
    }


def _without_bound(schema: Mapping[str, Any]) -> Schema:
    """Leave out what the pipeline fills in."""
    changed = with_parts(schema, _without_bound)
    if "properties" in changed:
        changed["properties"] = {name: part for name, part in changed["properties"].items() if name != BOUND}
    return changed


def fingerprint(name: str, arguments: object) -> str:
    """The same for calls of one tool with the same arguments."""
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)}"
