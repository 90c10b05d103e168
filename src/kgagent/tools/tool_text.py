"""Tool calls in the form that models use: arguments as a JSON object, answers as text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.errors import InputError
from kgagent.tools.payload import Payload


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
