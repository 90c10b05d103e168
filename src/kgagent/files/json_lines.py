"""JSON Lines files: one JSON object per line, in UTF-8; load and import read them, export writes
them.
"""

import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from kgagent.errors import InputError
from kgagent.validation import explain_validation_error

LineT = TypeVar("LineT", bound=BaseModel)


@dataclass(frozen=True)
class FileLine:
    """A line that is not blank.

    Attributes:
        number: line number, from 1.
        content: the line with its end.
        place: where it is, for messages; empty if the number says it.
        problem: why there is no line to read; empty if there is one.
    """

    number: int
    content: bytes
    place: str = ""
    problem: str = ""


def read_lines(path: Path) -> Iterator[FileLine]:
    """Read a file line by line; a byte order mark and blank lines are skipped, and any line ending
    is accepted.

    Raises:
        InputError: the file cannot be read, is not a regular file, or is UTF-16.
    """
    if path.exists() and not path.is_file():
        raise InputError(
            f"{path} is not a regular file; it is read several times, so save a pipe to a file "
            f"first"
        )
    try:
        with path.open("rb") as stream:
            for number, content in enumerate(stream, start=1):
                if number == 1 and content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                    raise InputError(f"{path} is UTF-16; save it as UTF-8")
                text = content.removeprefix(BOM_UTF8) if number == 1 else content
                if text.strip():
                    yield FileLine(number, text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def parse_line(
    line: FileLine, models: Mapping[str, type[LineT]], dropped: dict[str, None] | None = None
) -> LineT:
    """Read a line as the model of its `kind`.

    Args:
        line: the line.
        models: the model of each kind.
        dropped: gets what is not read of the line, and why; None reads all or nothing.

    Raises:
        InputError: the line is not a JSON object of one of these kinds, or a field is invalid.
    """
    if line.problem:
        raise InputError(line.problem)
    try:
        fields = from_json(line.content.decode())
    except UnicodeDecodeError as error:
        byte = line.content[error.start]
        raise InputError(f"not UTF-8: byte 0x{byte:02x} at column {error.start + 1}") from None
    except ValueError as error:
        problem = str(error).replace(" at line 1 column ", " at column ")
        raise InputError(
            f"not JSON: {problem}; each line of the file must be one JSON object"
        ) from None
    if not isinstance(fields, dict):
        raise InputError("not a JSON object")
    kind = fields.get("kind")
    model = models.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise InputError(f"kind must be {' or '.join(json.dumps(name) for name in models)}")
    try:
        return model.model_validate(fields, context=dropped)
    except ValidationError as error:
        raise InputError(explain_validation_error(error, noun="field")) from None


def dump_line(line: BaseModel) -> bytes:
    """A line with its end; the same content always gives the same bytes."""
    return dump_json(line.model_dump()).encode() + b"\n"


def dump_json(value: object) -> str:
    """JSON with sorted fields and without spaces."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
