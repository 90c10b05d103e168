"""Describes validation errors in one line: what is wrong, and how to fix it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from kgagent.errors import InputError
from kgagent.suggestions import closest_names

MAX_VALUE_LENGTH = 120
"""Characters of an invalid value that an error repeats."""

MAX_PROBLEMS = 10
"""Problems that one error describes."""

MAX_EXAMINED = 500
"""Errors of pydantic that are examined to describe these problems."""

_TYPE_NAMES = {
    "string": "text",
    "string_unicode": "text without unpaired surrogates",
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
"""What a value must be, by pydantic's error type without its suffix."""

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
_COUNTED = {"string_too_long", "too_long"}
"""Limits of a size; the error says how large the value is."""

_CHOICES = {"literal_error", "enum"}
_TYPE_SUFFIXES = ("_type", "_parsing", "_from_float")
_BUILT_IN_ALTERNATIVES = {"int", "str", "float", "bool"}

Location = tuple[int | str, ...]


def explain_validation_error(
    error: ValidationError, model: type[BaseModel] | None = None, *, noun: str = "argument", show_values: bool = True
) -> str:
    """Describe a validation error in one line, with the invalid values.

    Args:
        error: the error that pydantic raised.
        model: the model that was validated. With it, an unknown name is answered with the closest known names.
        noun: what a field is called, such as "argument" or "setting".
        show_values: whether invalid values are repeated; False for secrets.

    Returns:
        At most `MAX_PROBLEMS` problems, joined by "; ".
    """
    problems = map(_parse, islice(error.errors(include_url=False), MAX_EXAMINED))
    by_place: dict[Location, list[_Problem]] = {}
    for problem in _without_unlikely_alternatives([p for p in problems if not _is_consequence(p)]):
        by_place.setdefault(problem.place, []).append(problem)
    describe = _Description(model, noun=noun, show_values=show_values)
    texts = list(dict.fromkeys(describe(found) for found in islice(by_place.values(), MAX_PROBLEMS)))
    if len(by_place) > MAX_PROBLEMS:
        texts.append("and more problems of this kind")
    return "; ".join(texts)


@dataclass(frozen=True)
class _Problem:
    """One of pydantic's errors.

    Attributes:
        location: field names and list positions, and between them the alternatives of unions that were tried.
        place: the same without alternatives.
        alternatives: positions of the alternatives in `location`.
    """

    kind: str
    location: Location
    place: Location
    alternatives: tuple[int, ...]
    message: str
    context: Mapping[str, Any]
    value: object

    @property
    def is_about_a_name(self) -> bool:
        return self.kind in {"missing", "extra_forbidden"}


def _parse(item: Mapping[str, Any]) -> _Problem:
    location: Location = tuple(item["loc"])
    # The last part of these two is always a field name, whatever it looks like.
    field_name = len(location) - 1 if item["type"] in {"missing", "extra_forbidden"} else None
    alternatives = tuple(i for i, part in enumerate(location) if i != field_name and not _is_field_or_index(part))
    place = tuple(part for i, part in enumerate(location) if i not in alternatives)
    return _Problem(item["type"], location, place, alternatives, item["msg"], item.get("ctx", {}), item["input"])


def _is_consequence(problem: _Problem) -> bool:
    """Whether a list is reported as too short only because its items are invalid."""
    return (
        problem.kind == "too_short"
        and isinstance(problem.value, Sized)
        and len(problem.value) >= problem.context["min_length"]
    )


def _without_unlikely_alternatives(problems: Sequence[_Problem]) -> list[_Problem]:
    """Drop the problems of those alternatives of a union that the caller hardly meant."""
    unions: defaultdict[Location, list[_Problem]] = defaultdict(list)
    for problem in problems:
        for at in problem.alternatives:
            unions[problem.location[:at]].append(problem)
    dropped: set[int] = set()
    for union in sorted(unions, key=len):
        at = len(union)
        tried: defaultdict[int | str, list[_Problem]] = defaultdict(list)
        for problem in unions[union]:
            if id(problem) not in dropped:
                tried[problem.location[at]].append(problem)
        entered = {name: found for name, found in tried.items() if any(len(p.location) > at + 1 for p in found)}
        if entered:
            misnamed = {name: sum(p.is_about_a_name for p in found) for name, found in entered.items()}
            meant = {name for name, count in misnamed.items() if count == min(misnamed.values())}
            dropped |= {id(p) for name, found in tried.items() if name not in meant for p in found}
    return [problem for problem in problems if id(problem) not in dropped]


