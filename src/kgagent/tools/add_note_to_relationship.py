"""add_note_to_relationship: something new is learnt about a relationship."""

from pydantic import ConfigDict, Field

from kgagent.graph.relationships import RelationshipIntent
from kgagent.ontology import Ontology
from kgagent.tools.base import EntityKey, FilledText, Payload, ShortText, Tool, ToolContext
from kgagent.tools.notes import NewNote, made
from kgagent.tools.relationship_arguments import Ends, relationship_fields, with_direction, write_one


class AddNoteToRelationshipArguments(Ends):
    """Arguments of add_note_to_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from_entity_key": "5b0c…",
                    "to_entity_key": "91fe…",
                    "content": "They had lunch in June and spoke of the new job.",
                    "lifetime": "year",
                },
            ]
        }
    )

    content: FilledText = Field(description="One fact worth keeping, as a sentence.")
    lifetime: ShortText | None = Field(
        None, description="How long the note counts: week, month (default), year or forever."
    )
    source_entity_key: EntityKey | None = Field(
        None, description="entity_key of the Source node that the fact was read in, if any."
    )


class AddNoteToRelationship(Tool[AddNoteToRelationshipArguments]):
    """Adds a note to a relationship."""

    name = "add_note_to_relationship"
    arguments = AddNoteToRelationshipArguments
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        lifetimes = ", ".join(ontology.note_lifetimes_in_days)
        return (
            "Add a note to the relationship between two nodes, in whichever order they are named; `triplet` "
            "in the answer tells its direction. Use it for things that "
            "happened or were said; searches find the relationship by its notes too. A note counts for its lifetime "
            f"({lifetimes}; {ontology.default_note_lifetime} unless said otherwise)."
        )

    async def run(self, context: ToolContext, arguments: AddNoteToRelationshipArguments) -> Payload:
        """Add it.

        Raises:
            InputError: the relationship does not exist, or the lifetime is unknown.
        """
        note = NewNote(
            content=arguments.content,
            lifetime=arguments.lifetime,
            source_entity_key=arguments.source_entity_key,
        )
        intent = RelationshipIntent(
            from_entity_key=arguments.from_entity_key,
            to_entity_key=arguments.to_entity_key,
            neo4j_type=arguments.neo4j_type,
            notes=made([note], context, context.writing.clock()),
            missing="Relationship not found between {a} and {b}. create_relationship makes it, and "
            "restore_relationship brings back one that was deleted",
        )
        written = await write_one(context, intent)
        now = written.record
        message = f"Added note to relationship between {now.from_name} and {now.to_name}"
        return {
            "message": with_direction(message if written.changed else "The note was there already", now),
            **relationship_fields(written),
        }
