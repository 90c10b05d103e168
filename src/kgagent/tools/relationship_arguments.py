"""Arguments that the tools for relationships share."""

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field, StrictInt, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from kgagent.models.fields import EntityKey, ShortText
from kgagent.tools.arguments import Arguments


def _check_level(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """Check a level with one error, instead of one for each type that it may have."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError("level", "must be 1 to 5 or a word of the ontology") from None


Attitude = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    Field(description="How favorable, 1 to 5."),
]
Proximity = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    Field(description="How close or well known, 1 to 5."),
]
UnitInterval = Annotated[float, Field(ge=0.0, le=1.0)]


FROM_NAMES = AliasChoices("from_entity_key", "from", "from_key", "from_node", "from_name", "source", "start")
TO_NAMES = AliasChoices("to_entity_key", "to", "to_key", "to_node", "to_name", "target", "end")
"""Names under which models give the two nodes of a relationship."""


class RelationshipEnds(Arguments):
    """The two nodes of a relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"neo4j_type"})

    from_entity_key: EntityKey = Field(validation_alias=FROM_NAMES, description="First node: entity_key or name.")
    to_entity_key: EntityKey = Field(validation_alias=TO_NAMES, description="Second node, likewise.")
    neo4j_type: ShortText | None = Field(
        None, description="Neo4j type; needed only if several types can connect the labels of these nodes."
    )
