"""Quoted names in Cypher text; every other value reaches a statement as a parameter."""

from collections.abc import Iterable
from typing import Self

from kgagent.errors import InputError

MAX_LENGTH = 16_383


class Identifier(str):
    r"""A label, type, property or index name, quoted for Cypher.

    Raises:
        InputError: the name is empty, too long, or has a character that is not printable. A
            backslash is refused too, since Cypher decodes `\u0060` to a backtick before it reads
            quotes.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Check and quote a name."""
        if not name or len(name) > MAX_LENGTH or "\\" in name or not name.isprintable():
            raise InputError(
                f"{name[:80]!r} cannot be the name of a label, type, property or index"
            )
        return super().__new__(cls, "`" + name.replace("`", "``") + "`")

    @classmethod
    def any_of(cls, names: Iterable[str]) -> Self:
        """Quote several labels or types as alternatives: `A`|`B`."""
        return super().__new__(cls, "|".join(cls(name) for name in names))

    @classmethod
    def can_be(cls, name: str) -> bool:
        """Whether a name is valid."""
        try:
            cls(name)
        except InputError:
            return False
        return True