class _Description:
    """Describes the problems of one place."""

    def __init__(self, model: type[BaseModel] | None, *, noun: str, show_values: bool) -> None:
        self._model = model
        self._noun = noun
        self._show_values = show_values

    def __call__(self, problems: Sequence[_Problem]) -> str:
        """Describe the problems of a place; the alternatives of a union share a sentence."""
        first = problems[0]
        where = ".".join(_shortened(str(part)) for part in first.place)
        match first.kind:
            case "missing":
                return f"{where} is missing"
            case "extra_forbidden":
                return f"unknown {self._noun} {where}{self._suggestion(first)}"
            case "value_error":
                return self._own_text(first, where)
        # A value of the right type for one alternative need not have the type of the others.
        relevant = [p for p in problems if p.kind in _LIMITS] if _has_expected_type(problems) else problems
        texts = list(dict.fromkeys(map(_requirement, relevant)))
        requirement = " or ".join([texts[0], *(text.removeprefix("must be ") for text in texts[1:])])
        count = f"{len(first.value):,}: " if first.kind in _COUNTED and isinstance(first.value, Sized) else ""
        return f"{where or f'{self._noun}s'} {requirement}{self._got(first, count)}"

    def _suggestion(self, problem: _Problem) -> str:
        if self._model is None:
            return ""
        name, place = str(problem.location[-1]), problem.location[:-1]
        shown = field_names_at(self._model, place, in_schema=True)
        meant = _meant(name, _models_at(self._model, place), shown)
        ending = [one for one in shown if one.endswith(f"_{name}")]
        close = meant or ending or closest_names(name, shown) or closest_names(name, field_names_at(self._model, place))
        if close:
            return f": did you mean {' or '.join(close)}?"
        lists = [] if place else _lists_of_objects_with(name, self._model)
        return f": put it into {' or '.join(f'{one}: [{{…}}]' for one in lists)}" if lists else ""

    def _own_text(self, problem: _Problem, where: str) -> str:
        """The text that a validator of kgagent raised."""
        error = problem.context["error"]
        if isinstance(error, InputError):
            return str(error)
        text = f"{where}: {error}" if where else str(error)
        has_value = " got " in text or isinstance(problem.value, Mapping | BaseModel)
        return text if has_value else text + self._got(problem)

    def _got(self, problem: _Problem, count: str = "") -> str:
        return f", got {count}{_shortened(_represented(problem.value))}" if self._show_values else ""


def field_names_at(model: type[BaseModel], location: Sequence[int | str], *, in_schema: bool = False) -> list[str]:
    """The field names of the object at a location.

    Args:
        model: the model that was validated.
        location: field names, list positions and, in a union, the names of the alternative's class, as in pydantic's
            errors.
        in_schema: whether to omit fields that are not described to a language model.
    """
    models = _models_at(model, location)
    hidden = {name for one in models for name in getattr(one, "not_in_schema", ())} if in_schema else set()
    return sorted({name for one in models for name in models_of_fields(one)} - hidden)


def _models_at(model: type[BaseModel], location: Sequence[int | str]) -> Sequence[type[BaseModel]]:
    models: Sequence[type[BaseModel]] = (model,)
    for part in location:
        if named := [one for one in models if one.__name__ == part]:
            models = named
        elif isinstance(part, str):
            name = to_snake(part)
            models = [inner for one in models for inner in models_of_fields(one).get(name, ())] or models
    return models


def _meant(name: str, models: Iterable[type[BaseModel]], shown: Collection[str]) -> list[str]:
    """The name that is meant by another name of it, or by its spelling in camel case."""
    snake = to_snake(name)
    others = {key: value for model in models for key, value in getattr(model, "other_names", {}).items()}
    return [meant] if (meant := others.get(name) or others.get(snake) or (snake if snake in shown else None)) else []


def _lists_of_objects_with(name: str, model: type[BaseModel]) -> list[str]:
    """The fields of a model that hold lists of objects with such a field."""
    fields = models_of_fields(model).items()
    lists = [field for field, _ in fields if get_origin(model.model_fields[field].annotation) in {list, tuple}]
    return [field for field, inner in fields if field in lists and any(name in one.model_fields for one in inner)]


@lru_cache(maxsize=1_024)
def models_of_fields(model: type[BaseModel]) -> Mapping[str, tuple[type[BaseModel], ...]]:
    """The models that each field of a model may hold, directly or in collections."""
    return {name: tuple(dict.fromkeys(_models_in(field.annotation))) for name, field in model.model_fields.items()}


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _requirement(problem: _Problem) -> str:
    type_name = next(
        (problem.kind.removesuffix(suffix) for suffix in _TYPE_SUFFIXES if problem.kind.endswith(suffix)), problem.kind
    )
    if problem.kind in _TYPE_NAMES or type_name in _TYPE_NAMES:
        return f"must be {_TYPE_NAMES.get(problem.kind) or _TYPE_NAMES[type_name]}"
    if problem.kind in {"string_too_short", "too_short"} and problem.context.get("min_length") == 1:
        return "must not be empty"
    if problem.kind in _LIMITS:
        return _LIMITS[problem.kind].format(**_formatted_limits(problem.context))
    if problem.kind in _CHOICES:
        return f"must be {problem.context['expected']}"
    return problem.message if problem.message.startswith("must ") else f"is invalid: {problem.message}"


def _has_expected_type(problems: Sequence[_Problem]) -> bool:
    kinds = {problem.kind for problem in problems}
    return bool(kinds & _LIMITS.keys()) and not kinds & _CHOICES


def _formatted_limits(context: Mapping[str, Any]) -> dict[str, str]:
    return {name: f"{limit:,g}" for name, limit in context.items() if isinstance(limit, int | float)}


def _represented(value: object) -> str:
    # A large value is cut first: its whole representation would be made only to be shortened.
    if isinstance(value, str | list | tuple):
        value = value[: MAX_VALUE_LENGTH + 1]
    elif isinstance(value, dict):
        value = dict(islice(value.items(), MAX_VALUE_LENGTH))
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to display"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + "..."


def _is_field_or_index(part: int | str) -> bool:
    """Whether a part of a location is a field name or a list position; the others name alternatives of a union."""
    return isinstance(part, int) or (part.isidentifier() and part[0].islower() and part not in _BUILT_IN_ALTERNATIVES)
