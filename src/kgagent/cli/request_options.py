"""Options that are fields of a request model: their description, default and bounds are those of
the field.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    RequestT = TypeVar("RequestT", bound=BaseModel)

_MODULE = "kgagent.models"


def field_of(model: str, field: str, note: str = "") -> str:
    """Placeholder for the help of an option, which `RequestCommand` replaces by the description of
    a field.

    The models are not imported before help is shown, because importing pydantic slows down every
    command.

    Args:
        model: name of a model of `kgagent.models`.
        field: name of its field.
        note: what the help says in addition.
    """
    return f"{_PLACEHOLDER}{model}.{field} {note}"


_PLACEHOLDER = "field:"


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
    """Build a request from options; None and empty lists mean that an option was not given.

    Raises:
        typer.BadParameter: a value is invalid.
    """
    from kgagent.errors import InputError
    from kgagent.validation import validate

    given = {name: value for name, value in values.items() if value is not None and value != []}
    try:
        return validate(model, given)
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
