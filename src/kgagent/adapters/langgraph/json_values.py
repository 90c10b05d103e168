"""Values of items as JSON text."""

import json
from collections.abc import Mapping
from typing import Any

from kgagent.errors import InputError
from kgagent.formatting import has_unpaired_surrogates

MAX_CHARACTERS = 1_000_000


def to_json(value: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Write a value as JSON; it must come back as it was, except that tuples become lists.

    Returns:
        The text, and the value that it stands for.

    Raises:
        InputError: the value is no mapping, is not JSON, or is too large.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"value must be a mapping with text keys, got {type(value).__name__}")
    plain = dict(value)
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        stored: dict[str, Any] = json.loads(text)
        is_same = stored == plain
    except RecursionError:
        raise InputError("value is nested too deeply; flatten it") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"value must consist of JSON types: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"value may have at most {MAX_CHARACTERS:,} characters as JSON, got {len(text):,}; split it")
    if has_unpaired_surrogates(text):
        raise InputError("value contains an unpaired surrogate, which is not a character; remove it")
    if not is_same:
        _check_keys(plain)
    return text, stored


def _check_keys(value: object) -> None:
    """Find keys that JSON would turn into text."""
    for key in value if isinstance(value, Mapping) else ():
        if not isinstance(key, str):
            raise InputError(f"keys in value must be text, got {key!r} of type {type(key).__name__}")
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        _check_keys(inner)
