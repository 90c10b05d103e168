"""Describes what is wrong with a line."""

from typing import Any

from pydantic import ValidationError

MAX_VALUE_LENGTH = 80
"""Characters of an invalid value that a message repeats."""


def explain(error: ValidationError) -> str:
    """Describe all problems in one line, with the invalid values."""
    return "; ".join(_describe(dict(item)) for item in error.errors(include_url=False))


def _describe(item: dict[str, Any]) -> str:
    # The first part of the location is the kind of line, which is obvious to the reader.
    kind, *parts = item["loc"] or ("line",)
    where = ".".join(str(part) for part in parts if part != "[key]")
    match item["type"]:
        case "json_invalid":
            problem = str(item["ctx"]["error"]).replace(" at line 1 column ", " at column ")
            message = f"not JSON: {problem}; each line of the file must be one JSON object"
        case "union_tag_not_found" | "union_tag_invalid":
            message = 'kind must be "node" or "relationship"'
        case "missing":
            message = f"{where} is missing"
        case "extra_forbidden":
            message = f"{where} is not a field of a {kind}"
        case "value_error":
            message = f"{where}: {item['ctx']['error']}{_value(item['input'])}"
        case _ if not where:
            message = "not a JSON object"
        case _:
            message = f"{where}: {item['msg']}{_value(item['input'])}"
    return message


def _value(value: object) -> str:
    if not isinstance(value, str | int | float | list | None):
        return ""
    text = repr(value)
    return f", got {text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + '...'}"
