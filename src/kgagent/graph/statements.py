"""The Cypher statements, read from `kgagent/cypher`."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Self

from kgagent.graph.identifiers import Identifier

_PLACE = re.compile(r"«(\w+)»")


@dataclass(frozen=True)
class Fragment:
    """One of several shared fragments that a place can take; its file's name without `.cypher`."""

    name: str


Filling = Identifier | Fragment
"""What a place takes: a quoted name, or a fragment that the caller chooses."""

UNNAMED = "unnamed"


class Statement(str):
    """Cypher with the name under which the server and observers are told of it.

    Attributes:
        name: that of its file, where it has one.
    """

    __slots__ = ("name",)
    name: str

    def __new__(cls, text: str, name: str) -> Self:
        """Name a text."""
        named = super().__new__(cls, text)
        named.name = name
        return named


def name_of(text: str) -> str:
    """The name of a statement; plain texts have none."""
    return text.name if isinstance(text, Statement) else UNNAMED


@cache
def statement(name: str, **places: Filling) -> Statement:
    """Read a statement and put names and shared fragments into their places.

    Args:
        name: the file's name without `.cypher`.
        places: what each place `«so»` in the file takes; a place `«_so»` takes the file of that name.

    Raises:
        KeyError: the file has a place for which nothing was given.
    """

    def fill(place: re.Match[str]) -> str:
        wanted = place.group(1)
        filling = Fragment(wanted) if wanted.startswith("_") else places[wanted]
        return statement(filling.name, **places) if isinstance(filling, Fragment) else filling

    text = resources.files("kgagent.cypher").joinpath(f"{name}.cypher").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("//"))
    return Statement(_PLACE.sub(fill, "\n".join(lines)).strip(), name)
