"""create_node: create a person, concept, entity or source."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from kgagent.errors import AlreadyExistsError, InputError, NodeNotFoundError
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.nodes import NodeIntent, NodeStrategy
from kgagent.graph.reference_forms import message_key
from kgagent.graph.referenced_nodes import FoundNodes
from kgagent.models import GraphNode
from kgagent.models.fields import ShortText, Text
from kgagent.ontology import Ontology
from kgagent.plain_names import normalised_name, with_one_apostrophe
from kgagent.tools.arguments import Aliases, Arguments, IdempotencyKey, NodeName, Notes, Verbose, build_notes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.labels import known_label
from kgagent.tools.new_keys import keys_by_spelling
from kgagent.tools.note_expiry import NoteExpiry, new_expiries
from kgagent.tools.owner import owner_values
from kgagent.tools.write_results import WriteToolResult


class CreateNodeArguments(Arguments):
    """Arguments of create_node."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"idempotency_key"})

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "label": "Person",
                    "name": "Ruth Calder",
                    "description": "Naval architect in Bergen.",
                    "notes": ["Her yard is hiring this year."],
                },
            ]
        }
    )

    label: ShortText = Field(description="Label of the node, such as Person.")
    name: NodeName = Field(description="The name that people use.")
    aliases: Aliases = Field(default_factory=list, description="Other names.")
    description: Text = Field("", description="What it is, in one sentence.")
    notes: Notes = Field(default_factory=list, description="Facts about the node itself, one sentence each.")
    is_owner: bool = Field(False, description="The owner of the graph.")
    verbose: Verbose = False
    idempotency_key: IdempotencyKey = None


class CreatedNode(WriteToolResult):
    """The node that create_node created.

    Attributes:
        note_expiries: when its notes expire; None if they never do.
    """

    entity_key: str
    node: GraphNode
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def short_text(self) -> str:
        """What was created, its key, and when its notes expire."""
        return "\n".join([self.message, f"entity_key: {self.entity_key}", *map(str, self.note_expiries or ())])


class CreateNode(Tool[CreateNodeArguments]):
    """Creates a node."""

    name = "create_node"
    arguments = CreateNodeArguments
    result = CreatedNode
    destructive = False

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        named = [label for label, rule in ontology.labels.items() if rule.key_includes_name]
        once = f"a {' or '.join(named)} exists only once per name, but " if named else ""
        return (
            f"Create a node ({', '.join(ontology.labels)}) and return its entity_key. Call explore first, to find out "
            f"whether the node exists: {once}two people may share a name."
        )

    async def run(self, context: ToolContext, arguments: CreateNodeArguments) -> CreatedNode:
        """Create the node.

        Raises:
            InputError: the label is unknown, the node exists, or another node is the owner.
        """
        arguments = arguments.model_copy(update={"label": known_label(context.ontology, arguments.label)})
        rule = context.ontology.label(arguments.label)
        now = context.write_context.clock()
        key, earlier = keys_by_spelling(
            rule,
            name=arguments.name,
            description=arguments.description,
            user_id=context.user_id,
            created_at=now.isoformat(),
            idempotency_key=arguments.idempotency_key,
        )
        found = await context.references.look_up(
            context.user_id,
            [arguments.name] if rule.key_includes_name else (),
            keys=[] if earlier is None else [earlier],
            with_owners=arguments.is_owner,
        )
        if earlier is not None and found.node(earlier) is not None:
            key = earlier
        if rule.key_includes_name:
            await _check_names(found, arguments, key)
        owner = owner_values(context, found, is_owner=arguments.is_owner or None, entity_key=key, label=arguments.label)
        intent = NodeIntent(
            entity_key=key,
            label=arguments.label,
            values={"name": arguments.name, "description": arguments.description, "created_at": now, **owner},
            notes=build_notes(arguments.notes, context, now),
            aliases=tuple(arguments.aliases),
        )
        strategy = NodeStrategy(context.nodes, context.write_context, user_id=context.user_id)
        try:
            written = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        except AlreadyExistsError as refusal:
            return await self._created_before(context, arguments, key, refusal)
        message = ". ".join((f"Created {arguments.label} {arguments.name}", *written.warnings))
        return CreatedNode(
            message=message,
            entity_key=key,
            node=written.record,
            note_expiries=new_expiries(written) or None,
            written=(written.record,),
        )

    async def _created_before(
        self, context: ToolContext, arguments: CreateNodeArguments, key: str, refusal: AlreadyExistsError
    ) -> CreatedNode:
        """The node that an earlier call with the idempotency key created.

        Raises:
            AlreadyExistsError: the refusal, as there is no idempotency key or another call may have created the node.
            InputError: that call created another node.
            NodeNotFoundError: it was deleted meanwhile.
        """
        if arguments.idempotency_key is None:
            raise refusal
        found = await context.nodes.get(context.user_id, [key])
        if not found:
            raise NodeNotFoundError(f"Node not found: {key}")
        [node] = found
        if normalised_name(node.name) != normalised_name(arguments.name):
            raise InputError(
                f"idempotency_key {arguments.idempotency_key!r} was used to create the {node.label} {node.name!r}; "
                f"create {arguments.name!r} with another key"
            )
        given = {note if isinstance(note, str) else note.content for note in arguments.notes}
        if context.ontology.label(node.label).key_includes_name and (
            node.description != arguments.description or not given <= {note.content for note in node.notes}
        ):
            raise refusal
        message = f"{node.label} {node.name} exists already; unchanged"
        return CreatedNode(message=message, entity_key=key, node=node, written=(node,))


async def _check_names(found: FoundNodes, arguments: CreateNodeArguments, key: str) -> None:
    """Refuse a name that a node with another key has, for labels of which there is one node of each name.

    Raises:
        AlreadyExistsError: the node has the name in another spelling, or as an alias.
    """
    name = arguments.name
    nodes = (await found.candidates([name], [arguments.label]))[name]
    if not nodes or nodes[0].entity_key == key or not nodes[0].is_called(name):
        return
    # "x²" and "x2" are names of two nodes, although a reference to one that does not exist means the other.
    is_named = with_one_apostrophe(name).casefold() == with_one_apostrophe(nodes[0].name).casefold()
    if is_named or not nodes[0].is_named(name):
        shown = f"{nodes[0].label} {nodes[0].name!r} ({message_key(nodes[0].entity_key)})"
        raise AlreadyExistsError(
            f"{name!r} is {'' if is_named else 'an alias of '}the {shown}. Use update_node to change it; remember with "
            "`new` creates another thing of that name"
        )
