"""Values of properties in an export: every type that Neo4j stores is restored exactly.

Text, true and false, numbers and lists are those of JSON. Other values are objects with one field
that names the type, such as `{"$date": "2026-01-31"}`.
"""

import base64
import json
import math
import reprlib
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Duration
from neo4j.vector import Vector

from kgagent.errors import InputError

JsonValue = Any

MAX_DIMENSIONS = 4_096
"""Of what the database stores as a vector."""

TIME_TYPES = {
    "DATE": "$date",
    "LOCAL TIME": "$local_time",
    "ZONED TIME": "$time",
    "LOCAL DATETIME": "$local_datetime",
    "ZONED DATETIME": "$datetime",
}
"""The types that the database converts from and to text, each with its name in a file."""

_POINTS: Mapping[int, Callable[[Any], Point]] = {
    7203: CartesianPoint,
    9157: CartesianPoint,
    4326: WGS84Point,
    4979: WGS84Point,
}


@dataclass(frozen=True)
class TimeText:
    """A date or a time as text, which the database converts.

    Attributes:
        kind: its type, as a file names it.
        text: as the database prints it.
    """

    kind: str
    text: str


def encode_property(name: str, time_type: str | None, value: object) -> JsonValue:
    """Encode a stored value.

    Args:
        name: name of the property.
        time_type: the type of a date, a time or a list of these, as Cypher's `valueType` names it;
            None for others.
        value: the value as the statement returns it: dates and times as text.

    Raises:
        InputError: kgagent does not know the type.
    """
    time_name = None
    if time_type is not None:
        one = time_type.removeprefix("LIST<").partition(">")[0]
        time_name = TIME_TYPES[one.removesuffix(" NOT NULL")]
    if not isinstance(value, list):
        return _encode(name, value, time_name)
    if name.endswith("embedding") and _is_vector(value):
        return {"$float32": _encode_bytes(array("f", value).tobytes())}
    return [_encode(name, item, time_name) for item in value]


def decode_property(value: JsonValue) -> object:
    """Decode a value of a file; an embedding becomes an array of float32, a date or time a
    `TimeText`.

    Raises:
        InputError: it is not a value that export writes.
    """
    try:
        if not isinstance(value, list):
            return _decode(value)
        items = [_decode(item) for item in value]
        if len({type(item) for item in items}) <= 1:
            return items
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        pass
    raise InputError(f"not a value that export writes: {reprlib.repr(value)[:80]}")


def _encode(name: str, value: object, time_name: str | None) -> JsonValue:
    match value:
        case str() if time_name is not None:
            return {time_name: value}
        case float() if not math.isfinite(value):
            return {"$float": json.dumps(value)}
        case str() | bool() | int() | float():
            return value
        case bytes() | bytearray():
            return {"$bytes": _encode_bytes(value)}
        case Duration():
            return {"$duration": list(value)}
        case Point() | Vector():
            return _encode_array(value)
    raise InputError(
        f"Property {name!r} has a value that cannot be exported: {type(value).__name__}"
    )


def _encode_array(value: Point | Vector) -> JsonValue:
    if isinstance(value, Vector):
        return {"$vector": [value.dtype, _encode_bytes(value.raw())]}
    return {"$point": [value.srid, *(_encode("", part, None) for part in value)]}


def _decode(value: JsonValue) -> object:
    if isinstance(value, str | bool | int | float):
        return value
    [(kind, data)] = value.items()
    if kind in TIME_TYPES.values():
        return TimeText(kind.removeprefix("$"), data)
    return _DECODERS[kind](data)


def _is_vector(values: list[Any]) -> bool:
    """Whether float32 holds the numbers of a list exactly, and the database stores so many."""
    return (
        0 < len(values) <= MAX_DIMENSIONS
        and all(type(value) is float and math.isfinite(value) for value in values)
        and array("f", values).tolist() == values
    )


def _encode_bytes(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()


def _decode_bytes(data: JsonValue) -> bytes:
    return base64.b64decode(data, validate=True)


_DECODERS: Mapping[str, Callable[[JsonValue], object]] = {
    "$float": float,
    "$float32": lambda data: array("f", _decode_bytes(data)),
    "$bytes": _decode_bytes,
    "$point": lambda data: _POINTS[data[0]]([_decode(part) for part in data[1:]]),
    "$duration": lambda data: Duration(
        **dict(zip(("months", "days", "seconds", "nanoseconds"), data, strict=True))
    ),
    "$vector": lambda data: Vector(_decode_bytes(data[1]), data[0]),
}
