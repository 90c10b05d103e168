"""Data with single values where lists are wanted, as models write them: the lists that are meant."""

import copy
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

_LIST_ERRORS = frozenset({"list_type", "tuple_type"})


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
