"""Lets an LLM agent keep a knowledge graph in Neo4j, and search its relationships by meaning.

Every public exception, request and result can be imported from here. A name is imported when it is
first used, so that `import kgagent` costs next to nothing. `__init__.pyi` lists the names.
"""

import re
from importlib import import_module
from pkgutil import get_data

_MODULES: dict[str, str] = {
    name: module
    for module, name in re.findall(
        r"^from (\S+) import (\w+) as",
        (get_data(__name__, "__init__.pyi") or b"").decode(),
        re.MULTILINE,
    )
}
"""The module of each public name."""

__all__ = sorted(_MODULES)  # noqa: PLE0605 - type checkers read __init__.pyi


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module 'kgagent' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
