"""Values of properties in a file: every type that Neo4j stores is restored exactly.

Text, true and false, numbers and lists are those of JSON. Other values are objects with one field that names the type,
such as `{"$date": "2026-01-31"}`.
"""

import base64
import math
import re
import reprlib
import sys
from array import array
from collections.abc import Callable, Mapping
from typing import Any

from neo4j.spatial import CartesianPoint, Point, WGS84Point
from neo4j.time import Duration
from neo4j.vector import Vector

from kgagent.errors import InputError
from kgagent.files.time_texts import is_time_text

JsonValue = Any

MAX_EXACT = 2**53
"""Integers beyond it are written as text, because many readers of JSON would round them."""

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
"""The integers that the database stores."""

MAX_NANOSECONDS = 10**9
"""Of a duration; more are written as seconds."""

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

_TIME_NAMES = frozenset(TIME_TYPES.values())
_INTEGER = re.compile("-?[0-9]{1,19}")
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_POINTS: Mapping[int, tuple[type[Point], int]] = {
    7203: (CartesianPoint, 2),
    9157: (CartesianPoint, 3),
    4326: (WGS84Point, 2),
    4979: (WGS84Point, 3),
}


class TimeText(str):
    """A date or a time as text, which the database converts.

    Attributes:
        kind: its type, as a file names it.
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, text: str, kind: str) -> "TimeText":
        """Attach the type to a text."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made


def encode_property(name: str, time_type: str | None, value: object) -> JsonValue:
    """Encode a stored value.

    Args:
        name: name of the property.
        time_type: the type of a date, a time or a list of these, as Cypher's `valueType` names it; None for others.
        value: the value as the statement returns it: dates and times as text.

    Raises:
        InputError: kgagent does not know the type.
    """
    if name.endswith("embedding") and isinstance(value, list) and (packed := _packed(value)) is not None:
        return {"$float32": packed}
    time_name = None
    if time_type is not None:
        time_name = TIME_TYPES[time_type.removeprefix("LIST<").partition(">")[0].removesuffix(" NOT NULL")]
    if isinstance(value, list):
        return [_encode(name, item, time_name) for item in value]
    return _encode(name, value, time_name)


def decode_property(value: JsonValue) -> object:
    """Decode a value of a file; an embedding becomes an array of float32, a date or time a `TimeText`.

    Raises:
        InputError: it is not a value that export writes.
    """
    if not isinstance(value, list):
        return _decode(value)
    items = [_decode(item) for item in value]
    if len(set(map(_kind_in_list, items))) > 1 or isinstance(next(iter(items), None), array | bytes | Vector):
        raise _refused(value)
    return items


def _kind_in_list(item: object) -> object:
    """What all values of a stored list have in common."""
    if isinstance(item, TimeText):
        return item.kind
    return (type(item), item.srid) if isinstance(item, Point) else type(item)


def _encode(name: str, value: object, time_name: str | None) -> JsonValue:  # noqa: PLR0911
    match value:
        case str():
            return value if time_name is None else {time_name: value}
        case bool():
            return value
        case int():
            return value if abs(value) <= MAX_EXACT else {"$integer": str(value)}
        case float():
            return value if math.isfinite(value) else {"$float": _non_finite_name(value)}
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case Duration():
            return {"$duration": [value.months, value.days, value.seconds, value.nanoseconds]}
        case Point():
            return {"$point": [value.srid, *(_encode(name, part, None) for part in value)]}
        case Vector():
            return {"$vector": [value.dtype, base64.b64encode(value.raw()).decode()]}
        case _:
            raise InputError(f"Property {name!r} has a value that cannot be exported: {type(value).__name__}")


def _non_finite_name(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _packed(values: list[Any]) -> str | None:
    """The numbers as base64 of float32, little-endian; None unless that loses nothing and the database can store it."""
    if not 0 < len(values) <= MAX_DIMENSIONS or not all(type(one) is float and math.isfinite(one) for one in values):
        return None
    try:
        packed = array("f", values)
    except OverflowError:
        return None
    if packed.tolist() != values:
        return None
    if sys.byteorder == "big":
        packed.byteswap()
    return base64.b64encode(packed.tobytes()).decode()


def _unpacked(data: object) -> "array[float]":
    unpacked = array("f", _decode_base64(data))
    if sys.byteorder == "big":
        unpacked.byteswap()
    if not 0 < len(unpacked) <= MAX_DIMENSIONS or not all(map(math.isfinite, unpacked)):
        raise ValueError("no embedding")
    return unpacked


def _decode(value: JsonValue) -> object:
    if isinstance(value, str | bool) or _is_stored_number(value):
        return value
    if isinstance(value, dict) and len(value) == 1:
        [(kind, data)] = value.items()
        if kind in _TIME_NAMES and isinstance(data, str) and is_time_text(data, kind.removeprefix("$")):
            return TimeText(data, kind.removeprefix("$"))
        if kind in _DECODERS:
            try:
                return _DECODERS[kind](data)
            except (ValueError, TypeError, KeyError, OverflowError):
                pass
    raise _refused(value)


def _is_stored_number(value: JsonValue) -> bool:
    """Whether a value is a number that JSON has and the database stores."""
    if isinstance(value, float):
        return math.isfinite(value)
    return type(value) is int and MIN_INTEGER <= value <= MAX_INTEGER


def _refused(value: JsonValue) -> InputError:
    return InputError(f"not a value that export writes: {reprlib.repr(value)[:80]}")


def _decode_base64(data: object) -> bytes:
    if not isinstance(data, str):
        raise TypeError("base64 is text")
    return base64.b64decode(data, validate=True)


def _decode_integer(data: JsonValue) -> int:
    if not isinstance(data, str) or not _INTEGER.fullmatch(data) or not MIN_INTEGER <= int(data) <= MAX_INTEGER:
        raise ValueError("not an integer that Neo4j can store")
    return int(data)


def _decode_point(data: JsonValue) -> Point:
    srid, *parts = data
    kind, dimensions = _POINTS[srid]
    coordinates = [_decode(part) for part in parts]
    if len(coordinates) != dimensions or not all(isinstance(part, float) for part in coordinates):
        raise ValueError("wrong coordinates")
    return kind(coordinates)  # type: ignore[arg-type]


def _decode_duration(data: JsonValue) -> Duration:
    months, days, seconds, nanoseconds = data
    if not all(type(part) is int for part in data) or abs(nanoseconds) > MAX_NANOSECONDS:
        raise ValueError("no duration")
    return Duration(months=months, days=days, seconds=seconds, nanoseconds=nanoseconds)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _decode_vector(data: JsonValue) -> Vector:
    kind, content = data
    vector = Vector(_decode_base64(content), kind)
    if not 0 < len(vector) <= MAX_DIMENSIONS or not all(map(_is_finite, vector.to_native())):
        raise ValueError("not a vector that Neo4j can store")
    return vector


_DECODERS: Mapping[str, Callable[[JsonValue], object]] = {
    "$integer": _decode_integer,
    "$float32": _unpacked,
    "$float": _NON_FINITE.__getitem__,
    "$bytes": _decode_base64,
    "$point": _decode_point,
    "$duration": _decode_duration,
    "$vector": _decode_vector,
}
