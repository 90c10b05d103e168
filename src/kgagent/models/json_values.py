"""JSON values without those that are empty."""

from collections.abc import Mapping
from typing import Any


def without_empty(value: Any) -> Any:  # noqa: ANN401
    """Omit None, empty texts, empty lists and empty mappings inside of mappings."""
    if isinstance(value, Mapping):
        kept = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [without_empty(item) for item in value]
    return value
