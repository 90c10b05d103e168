"""Validation of data from callers, with errors that say in one line what is wrong and how to fix
it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from kgagent.errors import InputError
from kgagent.formatting import has_unpaired_surrogates
from kgagent.names import closest_names

MAX_DEPTH = 40
"""Levels of lists and objects in one another."""

MAX_FIELDS = 200
"""Fields of one object; each unknown one is an error to describe."""

MAX_UNKNOWN_NAMES = 100
"""Unknown names at the top level that are validated; more of them only cost time."""

MAX_USER_ID = 1_000
"""Characters of a user id; with a key beside it, an index of Neo4j takes about 8,000 bytes."""

MAX_VALUE_LENGTH = 120
"""Characters of an invalid value that an error repeats."""

MAX_PROBLEMS = 10
"""Problems that one error describes."""

MAX_EXAMINED = 500
"""Errors of pydantic that are examined to describe these problems."""

_TYPES = {
    "string": "must be text",
    "string_unicode": "must be text without unpaired surrogates",
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a finite number",
    "bool": "must be true or false",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be an object",
    "mapping": "must be an object",
    "model": "must be an object",
    "model_attributes": "must be an object",
}
"""What a value must be, by pydantic's error type without its suffix."""

_LIMITS = {
    "greater_than": "must be above {gt:,g}",
    "greater_than_equal": "must be at least {ge:,g}",
    "less_than": "must be below {lt:,g}",
    "less_than_equal": "must be at most {le:,g}",
    "string_too_long": "must have at most {max_length:,} characters",
    "string_too_short": "must have at least {min_length:,} characters",
    "too_long": "must have at most {max_length:,} items",
    "too_short": "must have at least {min_length:,} items",
}
"""Limits, by pydantic's error type."""

_CHOICES = {"literal_error": "must be {expected}", "enum": "must be {expected}"}

_REQUIREMENTS = _TYPES | _LIMITS | _CHOICES

_TYPE_SUFFIXES = ("_type", "_parsing", "_from_float")
_BUILT_IN_ALTERNATIVES = {"int", "str", "float", "bool"}

ModelT = TypeVar("ModelT", bound=BaseModel)
Location = tuple[int | str, ...]


def validate(model: type[ModelT], data: object) -> ModelT:
    """Validate data as a model.

    Args:
        model: the model.
        data: a mapping, or an instance of the model.

    Raises:
        InputError: the data is invalid. The text describes the first problems.
    """
    try:
        return model.model_validate(_without_surplus_names(data, model))
    except ValidationError as error:
        raise InputError(explain_validation_error(error, model)) from error


def _without_surplus_names(data: object, model: type[BaseModel]) -> object:
    """Data without most of its unknown names, if it has very many; it is as invalid as before."""
    if not isinstance(data, Mapping) or model.model_config.get("extra") != "forbid":
        return data
    accepted = accepted_names(model)
    if len(data) <= len(accepted) + MAX_UNKNOWN_NAMES:
        return data
    kept = {*accepted, *islice((name for name in data if name not in accepted), MAX_UNKNOWN_NAMES)}
    return {name: value for name, value in data.items() if name in kept}


def check_user_id(user_id: str) -> None:
    """Refuse a user id that no record can have.

    Raises:
        InputError: it is no text, blank, longer than `MAX_USER_ID`, or contains an unpaired
            surrogate, which UTF-8 cannot encode.
    """
    if not isinstance(user_id, str):
        raise InputError(f"user_id must be text, got {type(user_id).__name__}")
    if not user_id.strip():
        raise InputError("user_id must not be empty: every call works on the graph of one user")
    if len(user_id) > MAX_USER_ID:
        raise InputError(
            f"user_id must have at most {MAX_USER_ID:,} characters, got {len(user_id):,}"
        )
    if has_unpaired_surrogates(user_id):
        raise InputError(
            f"user_id {user_id!r} contains an unpaired surrogate, which is not a character"
        )


def check_size(data: object, *, max_values: int, noun: str) -> None:
    """Check that data has not too many values, at any depth, no object too many fields, and that it
    is not too deep.

    Args:
        data: JSON types.
        max_values: maximum number of items of lists and fields of objects, at all levels together.
        noun: what the data is, for the error.

    Raises:
        InputError: it is too large; the text says what was allowed and what was given.
    """
    count = 0
    level: list[object] = [data]
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for value in level:
            if isinstance(value, Mapping):
                if len(value) > MAX_FIELDS:
                    raise InputError(
                        f"{noun} may have at most {MAX_FIELDS:,} fields in one object, got "
                        f"{len(value):,}"
                    )
                items: Collection[object] = value.values()
            elif isinstance(value, list | tuple | set | frozenset):
                items = value
            else:
                continue
            count += len(items)
            if count > max_values:
                given = (
                    f"a list of {len(items):,}"
                    if len(items) > max_values
                    else f"at least {count:,}"
                )
                raise InputError(
                    f"{noun} may have at most {max_values:,} values, got {given}. Split it"
                )
            inner.extend(items)
        if not inner:
            return
        level = inner
    raise InputError(f"{noun} may be nested at most {MAX_DEPTH} levels deep, got more. Flatten it")


@lru_cache(maxsize=1_024)
def accepted_names(model: type[BaseModel]) -> Mapping[str, str]:
    """The names that a model's fields may have in data, aliases included, each with the field's own
    name.
    """
    refused: frozenset[str] = getattr(model, "refused", frozenset())
    fields = {name: one for name, one in model.model_fields.items() if name not in refused}
    names = {name: name for name in fields}
    for name, field in fields.items():
        alias = field.validation_alias or field.alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        names |= {choice: name for choice in choices if isinstance(choice, str)}
    return names


