"""The free types of a relationship, which its `relationship_type` lists: "sister, landlady"."""

from kgagent.errors import InputError
from kgagent.names import normalised_type

MAX_LENGTH = 200
"""Characters of all types of a relationship."""


def split_types(relationship_type: str) -> list[str]:
    """The types that a text lists: "sister, landlady" has two."""
    return [name for part in relationship_type.split(",") if (name := part.strip())]


def is_same(one: str, other: str) -> bool:
    """Whether two texts list the same types, whatever their spelling and order."""
    return type_names(one) == type_names(other)


def new_types(stored: str, given: str) -> list[str]:
    """The given types that a stored text does not list; the same type in another spelling is no
    other.
    """
    known = type_names(stored)
    return [name for name in split_types(given) if normalised_type(name) not in known]


def with_types(stored: str, given: str) -> str:
    """A stored text with the given types added: "sister" and "landlady" become "sister, landlady".

    Raises:
        InputError: it would be too long.
    """
    types = ", ".join([stored, *new_types(stored, given)] if stored.strip() else [given])
    if len(types) > max(MAX_LENGTH, len(stored)):
        raise InputError(
            f"relationship_type may have at most {MAX_LENGTH} characters, but with {given!r} added "
            f"to {stored!r} it "
            f"would have {len(types)}; replace it with update_relationship"
        )
    return types


def is_extended(stored: str, changed: str) -> bool:
    """Whether a text is a stored one to which types were added."""
    return bool(stored) and changed.startswith(f"{stored}, ")


def type_names(relationship_type: str | None) -> set[str]:
    """The types that a text lists, as they are compared."""
    return set(map(normalised_type, split_types(relationship_type or "")))
