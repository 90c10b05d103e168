"""The base class of request models."""

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kgagent.errors import InputError
from kgagent.validation import explain_validation_error


class RequestModel(BaseModel):
    """Base of requests: frozen, without unknown fields, and constructed with `InputError` instead of pydantic's error.

    `model_validate` and `model_validate_json` raise pydantic's `ValidationError`, as frameworks that call them expect;
    `kgagent.validation.validate` raises `InputError`.

    Attributes:
        not_in_schema: fields that are accepted but omitted from the JSON schema, which a language model reads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    not_in_schema: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The JSON schema without the fields of `not_in_schema`, also those of base classes."""
        made = handler(schema)
        fields = handler.resolve_ref_schema(made).get("properties", {})
        for base in cls.__mro__:
            for name in getattr(base, "not_in_schema", frozenset()):
                fields.pop(name, None)
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
                raise InputError(explain_validation_error(error, type(self), noun="field")) from error

        # pydantic would call any other constructor for nested models too, and lose where in them an error is.
        __init__.__pydantic_base_init__ = True
