"""update_node: what is known of a node changes."""

from pydantic import Field

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.nodes import NodeIntent
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, EntityKey, FilledText, NodeName, Payload, Text, Tool, ToolContext
from kgagent.tools.notes import NewNote, made


class UpdateNodeArguments(Arguments):
    """Arguments of update_node."""

    entity_key: EntityKey = Field(description="entity_key of the node to change, as a tool returned it.")
    name: NodeName | None = Field(None, description="New name; leave out to keep it.")
    description: Text | None = Field(None, description="New description; leave out to keep it, empty to clear it.")
    notes: list[NewNote | FilledText] = Field(
        default_factory=list, max_length=100, description="Notes to add; those that are there stay."
    )


class UpdateNode(Tool[UpdateNodeArguments]):
    """Changes a node."""

    name = "update_node"
    arguments = UpdateNodeArguments
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """What the model is told."""
        return (
            "Change the name or description of a node, or add notes to it. What is left out stays as it is. "
            "Facts about how two nodes stand to each other belong on their relationship: use update_relationship or "
            "add_note_to_relationship for those."
        )

    async def run(self, context: ToolContext, arguments: UpdateNodeArguments) -> Payload:
        """Change it.

        Raises:
            InputError: nothing was named to change, or the node does not exist.
        """
        values = arguments.model_dump(include={"name", "description"}, exclude_none=True)
        if not values and not arguments.notes:
            raise InputError("Nothing to change: give name, description or notes")
        notes = made(arguments.notes, context, context.writing.clock())
        intent = NodeIntent(entity_key=arguments.entity_key, values=values, notes=notes)
        [written] = await context.node_writer().apply([intent])
        if isinstance(written, KgAgentError):
            raise written
        return {
            "message": f"Updated {written.record.label} {written.record.name}"
            if written.changed
            else "Nothing changed",
            "embedding_regenerated": written.embedded,
            "node": written.record.to_dict(),
        }
