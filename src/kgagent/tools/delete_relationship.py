"""delete_relationship: two nodes are no longer joined."""

from kgagent.errors import KgAgentError
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.note import format_utc
from kgagent.ontology import Ontology
from kgagent.tools.base import Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import Ends, as_told, with_direction


class DeleteRelationshipArguments(Ends):
    """Arguments of delete_relationship."""


class DeleteRelationship(Tool[DeleteRelationshipArguments]):
    """Deletes a relationship."""

    name = "delete_relationship"
    arguments = DeleteRelationshipArguments

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """What the model is told."""
        return (
            "Delete the relationship between two nodes, in whichever order they are named (`triplet` in the answer "
            "tells its direction); the nodes stay. Use it for what should never have been there; a "
            "relationship that has ended is still worth knowing, so tell of its end with update_relationship or "
            "add_note_to_relationship. restore_relationship undoes it for a while."
        )

    async def run(self, context: ToolContext, arguments: DeleteRelationshipArguments) -> Payload:
        """Delete it.

        Raises:
            InputError: the relationship does not exist.
        """
        intent = RelationshipIntent(
            **arguments.model_dump(),
            missing="Relationship not found between {a} and {b}. Where it is deleted already, restore_relationship "
            "brings it back",
        )
        [deleted] = await context.relationship_deleter().apply([intent])
        if isinstance(deleted, KgAgentError):
            raise deleted
        was, until = deleted.record, deleted.undo_until
        undo = {} if until is None else {"undo_until": format_utc(until)}
        how = "; it cannot be restored" if until is None else "; restore_relationship brings it back until undo_until"
        return {
            "message": with_direction(f"Deleted relationship between {was.from_name} and {was.to_name}{how}", was),
            **undo,
            **as_told(was),
        }
