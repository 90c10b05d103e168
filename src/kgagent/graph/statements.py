"""The Cypher statements, read from the folders of `kgagent/cypher`."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Self

from kgagent.graph.identifiers import Identifier

_PLACEHOLDER = re.compile(r"«(\w+)»")


@dataclass(frozen=True)
class Fragment:
    """A shared fragment for a placeholder: the name of its file without `.cypher`."""

    name: str


Filling = Identifier | Fragment
"""What replaces a placeholder: a quoted name, or a fragment that the caller chooses."""

NODE_EMBEDDING = "node_embedding"
"""The placeholder of the property that holds the embeddings of nodes, which is the same in all
statements of a graph.

It stays in the text of a statement; `Store` fills it.
"""

UNNAMED = "unnamed"


class Statement(str):
    """Cypher text with the name that the server and observers see.

    Attributes:
        name: the name of its file, if it has one.
    """

    __slots__ = ("name",)
    name: str

    def __new__(cls, text: str, name: str) -> Self:
        """Attach a name to a text."""
        named = super().__new__(cls, text)
        named.name = name
        return named


@cache
def statement_files() -> dict[str, Traversable]:
    """The files of all statements and fragments; each name exists once among all folders."""
    root = resources.files("kgagent.cypher")
    files = [file for folder in root.iterdir() if folder.is_dir() for file in folder.iterdir()]
    return {
        file.name.removesuffix(".cypher"): file for file in files if file.name.endswith(".cypher")
    }


@cache
def statement(name: str, **fillings: Filling) -> Statement:
    """Read a statement and fill its placeholders.

    Args:
        name: the file's name without `.cypher`.
        fillings: what replaces each placeholder `«name»`; a placeholder `«_name»` gets the file of
            that name.

    Raises:
        KeyError: a placeholder has no filling.
    """

    def fill(placeholder: re.Match[str]) -> str:
        wanted = placeholder.group(1)
        if wanted == NODE_EMBEDDING:
            return placeholder.group()
        filling = Fragment(wanted) if wanted.startswith("_") else fillings[wanted]
        return statement(filling.name, **fillings) if isinstance(filling, Fragment) else filling

    text = statement_files()[name].read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("//"))
    return Statement(_PLACEHOLDER.sub(fill, "\n".join(lines)).strip(), name)
