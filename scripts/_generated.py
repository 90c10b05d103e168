"""The generated part of a page in `docs`: writes it or, with `--check`, compares it with the stored
text.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATED = re.compile(r"(?<=<!-- generated: begin -->\n).*(?=<!-- generated: end -->)", re.DOTALL)

PLAIN = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "object",
}
MAX_JSON_LINE = 110
FORMATS = {"password": "secret", "path": "path"}


def update_page(page: str, text: str, command: str) -> int:
    """Write the generated part of a page.

    Args:
        page: file name in `docs`.
        text: the new text.
        command: name of the script that updates the page, for the message.

    Returns:
        The exit status: 1 if the page is out of date and `--check` was given.
    """
    path = ROOT / "docs" / page
    old = path.read_text("utf-8")
    new, places = GENERATED.subn(lambda _: f"\n{text}\n", old)
    if places != 1:
        print(f"docs/{page} has {places} generated parts, expected 1")
        return 1
    if "--check" not in sys.argv[1:]:
        path.write_text(new, "utf-8")
        return 0
    if new != old:
        print(f"docs/{page} is out of date: run python scripts/{command}")
    return int(new != old)


def type_text(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """The type and range of a value as text, from its JSON schema; objects become links."""
    if "$ref" in schema:
        return _named(schema["$ref"].rsplit("/", 1)[-1], definitions)
    if "anyOf" in schema:
        types = (
            type_text(part, definitions) for part in schema["anyOf"] if part.get("type") != "null"
        )
        return " or ".join(dict.fromkeys(types))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        items = type_text(schema["items"], definitions)
        return f"list of ({items})" if " or " in items else f"list of {items}"
    plain = FORMATS.get(schema.get("format", "")) or PLAIN.get(
        schema.get("type", ""), "any JSON value"
    )
    return ", ".join(filter(None, (plain, _range(schema))))


def json_text(value: object) -> str:
    """JSON on one line, or on several if it is long."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= MAX_JSON_LINE else json.dumps(value, indent=2, ensure_ascii=False)


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def _named(name: str, definitions: Mapping[str, Any]) -> str:
    definition = definitions[name]
    return (
        f"[{name}](#{name.lower()})"
        if "properties" in definition
        else type_text(definition, definitions)
    )


def _range(schema: Mapping[str, Any]) -> str:
    minimum = schema.get("minimum")
    maximum = schema.get("maximum")
    if minimum is None and "exclusiveMinimum" in schema:
        return f"above {_number(schema['exclusiveMinimum'])}"
    if maximum is None and "exclusiveMaximum" in schema:
        maximum = schema["exclusiveMaximum"] - 1
    if minimum is None:
        return ""
    return (
        f"from {_number(minimum)}"
        if maximum is None
        else f"{_number(minimum)} to {_number(maximum)}"
    )


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"
