"""create_node: a new person, concept, entity or source."""

from pydantic import ConfigDict, Field

from kgagent.errors import KgAgentError
from kgagent.graph.nodes import NodeIntent
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, FilledText, NodeName, Payload, ShortText, Text, Tool, ToolContext
from kgagent.tools.notes import NewNote, made


class CreateNodeArguments(Arguments):
    """Arguments of create_node."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"label": "Person", "name": "Ruth Calder", "description": "Naval architect in Bergen."},
                {
                    "label": "Concept",
                    "name": "Sailing",
                    "notes": [{"content": "The season begins in May.", "lifetime": "year"}],
                },
            ]
        }
    )

    label: ShortText = Field(description="Kind of node, such as Person, Concept, Entity or Source.")
    name: NodeName = Field(description="Name by which people know it.")
    description: Text = Field("", description="What it is, in a sentence.")
    notes: list[NewNote | FilledText] = Field(
        default_factory=list, max_length=100, description="Facts about the node itself: texts, or objects."
    )


class CreateNode(Tool[CreateNodeArguments]):
    """Creates a node."""

    name = "create_node"
    arguments = CreateNodeArguments
    destructive = False

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        fixed = [label for label, rule in ontology.labels.items() if rule.key_includes_name]
        return (
            f"Create a node in the knowledge graph. Labels: {', '.join(ontology.labels)}. Returns its "
            "entity_key, which "
            f"other tools take. Explore first: a {' or '.join(fixed) or 'node'} of the same name "
            "exists only once, but two "
            "people may share a name."
        )

    async def run(self, context: ToolContext, arguments: CreateNodeArguments) -> Payload:
        """Create it.

        Raises:
            InputError: the label is unknown, or the node exists.
        """
        rule = context.ontology.label(arguments.label)
        now = context.writing.clock()
        key = rule.entity_key(
            name=arguments.name,
            description=arguments.description,
            user_id=context.user_id,
            created_at=now.isoformat(),
        )
        intent = NodeIntent(
            entity_key=key,
            label=arguments.label,
            values={"name": arguments.name, "description": arguments.description, "created_at": now},
            notes=made(arguments.notes, context, now),
        )
        [written] = await context.node_writer().apply([intent])
        if isinstance(written, KgAgentError):
            raise written
        return {
            "message": f"Created {arguments.label} {arguments.name}",
            "entity_key": key,
            "node": written.record.to_dict(),
        }
