"""Arguments of the tools that write relationships, and what they ask of the graph."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StrictInt, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from kgagent.errors import InputError
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.fields import EntityKey, ShortText, Text
from kgagent.tools.arguments import Arguments, Notes, build_notes
from kgagent.tools.context import ToolContext


def _check_level(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """Check a level with one error, instead of one for each type that it may have."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError("level", "must be 1 to 5 or a word of the ontology") from None


Attitude = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    Field(description="How favourable it is: 1 (worst) to 5 (best), or the word for the level."),
]
Proximity = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_check_level),
    Field(description="How close or well known it is: 1 (least) to 5 (most), or the word for the level."),
]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class RelationshipEnds(Arguments):
    """The two nodes of a relationship."""

    from_entity_key: EntityKey = Field(description="entity_key of the first node.")
    to_entity_key: EntityKey = Field(description="entity_key of the second node.")
    neo4j_type: ShortText | None = Field(
        None, description="Neo4j type; needed only if several types can connect the labels of these nodes."
    )


class NewRelationship(RelationshipEnds):
    """A relationship to create."""

    relationship_type: ShortText = Field(
        description='What it is, in a word or two: "mentor", "works at". Reads from the first node to the second.'
    )
    description: Text = Field("", description="One sentence about it, with names and circumstances.")
    attitude: Attitude = None
    proximity: Proximity = None
    notes: Notes = Field(default_factory=list, description="Facts about the relationship: texts or objects.")
    confidence: Share | None = Field(None, description="How certain it is, 0 to 1.")
    salience: Share | None = Field(None, description="How important it is to the user, 0 to 1.")

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """The write that creates it.

        Raises:
            InputError: the ontology has no such lifetime of a note.
        """
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            create=True,
            values=self.model_dump(exclude={*RelationshipEnds.model_fields, "notes"}, exclude_none=True),
            notes=build_notes(self.notes, context, now),
        )


class RelationshipChange(RelationshipEnds):
    """A relationship to change."""

    relationship_type: ShortText | None = Field(None, description="New type, in a word or two.")
    description: Text | None = Field(None, description="New sentence; empty to clear it.")
    attitude: Attitude = None
    proximity: Proximity = None
    confidence: Share | None = Field(None, description="How certain it is, 0 to 1.")
    salience: Share | None = Field(None, description="How important it is to the user, 0 to 1.")
    clear: list[ShortText] = Field(
        default_factory=list, max_length=2, description='Levels to remove: "attitude", "proximity".'
    )

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:  # noqa: ARG002
        """The write that changes it.

        Raises:
            InputError: nothing is to be changed, or a field cannot be cleared.
        """
        values = self.model_dump(exclude={*RelationshipEnds.model_fields, "clear"}, exclude_none=True)
        for field in self.clear:
            if field not in {"attitude", "proximity"}:
                raise InputError(f"clear must contain only attitude and proximity, got {field!r}")
            if field in values:
                raise InputError(f"{field} cannot be both set and cleared")
            values[field] = None
        if not values:
            raise InputError(
                "Nothing to change: give description, relationship_type, attitude, proximity, confidence or salience. "
                "add_note_to_relationship adds notes"
            )
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            values=values,
        )
