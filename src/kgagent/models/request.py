"""The base class of request models, which accept values in the forms in which language models write
them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import lru_cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails

from kgagent.errors import InputError
from kgagent.validation import accepted_names, check_size, explain_validation_error

MAX_VALUES = 6_000
"""Values of the arguments of a call, at any depth; validating and describing more would hold up the
event loop.
"""


class RequestModel(BaseModel):
    """Base of requests: frozen, without unknown fields, and constructed with `InputError` instead
    of pydantic's error.

    `model_validate` and `model_validate_json` raise pydantic's `ValidationError`, as frameworks
    that call them expect; `kgagent.validation.validate` raises `InputError`.

    Language models and their frameworks write lists and objects as JSON text, one item where a list
    is expected, a choice in another letter case, and null or an empty text or list for what they
    omit. All of that is accepted, at any depth: null means the default, and so does an empty value
    that an optional field refuses.

    Attributes:
        not_in_schema: fields that are accepted but omitted from the JSON schema, which a language
            model reads.
        last_in_schema: fields that the JSON schema has after all others.
        refused: fields of a base class that are neither in the JSON schema nor accepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    not_in_schema: ClassVar[frozenset[str]] = frozenset()
    last_in_schema: ClassVar[frozenset[str]] = frozenset()
    refused: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, given: object) -> object:
        """Convert the forms in which language models write values."""
        if isinstance(given, str):
            parsed = parsed_json(given)
            given = parsed if isinstance(parsed, Mapping) else given
        if not isinstance(given, Mapping):
            return given
        if refused := cls.refused & given.keys():
            raise ValidationError.from_exception_data(
                cls.__name__,
                [
                    InitErrorDetails(type="extra_forbidden", loc=(name,), input=given[name])
                    for name in sorted(refused)
                ],
            )
        accepted = _accepted(cls)
        return {
            name: accepted[name].convert(value) if name in accepted else value
            for name, value in given.items()
            if name not in accepted or not _means_nothing(cls, accepted[name].field, value)
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The JSON schema without the fields of `not_in_schema`, also those of base classes, and
        of `refused`.
        """
        made = handler(schema)
        resolved = handler.resolve_ref_schema(made)
        hidden = {name for base in cls.__mro__ for name in getattr(base, "not_in_schema", ())}
        parts = resolved["properties"]
        shown = sorted(
            parts.keys() - hidden - cls.refused,
            key=lambda name: (name in cls.last_in_schema, list(parts).index(name)),
        )
        resolved["properties"] = {name: parts[name] for name in shown}
        if required := [name for name in resolved.pop("required", ()) if name not in hidden]:
            resolved["required"] = required
        return made

    # A type checker uses the constructor that it derives from the fields.
    if not TYPE_CHECKING:

        def __init__(self, /, **data: Any) -> None:  # noqa: ANN401
            """Check the fields.

            Raises:
                InputError: a field is invalid; the text says which, and why.
            """
            __tracebackhide__ = True
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise InputError(
                    explain_validation_error(error, type(self), noun="field")
                ) from error

        # pydantic would call any other constructor for nested models too, and lose where in them an
        # error is.
        __init__.__pydantic_base_init__ = True


def parsed_json(text: object) -> object:
    """The list or object that a text holds as JSON; any other value as it is.

    Raises:
        InputError: it has too many values.
    """
    if not isinstance(text, str) or text.lstrip()[:1] not in {"[", "{"}:
        return text
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    check_size(parsed, max_values=MAX_VALUES, noun="JSON as text")
    return parsed


class _Accepted(NamedTuple):
    """What a field accepts.

    Attributes:
        field: the field's own name.
        lists: whether a list.
        objects: whether an object.
        text: whether any text.
        choices: the texts of a choice, by their plain form.
    """

    field: str
    lists: bool
    objects: bool
    text: bool
    choices: Mapping[str, str]

    def convert(self, value: object) -> object:
        """The value in the form that the field accepts, if it has one."""
        if self.choices and isinstance(value, str):
            value = self.choices.get(_plain_choice(value), value)
        parsed = parsed_json(value) if self.lists or self.objects else value
        if isinstance(parsed, list) and self.lists:
            return [
                self.choices.get(_plain_choice(one), one) if isinstance(one, str) else one
                for one in parsed
            ]
        if isinstance(parsed, Mapping) and (self.lists or self.objects):
            return parsed if self.objects else [parsed]
        is_item = isinstance(value, str) and value.lstrip()[:1] not in {"[", ""}
        return [value] if is_item and self.lists and not self.text else value


@lru_cache(maxsize=1_024)
def _accepted(model: type[BaseModel]) -> Mapping[str, _Accepted]:
    """What the fields of a model accept, by each of their names."""
    by_field: dict[str, _Accepted] = {}
    for name, field in model.model_fields.items():
        types = _types(field.annotation)
        by_field[name] = _Accepted(
            field=name,
            lists=any(
                issubclass(one, Sequence | AbstractSet) and not issubclass(one, str)
                for one in types
            ),
            objects=any(issubclass(one, Mapping | BaseModel) for one in types),
            text=any(issubclass(one, str) for one in types),
            choices={_plain_choice(one): one for one in _choices(field.annotation)},
        )
    return {name: by_field[field] for name, field in accepted_names(model).items()}


def _means_nothing(model: type[BaseModel], name: str, value: object) -> bool:
    """Whether a value says that a field is not given."""
    if value is None:
        return True
    is_empty = not value.strip() if isinstance(value, str) else value in ([], ())
    return (
        is_empty
        and not model.model_fields[name].is_required()
        and _refuses_empty(model, name, is_text=isinstance(value, str))
    )


@lru_cache(maxsize=1_024)
def _refuses_empty(model: type[BaseModel], name: str, *, is_text: bool) -> bool:
    annotation = model.model_fields[name].rebuild_annotation()
    try:
        TypeAdapter(annotation).validate_python("" if is_text else [])
    except ValidationError:
        return True
    return False


def _plain_choice(text: str) -> str:
    return text.strip().casefold().replace("-", "_").replace(" ", "_")


def _choices(annotation: Any) -> Iterator[str]:  # noqa: ANN401
    """The texts of literals and enumerations in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield from annotation
    elif get_origin(annotation) is Literal:
        yield from (one for one in get_args(annotation) if isinstance(one, str))
    else:
        for part in get_args(annotation):
            yield from _choices(part)


def _types(annotation: Any) -> set[type]:  # noqa: ANN401
    """The classes of the alternatives of an annotation."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _types(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return {one for argument in get_args(annotation) for one in _types(argument)}
    chosen = origin or annotation
    return {chosen} if isinstance(chosen, type) else set()
