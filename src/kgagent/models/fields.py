"""Field types that several request models share."""

from typing import Annotated

from pydantic import Field, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
FilledText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
QueryText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

EntityKey = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="The node: entity_key or name."),
]
