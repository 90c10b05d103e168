"""Options that are fields of a request model: their description, default and bounds are those of
the field.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    RequestT = TypeVar("RequestT", bound=BaseModel)

_MODULE = "kgagent.models"
_PLACEHOLDER = "field:"


class FieldOption(NamedTuple):
    """An option for a field.

    Attributes:
        field: name of the field.
        type: of its values on the command line; a list makes an option that can be repeated.
        name: of the option; empty: that of the field.
        model: the model that has the field; empty: that of the command.
        note: what the help says in addition.
    """

    field: str
    type: Any
    name: str = ""
    model: str = ""
    note: str = ""


FILTERS = (
    FieldOption("labels", list[str], "label"),
    FieldOption("relationship_types", list[str], "relationship_type"),
    FieldOption("neo4j_types", list[str], "neo4j_type"),
    FieldOption("as_of", str),
    FieldOption("known_as_of", str),
    FieldOption("between", str),
    FieldOption("min_attitude", int),
    FieldOption("max_attitude", int),
    FieldOption("min_proximity", int),
    FieldOption("max_proximity", int),
    FieldOption("sources", bool),
    FieldOption("min_trust", str),
)
"""The filters of all searches."""


def takes_fields(
    model: str, *options: FieldOption
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with options for fields of a model of `kgagent.models`; its argument
    `fields` gets the values that are given, by field.

    The model is not imported before help is shown, because importing pydantic slows down every
    command; `RequestCommand` fills in the help texts.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [one for one in signature(command).parameters.values() if one.name != "fields"]
        made = [_parameter(option, model) for option in options]

        @wraps(command)
        def run(**values: Any) -> None:  # noqa: ANN401 - as typer reads them
            given = {option.field: values.pop(option.name or option.field) for option in options}
            fields = {field: value for field, value in given.items() if value not in (None, [])}
            command(**values, fields=fields)

        every = sorted([*made, *own], key=lambda one: one.kind)
        run.__signature__ = signature(command).replace(parameters=every)  # type: ignore[attr-defined]
        return run

    return decorate


def _parameter(option: FieldOption, model: str) -> Parameter:
    is_list = option.type == list[str]
    text = " ".join(filter(None, (option.note, "Can be repeated." if is_list else "")))
    place = f"{_PLACEHOLDER}{option.model or model}.{option.field} {text}"
    return Parameter(
        option.name or option.field,
        Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[option.type | None, typer.Option(help=place)],
    )


class RequestCommand(TyperCommand):
    """A command that fills in help texts from request models."""

    def parse_args(self, ctx: object, args: list[str]) -> list[str]:
        """Fill in the help texts if help is requested."""
        if "--help" in args:
            self.fill_in_help()
        try:
            return super().parse_args(cast("typer.Context", ctx), args)
        except typer.BadParameter as error:
            _explain(error)
            raise

    def fill_in_help(self) -> None:
        """Replace placeholders by the description, default and bounds of the field."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if isinstance(text, str) and text.startswith(_PLACEHOLDER):
                parameter.help = _field_help(text.removeprefix(_PLACEHOLDER))  # type: ignore[attr-defined]


def build_request(model: "type[RequestT]", **values: Any) -> "RequestT":  # noqa: ANN401
    """Build a request from options.

    Raises:
        typer.BadParameter: a value is invalid.
    """
    from kgagent.errors import InputError
    from kgagent.validation import validate

    try:
        return validate(model, values)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def _explain(error: typer.BadParameter) -> None:
    """Replace the text of pydantic, with which typer validates values, by that of other invalid
    arguments.
    """
    from pydantic import ValidationError

    from kgagent.validation import explain_validation_error

    cause = error.__cause__
    if isinstance(cause, ValidationError):
        own = [
            str(item["ctx"]["error"]) for item in cause.errors() if item["type"] == "value_error"
        ]
        error.message = (
            own[0] if own else explain_validation_error(cause, noun="value").removeprefix("values ")
        )


def _field_help(reference: str) -> str:
    place, _, note = reference.partition(" ")
    model_name, _, field_name = place.partition(".")
    field: FieldInfo = getattr(import_module(_MODULE), model_name).model_fields[field_name]
    bounds = _bounds(field)
    facts = [
        *([f"default: {field.default}"] if _has_plain_default(field) else []),
        *([bounds] if bounds else []),
    ]
    # A bracket opens markup in rich.
    facts_text = f" [dim]\\[{'; '.join(facts)}][/dim]" if facts else ""
    description = (field.description or "").replace("[", r"\[")
    return f"{description}{' ' + note if note else ''}{facts_text}"


def _has_plain_default(field: "FieldInfo") -> bool:
    return isinstance(field.default, int | float | str) and not isinstance(field.default, bool)


def _bounds(field: "FieldInfo") -> str:
    minimum = next((item.ge for item in field.metadata if hasattr(item, "ge")), None)
    maximum = next((item.le for item in field.metadata if hasattr(item, "le")), None)
    if minimum is None or maximum is None:
        return ""
    return f"{minimum:g} to {maximum:g}"
