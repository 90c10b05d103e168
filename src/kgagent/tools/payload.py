"""Tool calls in the forms that models and programs use: arguments as JSON, answers as text and as
JSON.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.formatting import in_one_line, visible_text

Payload = dict[str, Any]
"""A tool's result as JSON: {"success": true, "message": …, …} or {"success": false, "error": …}."""

MAX_ERROR_LENGTH = 2_000
"""Characters of an error."""

KEY_HINT = "explore and hybrid_search return the entity_key of a node, and remember creates nodes"
"""Added to an error about an unknown node, if no node has a similar name."""


REPEAT_ARGUMENTS = (
    "A cursor continues a result: repeat the other arguments of the call that returned it"
)
"""Part of errors of calls that give a cursor without them."""


@dataclass(frozen=True)
class ToolText:
    """The answer of a tool for a model.

    Attributes:
        text: what the model reads; an error begins with "Error: ".
        is_error: whether the tool failed.
        payload: the same for programs, as JSON types.
    """

    text: str
    is_error: bool
    payload: Payload

    @classmethod
    def failed(cls, payload: Payload) -> "ToolText":
        """The answer of a call that failed."""
        return cls(f"Error: {payload['error']}", is_error=True, payload=payload)


def failure(error: str) -> Payload:
    """The payload of a failed call; the error becomes one line that every surface can print."""
    return {"success": False, "error": one_line(error)}


def one_line(error: str) -> str:
    """An error as one printable line of at most `MAX_ERROR_LENGTH` characters."""
    line = in_one_line(error)
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 3] + "..."


def error_text(error: KgAgentError) -> str:
    """The text of an error for a model; for an unknown node with the tools that find nodes."""
    needs_hint = isinstance(error, NodeNotFoundError) and not error.hint
    return f"{error}. {KEY_HINT}" if needs_hint else str(error)


def visible(value: Any) -> Any:  # noqa: ANN401
    """A value of JSON types without characters that are not seen, see `visible_text`."""
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, dict):
        return {visible_text(name): visible(item) for name, item in value.items()}
    return list(map(visible, value)) if isinstance(value, list) else value


def dump(payload: Payload) -> str:
    """A payload as JSON in one line, with escapes for characters that are not seen."""
    text = json.dumps(payload, ensure_ascii=False)
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def decode_arguments(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """The arguments by name.

    Raises:
        InputError: they are not a JSON object.
    """
    decoded: object = arguments
    if arguments is None or isinstance(arguments, str):
        try:
            decoded = json.loads(arguments) if arguments and arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise InputError(f"Arguments are not JSON: {error}") from error
    if not isinstance(decoded, Mapping):
        raise InputError(f"Arguments must be a JSON object, got {type(decoded).__name__}")
    return decoded
