"""What is wrong with a model's arguments, in words that it can act on."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from kgagent.errors import InputError
from kgagent.suggestions import closest_names
from kgagent.tools.argument_names import names_at

MAX_VALUE_LENGTH = 120
"""Characters of a wrong value that an error repeats."""

_KINDS = {
    "string": "text",
    "string_unicode": "text without halves of surrogate pairs",
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a finite number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
    "model_attributes": "an object",
}
"""What a value must be, by the kind that pydantic names it with."""

_LIMITS = {
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
}
_CHOICES = {"literal_error", "enum"}

Location = tuple[int | str, ...]


@dataclass(frozen=True)
class _Wrong:
    """One of pydantic's errors.

    Attributes:
        location: names and places in lists, and between them the alternatives of unions that were tried.
        place: the same without alternatives.
        tries: where in the location the alternatives stand.
    """

    kind: str
    location: Location
    place: Location
    tries: tuple[int, ...]
    message: str
    context: Mapping[str, Any]
    value: object

    @property
    def is_of_names(self) -> bool:
        return self.kind in {"missing", "extra_forbidden"}


def explain(error: ValidationError, arguments: type[BaseModel] | None = None) -> str:
    """Say in one line what is wrong with a model's arguments, with the values.

    Args:
        error: what pydantic found.
        arguments: what the arguments should have been; with it, the nearest name is told for one that is unknown.
    """
    wrong = [_read(dict(item)) for item in error.errors(include_url=False)]
    found: dict[Location, list[_Wrong]] = {}
    for item in _likely([item for item in wrong if not _is_false(item)]):
        found.setdefault(item.place, []).append(item)
    return "; ".join(dict.fromkeys(_told(items, arguments) for items in found.values()))


def _read(item: Mapping[str, Any]) -> _Wrong:
    location: Location = tuple(item["loc"])
    # The last part of these two is always a name, whatever it looks like.
    named = len(location) - 1 if item["type"] in {"missing", "extra_forbidden"} else None
    tries = tuple(i for i, part in enumerate(location) if i != named and not _is_place(part))
    place = tuple(part for i, part in enumerate(location) if i not in tries)
    return _Wrong(item["type"], location, place, tries, item["msg"], item.get("ctx", {}), item["input"])


def _is_false(item: _Wrong) -> bool:
    """Whether a list is called too short only because what stands in it is wrong."""
    return item.kind == "too_short" and isinstance(item.value, Sized) and len(item.value) >= item.context["min_length"]


def _likely(wrong: Sequence[_Wrong]) -> list[_Wrong]:
    """Leave out what is wrong with those alternatives of a union that were not did_you_mean."""
    kept = list(wrong)
    unions = {item.location[:at] for item in wrong for at in item.tries}
    for union in sorted(unions, key=len):
        at = len(union)
        tried: dict[int | str, list[_Wrong]] = {}
        for item in kept:
            if item.location[:at] == union and at in item.tries:
                tried.setdefault(item.location[at], []).append(item)
        inside = {name: items for name, items in tried.items() if any(len(item.location) > at + 1 for item in items)}
        if inside:
            misnamed = {name: sum(item.is_of_names for item in items) for name, items in inside.items()}
            did_you_mean = {name for name, count in misnamed.items() if count == min(misnamed.values())}
            unlikely = {id(item) for name, items in tried.items() if name not in did_you_mean for item in items}
            kept = [item for item in kept if id(item) not in unlikely]
    return kept


def _told(items: Sequence[_Wrong], arguments: type[BaseModel] | None) -> str:
    """What is wrong at one place; the alternatives of a union in one sentence."""
    first = items[0]
    where = ".".join(_shortened(str(part)) for part in first.place)
    match first.kind:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            return f"{where} is not an argument of this tool{_meant(first, arguments)}"
        case "value_error":
            return _told_by_us(first, where)
    # A value that is of the right kind for one alternative need not be of that for the others.
    of_its_kind = [item for item in items if item.kind in _LIMITS] if _has_its_kind(items) else items
    words = list(dict.fromkeys(map(_words, of_its_kind)))
    said = " or ".join([words[0], *(word.removeprefix("must be ") for word in words[1:])])
    return f"{where or 'arguments'} {said}, got {_shortened(_represented(first.value))}"


def _meant(item: _Wrong, arguments: type[BaseModel] | None) -> str:
    close = (
        closest_names(str(item.location[-1]), names_at(arguments, item.location[:-1])) if arguments is not None else []
    )
    return f": did you mean {' or '.join(close)}?" if close else ""


def _told_by_us(item: _Wrong, where: str) -> str:
    """What a check of ours says; it tells the value itself where that is one of many parts."""
    error = item.context["error"]
    if isinstance(error, InputError):
        return str(error)
    said = f"{where}: {error}" if where else str(error)
    is_told = " got " in said or isinstance(item.value, Mapping | BaseModel)
    return said if is_told else f"{said}, got {_shortened(_represented(item.value))}"


def _words(item: _Wrong) -> str:
    kind = next(
        (item.kind.removesuffix(end) for end in ("_type", "_parsing", "_from_float") if item.kind.endswith(end)), ""
    )
    if item.kind in _KINDS or kind in _KINDS:
        return f"must be {_KINDS.get(item.kind) or _KINDS[kind]}"
    least = item.context.get("min_length")
    if item.kind in {"string_too_short", "too_short"} and least == 1:
        return "must not be empty"
    if item.kind in _LIMITS:
        return _LIMITS[item.kind].format(**_shown_limits(item.context))
    if item.kind in _CHOICES:
        return f"must be {item.context['expected']}"
    return item.message if item.message.startswith("must ") else f"is wrong: {item.message}"


def _has_its_kind(items: Sequence[_Wrong]) -> bool:
    kinds = {item.kind for item in items}
    return bool(kinds & _LIMITS.keys()) and not kinds & _CHOICES


def _shown_limits(context: Mapping[str, Any]) -> dict[str, str]:
    return {name: f"{limit:,g}" for name, limit in context.items() if isinstance(limit, int | float)}


def _represented(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + "..."


def _is_place(part: int | str) -> bool:
    """Whether part of an error's path stands in the arguments; the others name the alternatives of a union."""
    return isinstance(part, int) or (part.isidentifier() and part[0].islower() and part not in {"int", "str", "float"})
