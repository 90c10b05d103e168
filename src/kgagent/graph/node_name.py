"""The names that a node may get, from tools and from files."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from kgagent.graph.reference_forms import MAX_REFERENCE_LENGTH, is_too_long
from kgagent.models.fields import FilledText
from kgagent.names import without_zero_width


def clean_name(name: str) -> str:
    """A name without characters of no width.

    Raises:
        PydanticCustomError: no node may have it.
    """
    if is_too_long(name):
        raise PydanticCustomError(
            "long_name",
            "must have at most {limit} characters, got {length}: no tool finds a node by a longer "
            "name; put the rest "
            "into its description",
            {
                "limit": MAX_REFERENCE_LENGTH,
                "length": max(len(name), len(unicodedata.normalize("NFKC", name))),
            },
        )
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in name):
        raise PydanticCustomError(
            "control", "must not contain control characters other than tabs and line breaks"
        )
    if not (visible := without_zero_width(name).strip()):
        raise PydanticCustomError("invisible", "must contain a visible character")
    return visible


NodeName = Annotated[FilledText, AfterValidator(clean_name)]
"""A name. Tabs and line breaks are allowed because copied text contains them; characters of no
width are removed.
"""
