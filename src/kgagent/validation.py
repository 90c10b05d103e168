"""Validation of data from callers, with errors that say in one line what is wrong and how to fix it."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from pydantic import AliasChoices, BaseModel, ValidationError

from kgagent.errors import InputError
from kgagent.formatting import has_unpaired_surrogates
from kgagent.validation_errors import explain_validation_error

__all__ = ["accepted_names", "check_user_id", "explain_validation_error", "validate"]

MAX_UNKNOWN_NAMES = 100
"""Unknown names at the top level that are validated; more of them only cost time."""

MAX_USER_ID = 1_000
"""Characters of a user id; with a key beside it, an index of Neo4j takes about 8,000 bytes."""

ModelT = TypeVar("ModelT", bound=BaseModel)


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
    kept = accepted | {*islice((name for name in data if name not in accepted), MAX_UNKNOWN_NAMES)}
    return {name: value for name, value in data.items() if name in kept}


def check_user_id(user_id: str) -> None:
    """Refuse a user id that no record can have.

    Raises:
        InputError: it is no text, blank, longer than `MAX_USER_ID`, or contains an unpaired surrogate, which UTF-8
            cannot encode.
    """
    if not isinstance(user_id, str):
        raise InputError(f"user_id must be text, got {type(user_id).__name__}")
    if not user_id.strip():
        raise InputError("user_id must not be empty: every call works on the graph of one user")
    if len(user_id) > MAX_USER_ID:
        raise InputError(f"user_id must have at most {MAX_USER_ID:,} characters, got {len(user_id):,}")
    if has_unpaired_surrogates(user_id):
        raise InputError(f"user_id {user_id!r} contains an unpaired surrogate, which is not a character")


@lru_cache(maxsize=1_024)
def accepted_names(model: type[BaseModel]) -> frozenset[str]:
    """The names that a model's fields may have in data, aliases included."""
    names = set(model.model_fields)
    for field in model.model_fields.values():
        alias = field.validation_alias or field.alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        names |= {choice for choice in choices if isinstance(choice, str)}
    return frozenset(names)
