"""The Cypher statements, read from `kgagent/cypher`."""

import re
from functools import cache
from importlib import resources

from kgagent.graph.identifiers import Identifier

_PLACE = re.compile(r"«(\w+)»")


@cache
def statement(name: str, **identifiers: Identifier) -> str:
    """Read a statement and put names and shared fragments into their places.

    Args:
        name: the file's name without `.cypher`.
        identifiers: a quoted name for each place `«so»` in the file; a place `«_so»` takes the file of that name.

    Raises:
        KeyError: the file has a place for which no name was given.
    """

    def fill(place: re.Match[str]) -> str:
        wanted = place.group(1)
        return statement(wanted, **identifiers) if wanted.startswith("_") else identifiers[wanted]

    text = resources.files("kgagent.cypher").joinpath(f"{name}.cypher").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("//"))
    return _PLACE.sub(fill, "\n".join(lines)).strip()
