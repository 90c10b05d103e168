"""Field types that several request models share."""

from typing import Annotated

from pydantic import AliasChoices, Field, StringConstraints

from kgagent.models.when import WhenPeriod

Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
FilledText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)
]
QueryText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]

EntityKey = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="The node: entity_key or name."),
]

Labels = Annotated[
    tuple[ShortText, ...] | None,
    Field(
        min_length=1,
        max_length=50,
        validation_alias=AliasChoices("labels", "node_types"),
        description="Only what has these labels.",
    ),
]
FreeTypes = Annotated[
    tuple[ShortText, ...] | None,
    Field(
        min_length=1, max_length=10_000, description='Only relationships of these types: "mentor".'
    ),
]
SearchedTypes = Annotated[
    tuple[ShortText, ...] | None,
    Field(
        min_length=1,
        max_length=100,
        description=(
            "Only search relationships of these Neo4j types, such as has_relationship_with. "
            "Default: all."
        ),
    ),
]
AsOf = Annotated[WhenPeriod | None, Field(description="Valid then: 2021.")]
KnownAsOf = Annotated[
    WhenPeriod | None,
    Field(description="What was known then, by when it was said or else written: 2023-05."),
]
Level = Annotated[int | None, Field(ge=1, le=5)]
"""Filters of the searches."""