@lru_cache(maxsize=1_024)
def models_of_fields(model: type[BaseModel]) -> Mapping[str, tuple[type[BaseModel], ...]]:
    """The models that each field of a model may hold, directly or in collections."""
    return {
        name: tuple(dict.fromkeys(_models_in(field.annotation)))
        for name, field in model.model_fields.items()
    }


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def explain_validation_error(
    error: ValidationError,
    model: type[BaseModel] | None = None,
    *,
    noun: str = "argument",
    show_values: bool = True,
) -> str:
    """Describe a validation error in one line, with the invalid values.

    Args:
        error: the error that pydantic raised.
        model: the model that was validated. With it, an unknown name is answered with the closest
            known names.
        noun: what a field is called, such as "argument" or "setting".
        show_values: whether invalid values are repeated; False for secrets.

    Returns:
        At most `MAX_PROBLEMS` problems, joined by "; ".
    """
    problems: dict[Location, list[_Problem]] = {}
    for item in islice(error.errors(include_url=False), MAX_EXAMINED):
        problem = _parse(item)
        problems.setdefault(problem.place, []).append(problem)
    # A value with problems inside of it has the right type for one alternative of a union, and is
    # long enough.
    outer = {place[:length] for place in problems for length in range(len(place))}
    inner = [found for place, found in problems.items() if place not in outer]
    describe = _Description(model, noun=noun, show_values=show_values)
    texts = list(dict.fromkeys(describe(found) for found in inner[:MAX_PROBLEMS]))
    if len(inner) > MAX_PROBLEMS:
        texts.append("and more problems of this kind")
    return "; ".join(texts)


@dataclass(frozen=True)
class _Problem:
    """One of pydantic's errors.

    Attributes:
        place: field names and list positions, without the alternatives of unions that were tried.
    """

    kind: str
    place: Location
    message: str
    context: Mapping[str, Any]
    value: object


def _parse(item: Mapping[str, Any]) -> _Problem:
    *parents, last = item["loc"] or ("",)
    # The last part of these two is always a field name, whatever it looks like.
    ends_in_name = item["type"] in {"missing", "extra_forbidden"}
    place = [part for part in parents if _is_field_or_index(part)]
    if ends_in_name or _is_field_or_index(last):
        place.append(last)
    return _Problem(item["type"], tuple(place), item["msg"], item.get("ctx", {}), item["input"])


def _is_field_or_index(part: int | str) -> bool:
    """Whether a part of a location is a field name or a list position; the others name alternatives
    of a union.
    """
    return isinstance(part, int) or (
        part.isidentifier() and part[0].islower() and part not in _BUILT_IN_ALTERNATIVES
    )


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
                return f"unknown {self._noun} {where}{self._suggestion(first.place)}"
            case "value_error":
                return self._own_text(first, where)
        # A value of the right type for one alternative need not have the type of the others.
        limits = [problem for problem in problems if problem.kind in _LIMITS]
        is_choice = any(problem.kind in _CHOICES for problem in problems)
        texts = dict.fromkeys(map(_requirement, problems if is_choice or not limits else limits))
        requirement = " or ".join(texts).replace(" or must be ", " or ")
        sized = first.kind in {"string_too_long", "too_long"} and isinstance(first.value, Sized)
        count = f"{len(first.value):,}: " if sized and isinstance(first.value, Sized) else ""
        return f"{where or f'{self._noun}s'} {requirement}{self._got(first, count)}"

    def _suggestion(self, place: Location) -> str:
        """The closest names of the object at a place, or the list of objects that have the name."""
        if self._model is None:
            return ""
        models: Sequence[type[BaseModel]] = [self._model]
        for part in place[:-1]:
            models = (
                [inner for one in models for inner in _models_at(one, part)]
                if isinstance(part, str)
                else models
            )
        name, snake = str(place[-1]), to_snake(str(place[-1]))
        names = sorted({field for one in models for field in accepted_names(one).values()})
        shown = [
            one
            for one in names
            if not any(one in getattr(model, "not_in_schema", ()) for model in models)
        ]
        others = {
            key: value for one in models for key, value in getattr(one, "other_names", {}).items()
        }
        meant = others.get(name) or others.get(snake) or (snake if snake in shown else None)
        ending = [one for one in shown if one.endswith(f"_{name}")]
        if (
            close := [meant]
            if meant
            else ending or closest_names(name, shown) or closest_names(name, names)
        ):
            return f": did you mean {' or '.join(close)}?"
        lists = [] if place[:-1] else _lists_of_objects_with(name, self._model)
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
        return (
            f", got {count}{_shortened(_represented(problem.value))}" if self._show_values else ""
        )


def _models_at(model: type[BaseModel], name: str) -> Sequence[type[BaseModel]]:
    """The models that a field may hold, by any of the field's names."""
    return models_of_fields(model).get(accepted_names(model).get(name, name), ())


def _lists_of_objects_with(name: str, model: type[BaseModel]) -> list[str]:
    """The fields of a model that hold lists of objects with such a field."""
    return [
        field
        for field, inner in models_of_fields(model).items()
        if get_origin(model.model_fields[field].annotation) in {list, tuple}
        and any(name in one.model_fields for one in inner)
    ]


def _requirement(problem: _Problem) -> str:
    if problem.kind in {"string_too_short", "too_short"} and problem.context.get("min_length") == 1:
        return "must not be empty"
    stem = next(
        (problem.kind.removesuffix(end) for end in _TYPE_SUFFIXES if problem.kind.endswith(end)),
        problem.kind,
    )
    if template := _REQUIREMENTS.get(stem):
        return template.format(**problem.context)
    return (
        problem.message if problem.message.startswith("must ") else f"is invalid: {problem.message}"
    )


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
