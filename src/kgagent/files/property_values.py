"""Values of properties in an export: every type that Neo4j stores is restored exactly.

Text, true and false, numbers and lists are those of JSON. Other values are objects with one field
that names the type, such as `{"$date": "2026-01-31"}`.
"""

import base64
import json
import math
import reprlib
import struct
from array import array
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Duration
from neo4j.vector import Vector

from kgagent.errors import InputError

JsonValue = Any

MAX_EXACT = 2**53
"""Integers beyond it are written as text, because many readers of JSON would round them."""

MAX_INTEGER = 2**63 - 1
"""The largest integer that the database stores."""

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

_POINTS: Mapping[int, Callable[[list[float]], Point]] = {
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
    if (
        name.endswith("embedding")
        and isinstance(value, list)
        and (packed := _packed(value)) is not None
    ):
        return {"$float32": packed}
    time_name = None
    if time_type is not None:
        time_name = TIME_TYPES[
            time_type.removeprefix("LIST<").partition(">")[0].removesuffix(" NOT NULL")
        ]
    if isinstance(value, list):
        return [_encode(name, item, time_name) for item in value]
    return _encode(name, value, time_name)


def decode_property(value: JsonValue) -> object:
    """Decode a value of a file; an embedding becomes an array of float32, a date or time a
    `TimeText`.

    Raises:
        InputError: it is not a value that export writes.
    """
    if not isinstance(value, list):
        return _decode(value)
    items = [_decode(item) for item in value]
    if len({type(item) for item in items}) > 1 or isinstance(
        next(iter(items), None), array | bytes | Vector
    ):
        raise _refused(value)
    return items


def _encode(name: str, value: object, time_name: str | None) -> JsonValue:  # noqa: PLR0911
    match value:
        case str():
            return value if time_name is None else {time_name: value}
        case bool():
            return value
        case int():
            return value if abs(value) <= MAX_EXACT else {"$integer": str(value)}
        case float():
            return value if math.isfinite(value) else {"$float": json.dumps(value)}
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case Duration():
            return {"$duration": [value.months, value.days, value.seconds, value.nanoseconds]}
        case Point():
            return {"$point": [value.srid, *(_encode(name, part, None) for part in value)]}
        case Vector():
            return {"$vector": [value.dtype, base64.b64encode(value.raw()).decode()]}
        case _:
            raise InputError(
                f"Property {name!r} has a value that cannot be exported: {type(value).__name__}"
            )


def _decode(value: JsonValue) -> object:
    match value:
        case str() | bool():
            return value
        case int() if -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
            return value
        case float() if math.isfinite(value):
            return value
        case dict() if len(value) == 1:
            [(kind, data)] = value.items()
            if kind in TIME_TYPES.values() and isinstance(data, str):
                return TimeText(kind.removeprefix("$"), data)
            with suppress(ValueError, TypeError, KeyError, OverflowError, struct.error):
                return _DECODERS[kind](data)
    raise _refused(value)


def _refused(value: JsonValue) -> InputError:
    return InputError(f"not a value that export writes: {reprlib.repr(value)[:80]}")


def _packed(values: list[Any]) -> str | None:
    """The numbers as base64 of float32, little-endian; None unless that loses nothing and the
    database can store it.
    """
    if not 0 < len(values) <= MAX_DIMENSIONS or not all(type(value) is float for value in values):
        return None
    layout = f"<{len(values)}f"
    try:
        packed = struct.pack(layout, *values)
    except OverflowError:
        return None
    is_exact = struct.unpack(layout, packed) == tuple(values) and all(map(math.isfinite, values))
    return base64.b64encode(packed).decode() if is_exact else None


def _unpacked(data: JsonValue) -> "array[float]":
    return array("f", [value for (value,) in struct.iter_unpack("<f", _decode_bytes(data))])


def _decode_bytes(data: JsonValue) -> bytes:
    return base64.b64decode(data, validate=True)


def _decode_point(data: JsonValue) -> Point:
    srid, *coordinates = data
    return _POINTS[srid]([float(_decode(part)) for part in coordinates])  # type: ignore[arg-type]


def _decode_vector(data: JsonValue) -> Vector:
    kind, content = data
    return Vector(_decode_bytes(content), kind)


_DECODERS: Mapping[str, Callable[[JsonValue], object]] = {
    "$integer": lambda data: _decode(int(data)),
    "$float": float,
    "$float32": _unpacked,
    "$bytes": _decode_bytes,
    "$point": _decode_point,
    "$duration": lambda data: Duration(
        **dict(zip(("months", "days", "seconds", "nanoseconds"), data, strict=True))
    ),
    "$vector": _decode_vector,
}
