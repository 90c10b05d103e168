"""Write what docs/tools.md says of each tool: its description, its arguments and an example, from the registry.

python scripts/tools_page.py            writes it
python scripts/tools_page.py --check    fails where it is out of date
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from _generated import bring_up_to_date, cell, kind_of

from kgagent.ontology import default_ontology
from kgagent.tools import TOOLS
from kgagent.tools.base import Tool

HEAD = "| argument | type | unless given | meaning |\n| --- | --- | --- | --- |\n"
OBJECTS = "## Objects\n\nWhat arguments are made of. As everywhere, an argument that is not named here is refused.\n"


def main() -> int:
    """Write or check."""
    definitions: dict[str, Any] = {}
    sections = [_section(tool, definitions) for tool in TOOLS]
    objects = [
        f"### {name}\n\n{' '.join(definition.get('description', '').split())}\n\n{_table(definition, definitions)}"
        for name, definition in sorted(definitions.items())
        if "properties" in definition
    ]
    return bring_up_to_date("tools.md", "\n".join([*sections, OBJECTS, *objects]), "tools_page.py")


def _section(tool: Tool[Any], definitions: dict[str, Any]) -> str:
    """A tool's section; the objects that its arguments refer to are added to the definitions."""
    schema = tool.arguments.model_json_schema()
    definitions.update(schema.get("$defs", {}))
    text = f"## {tool.name}\n\n> {tool.description(default_ontology())}\n\n{_behaviour(tool)}\n\n"
    text += _table(schema, schema.get("$defs", {}))
    examples = schema.get("examples", ())
    if examples:
        text += f"\n```json\n{json.dumps(examples[0], indent=2, ensure_ascii=False)}\n```\n"
    return text


def _behaviour(tool: Tool[Any]) -> str:
    if tool.read_only:
        return "It changes nothing."
    first = "It may replace or remove what is stored" if tool.destructive else "It only adds"
    second = "the same call again changes nothing more" if tool.idempotent else "the same call again is not the same"
    return f"{first}; {second}."


def _table(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = []
    for name, argument in schema["properties"].items():
        default = "**required**" if name in required else _default(argument)
        meaning = cell(argument.get("description", ""))
        rows.append(f"| `{name}` | {cell(kind_of(argument, definitions))} | {default} | {meaning} |\n")
    return HEAD + "".join(rows)


def _default(argument: Mapping[str, Any]) -> str:
    default = argument.get("default")
    return "" if default in (None, "", []) else f"`{json.dumps(default, ensure_ascii=False)}`"


if __name__ == "__main__":
    sys.exit(main())
