"""Data with single values where lists are wanted, as models write them: the lists that are meant."""

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from kgagent.errors import InputError

Result = TypeVar("Result")

_LIST_ERRORS = frozenset({"list_type", "tuple_type"})


def validated_with_lists(
    validate: Callable[[Any], Result], data: object, error: ValidationError | InputError
) -> Result:
    """Validate data that is invalid once more, `with_lists`.

    Args:
        validate: raises a ValidationError, or an InputError that one caused.
        data: as it was given.
        error: why it is invalid.

    Raises:
        InputError: the error, if the data is invalid with lists, too.
        ValidationError: likewise.
    """
    cause = error if isinstance(error, ValidationError) else error.__cause__
    lenient = with_lists(cause, data) if isinstance(cause, ValidationError) else None
    if lenient is not None:
        with suppress(ValidationError, InputError):
            return validate(lenient)
    raise error


def with_lists(error: ValidationError, data: object) -> dict[str, Any] | None:
    """A copy of invalid data with a list of one in place of each value that should be a list, and without null lists.

    A text that could itself be a list in JSON is left as it is.

    Args:
        error: what is wrong with the data.
        data: as it was given.

    Returns:
        None if nothing was changed.
    """
    if not isinstance(data, Mapping):
        return None
    changed: dict[str, Any] | None = None
    for item in error.errors(include_url=False, include_context=False):
        *path, name = item["loc"] or ("",)
        value = item["input"]
        if item["type"] not in _LIST_ERRORS or not _may_be_item(value):
            continue
        changed = changed or copy.deepcopy(dict(data))
        holder: Any = changed
        for part in path:
            holder = holder[part] if _has(holder, part) else None
        if isinstance(holder, dict) and name in holder and holder[name] == value:
            if value is None:
                del holder[name]
            else:
                holder[name] = [value]
    return changed


def _may_be_item(value: object) -> bool:
    return (
        value is None or isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip()[:1] not in {"[", ""})
    )


def _has(holder: object, part: int | str) -> bool:
    if isinstance(holder, list) and isinstance(part, int):
        return part < len(holder)
    return isinstance(holder, dict) and part in holder
