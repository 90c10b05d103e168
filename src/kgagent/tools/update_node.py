"""update_node: change a node."""

from pydantic import ConfigDict, Field

from kgagent.errors import InputError
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.nodes import NodeIntent, NodeStrategy
from kgagent.models import GraphNode
from kgagent.models.fields import EntityKey, Text
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Aliases, Arguments, NodeName, Notes, Verbose, build_notes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.note_expiry import NoteExpiry, new_expiries, short_answer
from kgagent.tools.owner import owner_values
from kgagent.tools.write_results import WriteToolResult


class UpdateNodeArguments(Arguments):
    """Arguments of update_node."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entity_key": "5b0c…", "description": "Head of a shipyard in Gdansk."}]}
    )

    entity_key: EntityKey
    name: NodeName | None = Field(None, description="New name; the old becomes an alias.")
    aliases: Aliases | None = Field(None, description="Other names to add; [] removes all.")
    description: Text | None = Field(None, description="New description; empty to clear it.")
    notes: Notes = Field(default_factory=list, description="Notes to add.")
    is_owner: bool | None = Field(None, description="The owner of the graph.")
    verbose: Verbose = False


class UpdatedNode(WriteToolResult):
    """The node after update_node.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        node: the node.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    embedding_regenerated: bool
    node: GraphNode
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def short_text(self) -> str:
        """What changed, and when new notes expire."""
        return short_answer(self.message, embedded=self.embedding_regenerated, note_expiries=self.note_expiries or ())


class UpdateNode(Tool[UpdateNodeArguments]):
    """Changes a node."""

    name = "update_node"
    arguments = UpdateNodeArguments
    result = UpdatedNode
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Change the name or description of a node, or add notes to it. Omitted fields stay. Facts "
            "about how two nodes are related belong on their relationship."
        )

    async def run(self, context: ToolContext, arguments: UpdateNodeArguments) -> UpdatedNode:
        """Change the node.

        Raises:
            InputError: nothing is to be changed, the node does not exist, or another node is the owner.
        """
        values = arguments.model_dump(include={"name", "description"}, exclude_none=True)
        if not values and not arguments.notes and arguments.is_owner is None and arguments.aliases is None:
            raise InputError("Nothing to change: give name, aliases, description, notes or is_owner")
        if arguments.aliases == []:
            values["aliases"] = None
        asked = [arguments.entity_key] if arguments.is_owner else []
        found = await context.references.look_up(context.user_id, asked, with_owners=bool(arguments.is_owner))
        values |= owner_values(context, found, is_owner=arguments.is_owner, entity_key=arguments.entity_key)
        notes = build_notes(arguments.notes, context, context.write_context.clock())
        aliases = tuple(arguments.aliases or ())
        intent = NodeIntent(entity_key=arguments.entity_key, values=values, notes=notes, aliases=aliases)
        strategy = NodeStrategy(context.nodes, context.write_context, user_id=context.user_id)
        written = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        node = written.record
        message = f"Updated {node.label} {node.name}" if written.changed else "Nothing changed"
        return UpdatedNode(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedded,
            node=node,
            written=(node,),
            note_expiries=new_expiries(written) or None,
        )
