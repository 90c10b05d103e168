"""Write the description and the arguments of each tool in docs/tools.md, from the tool
registry.

python scripts/tools_page.py            writes the page
python scripts/tools_page.py --check    fails if the page is out of date
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from _generated import cell, type_text, update_page

from kgagent.ontology import default_ontology
from kgagent.tools import TOOLS
from kgagent.tools.base import Tool
from kgagent.tools.toolsets import toolsets_with

HEAD = "| argument | type | default | meaning |\n| --- | --- | --- | --- |\n"
OBJECTS = "## Objects\n\nThe objects that arguments consist of. Unknown fields are rejected.\n"


def main() -> int:
    """Write the page or check it."""
    definitions: dict[str, Any] = {}
    sections = [_section(tool, definitions) for tool in TOOLS]
    objects = [
        f"### {name}\n\n{_summary(definition)}\n\n{_table(definition, definitions)}"
        for name, definition in sorted(definitions.items())
        if "properties" in definition
    ]
    overview = "| tool | toolset | purpose |\n| --- | --- | --- |\n" + "".join(
        map(_overview_row, TOOLS)
    )
    return update_page(
        "tools.md", "\n".join([overview, *sections, OBJECTS, *objects]), "tools_page.py"
    )


def _overview_row(tool: Tool[Any]) -> str:
    """The row of a tool in the table of all tools, with the first sentence of its description."""
    purpose = tool.description(default_ontology()).split(". ")[0].rstrip(".")
    return f"| [`{tool.name}`](#{tool.name}) | {', '.join(toolsets_with(tool.name))} | {cell(purpose)} |\n"


def _section(tool: Tool[Any], definitions: dict[str, Any]) -> str:
    """The section of a tool; adds the objects that its arguments refer to to the definitions."""
    schema = tool.arguments.model_json_schema()
    definitions.update(schema.get("$defs", {}))
    text = f"## {tool.name}\n\n> {tool.description(default_ontology())}\n\n{_behavior(tool)}\n\n"
    text += _table(schema, schema.get("$defs", {}))
    not_listed = schema["properties"].keys() | tool.arguments.refused
    if hidden := [name for name in tool.arguments.model_fields if name not in not_listed]:
        text += f"\nAlso accepted, but not described to models: {', '.join(f'`{name}`' for name in hidden)}.\n"
    return text


def _behavior(tool: Tool[Any]) -> str:
    toolsets = toolsets_with(tool.name)
    return f"Toolset{'s' if len(toolsets) > 1 else ''}: {', '.join(toolsets)}. {_effect(tool)}"


def _effect(tool: Tool[Any]) -> str:
    if tool.read_only:
        return "Read-only."
    first = "May replace or remove stored data" if tool.destructive else "Only adds data"
    second = "idempotent" if tool.idempotent else "not idempotent"
    return f"{first}; {second}."


def _summary(definition: Mapping[str, Any]) -> str:
    """The description of an object, without its list of attributes, which the table shows."""
    return " ".join(definition.get("description", "").split("Attributes:")[0].split())


def _table(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = []
    for name, argument in schema["properties"].items():
        default = "**required**" if name in required else _default(argument)
        meaning = cell(argument.get("description", ""))
        rows.append(
            f"| `{name}` | {cell(type_text(argument, definitions))} | {default} | {meaning} |\n"
        )
    return HEAD + "".join(rows)


def _default(argument: Mapping[str, Any]) -> str:
    default = argument.get("default")
    return "" if default in (None, "", []) else f"`{json.dumps(default, ensure_ascii=False)}`"


if __name__ == "__main__":
    sys.exit(main())
