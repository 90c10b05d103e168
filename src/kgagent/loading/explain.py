"""What is wrong with a line, in words for who wrote it."""

from typing import Any

from pydantic import ValidationError

MAX_VALUE_LENGTH = 80
"""Characters of a wrong value that a reason repeats."""


def explain(error: ValidationError) -> str:
    """Say in one line all that is wrong, with the values."""
    return "; ".join(_explained(dict(item)) for item in error.errors(include_url=False))


def _explained(item: dict[str, Any]) -> str:
    # The first part of the place names the kind of line, which its reader sees.
    kind, *parts = item["loc"] or ("line",)
    where = ".".join(str(part) for part in parts if part != "[key]")
    match item["type"]:
        case "json_invalid":
            said = f"not JSON: {item['ctx']['error']}".replace(" at line 1 column ", " at column ")
        case "union_tag_not_found" | "union_tag_invalid":
            said = 'kind must be "node" or "relationship"'
        case "missing":
            said = f"{where} is missing"
        case "extra_forbidden":
            said = f"{where} is not a field of a {kind}"
        case "value_error":
            said = f"{where}: {item['ctx']['error']}{_shown(item['input'])}"
        case _ if not where:
            said = "not a JSON object"
        case _:
            said = f"{where}: {item['msg']}{_shown(item['input'])}"
    return said


def _shown(value: object) -> str:
    if not isinstance(value, str | int | float | list | None):
        return ""
    text = repr(value)
    return f", got {text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + '...'}"
