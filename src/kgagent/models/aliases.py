"""Other names of a node, which are among its properties."""

from collections.abc import Mapping
from typing import Any


def aliases_in(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """The other names among the properties of a node, the newest last; another program's property may be none."""
    stored = properties.get("aliases")
    return tuple(name for name in stored if isinstance(name, str)) if isinstance(stored, list) else ()
