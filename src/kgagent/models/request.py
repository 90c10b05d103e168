"""The base class of request models, which accept values in the forms in which language models write
them.
"""

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

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
    is expected, and null for what they omit. All of that is accepted, at any depth: null means the
    default.

    Attributes:
        not_in_schema: fields that are accepted but omitted from the JSON schema, which a language
            model reads.
        last_in_schema: fields that the JSON schema has after all others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    not_in_schema: ClassVar[frozenset[str]] = frozenset()
    last_in_schema: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, given: object) -> object:
        """Convert the forms in which language models write values."""
        if isinstance(given, str):
            parsed = parsed_json(given)
            given = parsed if isinstance(parsed, Mapping) else given
        if not isinstance(given, Mapping):
            return given
        accepted = _accepted(cls)
        return {
            name: accepted[name].convert(value) if name in accepted else value
            for name, value in given.items()
            if value is not None or name not in accepted
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The JSON schema without the fields of `not_in_schema`, also those of base classes."""
        made = handler(schema)
        resolved = handler.resolve_ref_schema(made)
        hidden = {name for base in cls.__mro__ for name in getattr(base, "not_in_schema", ())}
        parts = resolved["properties"]
        shown = sorted(
            parts.keys() - hidden,
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
    """What a field accepts."""

    lists: bool
    objects: bool
    text: bool

    def convert(self, value: object) -> object:
        """The value in the form that the field accepts, if it has one."""
        parsed = parsed_json(value) if self.lists or self.objects else value
        if isinstance(parsed, list) and self.lists:
            return parsed
        if isinstance(parsed, Mapping) and (self.lists or self.objects):
            return parsed if self.objects else [parsed]
        is_item = isinstance(value, str) and value.lstrip()[:1] not in {"[", ""}
        return [value] if is_item and self.lists and not self.text else value


@lru_cache(maxsize=1_024)
def _accepted(model: type[BaseModel]) -> Mapping[str, _Accepted]:
    """What the fields of a model accept, by each of their names."""
    by_field: dict[str, _Accepted] = {}
    for name, field in model.model_fields.items():
        types = set(_types(field.annotation))
        by_field[name] = _Accepted(
            lists=any(
                issubclass(one, Sequence | AbstractSet) and not issubclass(one, str)
                for one in types
            ),
            objects=any(issubclass(one, Mapping | BaseModel) for one in types),
            text=any(issubclass(one, str) for one in types),
        )
    return {name: by_field[field] for name, field in accepted_names(model).items()}


def _types(annotation: Any) -> set[type]:  # noqa: ANN401
    """The classes of the alternatives of an annotation."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _types(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return {one for argument in get_args(annotation) for one in _types(argument)}
    chosen = origin or annotation
    return {chosen} if isinstance(chosen, type) else set()
