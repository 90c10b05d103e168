"""The generated part of a page of `docs`: written anew, or, with `--check`, compared with what stands there."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENERATED = re.compile(r"(?<=<!-- generated: begin -->\n).*(?=<!-- generated: end -->)", re.DOTALL)

PLAIN = {"string": "text", "integer": "integer", "number": "number", "boolean": "`true` or `false`", "object": "object"}
FORMATS = {"password": "secret", "path": "path"}


def bring_up_to_date(page: str, text: str, command: str) -> int:
    """Write the generated part of a page.

    Args:
        page: its name in `docs`.
        text: what stands there from now on.
        command: the script, for the one who is told that the page is out of date.

    Returns:
        The exit status: 1 where `--check` was given and the page is out of date.
    """
    path = ROOT / "docs" / page
    old = path.read_text("utf-8")
    new, places = GENERATED.subn(lambda _: f"\n{text}\n", old)
    if places != 1:
        print(f"docs/{page} has {places} generated parts instead of one")
        return 1
    if "--check" not in sys.argv[1:]:
        path.write_text(new, "utf-8")
        return 0
    if new != old:
        print(f"docs/{page} is out of date: run python scripts/{command}")
    return int(new != old)


def kind_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """A value's type and range in words, from its JSON schema; objects are named, with a link."""
    if "$ref" in schema:
        return _named(schema["$ref"].rsplit("/", 1)[-1], definitions)
    if "anyOf" in schema:
        kinds = (kind_of(part, definitions) for part in schema["anyOf"] if part.get("type") != "null")
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        items = kind_of(schema["items"], definitions)
        return f"list of ({items})" if " or " in items else f"list of {items}"
    plain = FORMATS.get(schema.get("format", "")) or PLAIN.get(schema.get("type", ""), "any JSON value")
    return ", ".join(filter(None, (plain, _range(schema))))


def cell(text: str) -> str:
    """Text that fits a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _named(name: str, definitions: Mapping[str, Any]) -> str:
    definition = definitions[name]
    return f"[{name}](#{name.lower()})" if "properties" in definition else kind_of(definition, definitions)


def _range(schema: Mapping[str, Any]) -> str:
    least = schema.get("minimum")
    most = schema.get("maximum")
    if least is None and "exclusiveMinimum" in schema:
        return f"more than {_number(schema['exclusiveMinimum'])}"
    if most is None and "exclusiveMaximum" in schema:
        most = schema["exclusiveMaximum"] - 1
    if least is None:
        return ""
    return f"from {_number(least)}" if most is None else f"{_number(least)} to {_number(most)}"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"
