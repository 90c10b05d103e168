"""create_node and update_node."""

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict, Field

from kgagent.errors import AlreadyExistsError, InputError, NodeNotFoundError
from kgagent.graph.node_name import NodeName
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.reference_forms import message_key
from kgagent.graph.references import References
from kgagent.models import GraphNode
from kgagent.models.fields import EntityKey, ShortText, Text
from kgagent.names import compatible_name, normalised_name
from kgagent.ontology import Ontology
from kgagent.tools.arguments import (
    CORRECTION,
    Aliases,
    Arguments,
    IdempotencyKey,
    Notes,
    Verbose,
    build_notes,
    known_label,
)
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.write_results import NoteExpiry, WriteToolResult, new_expiries
from kgagent.tools.writing import write_node


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
    notes: Notes = Field(
        default_factory=list, description="Facts about the node itself, one sentence each."
    )
    is_owner: bool = Field(False, description="The owner of the graph.")
    verbose: Verbose = False
    idempotency_key: IdempotencyKey = None


class CreatedNode(WriteToolResult):
    """The node that create_node created.

    Attributes:
        note_expiries: when its notes expire; None if they never do.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("entity_key",)

    entity_key: str
    node: GraphNode
    note_expiries: tuple[NoteExpiry, ...] | None = None


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
            f"Create a node ({', '.join(ontology.labels)}) and return its entity_key. Call explore "
            f"first, to find out "
            f"whether the node exists: {once}two people may share a name."
        )

    async def run(self, context: ToolContext, arguments: CreateNodeArguments) -> CreatedNode:
        """Create the node."""
        label, name = known_label(context.ontology, arguments.label), arguments.name
        rule = context.ontology.label(label)
        now = context.write_context.clock()
        key, *earlier = new_node_keys(
            context,
            label,
            name,
            arguments.description,
            now,
            idempotency_key=arguments.idempotency_key,
        )
        stored = await context.resolver.find(
            context.user_id,
            names=[name] if rule.key_includes_name else (),
            keys=earlier,
            with_owners=arguments.is_owner,
        )
        key = next((old for old in earlier if stored.node(old) is not None), key)
        if rule.key_includes_name:
            _check_names(stored, name, label, key)
        owner = owner_values(
            context, stored, is_owner=arguments.is_owner or None, entity_key=key, label=label
        )
        node = NodeIntent(
            entity_key=key,
            label=label,
            mode="create",
            values={"name": name, "description": arguments.description, "created_at": now, **owner},
            notes=build_notes(arguments.notes, context, now),
            aliases=tuple(arguments.aliases),
        )
        try:
            written = await write_node(context, node)
        except AlreadyExistsError as refusal:
            return await self._created_before(context, arguments, key, refusal)
        return CreatedNode(
            message=". ".join((f"Created {label} {name}", *written.warnings)),
            entity_key=key,
            node=written.record,
            note_expiries=new_expiries(written),
            written=(written.record,),
        )

    async def _created_before(
        self,
        context: ToolContext,
        arguments: CreateNodeArguments,
        key: str,
        refusal: AlreadyExistsError,
    ) -> CreatedNode:
        """The node that an earlier call with the idempotency key created.

        Raises:
            AlreadyExistsError: the refusal, as there is no idempotency key or another call may have
                created the node.
            InputError: that call created another node.
        """
        nodes = await context.nodes.get(context.user_id, [key]) if arguments.idempotency_key else []
        if not nodes:
            raise refusal
        [node] = nodes
        if normalised_name(node.name) != normalised_name(arguments.name):
            raise InputError(
                f"idempotency_key {arguments.idempotency_key!r} was used to create the "
                f"{node.label} {node.name!r}; "
                f"create {arguments.name!r} with another key"
            )
        notes = {note if isinstance(note, str) else note.content for note in arguments.notes}
        if context.ontology.label(node.label).key_includes_name and (
            node.description != arguments.description
            or not notes <= {note.content for note in node.notes}
        ):
            raise refusal
        message = f"{node.label} {node.name} exists already; unchanged"
        return CreatedNode(message=message, entity_key=key, node=node, written=(node,))


class UpdateNodeArguments(Arguments):
    """Arguments of update_node."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"entity_key": "5b0c…", "description": "Head of a shipyard in Gdansk."}]
        }
    )

    entity_key: EntityKey
    name: NodeName | None = Field(None, description="New name; the old becomes an alias.")
    aliases: Aliases | None = Field(None, description="Other names to add; [] removes all.")
    description: Text | None = Field(None, description="New description; empty to clear it.")
    notes: Notes = Field(default_factory=list, description="Notes to add.")
    is_owner: bool | None = Field(None, description="The owner of the graph.")
    correction: bool = Field(False, description=CORRECTION)
    verbose: Verbose = False


class UpdatedNode(WriteToolResult):
    """The node after update_node.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        node: the node.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("embedding_regenerated",)

    embedding_regenerated: bool
    node: GraphNode
    note_expiries: tuple[NoteExpiry, ...] | None = None


class UpdateNode(Tool[UpdateNodeArguments]):
    """Changes a node."""

    name = "update_node"
    arguments = UpdateNodeArguments
    result = UpdatedNode
    idempotent = True
    text = (
        "Change the name or description of a node, or add notes to it. Omitted fields stay. Facts "
        "about how two nodes are related belong on their relationship."
    )

    async def run(self, context: ToolContext, arguments: UpdateNodeArguments) -> UpdatedNode:
        """Change the node."""
        values = arguments.model_dump(include={"name", "description"}, exclude_none=True)
        if (
            not values
            and not arguments.notes
            and arguments.is_owner is None
            and arguments.aliases is None
        ):
            raise InputError(
                "Nothing to change: give name, aliases, description, notes or is_owner"
            )
        if arguments.aliases == []:
            values["aliases"] = None
        key = arguments.entity_key
        stored = await context.resolver.find(
            context.user_id,
            names=[key] if arguments.is_owner else (),
            with_owners=bool(arguments.is_owner),
        )
        values |= owner_values(context, stored, is_owner=arguments.is_owner, entity_key=key)
        notes = build_notes(arguments.notes, context, context.write_context.clock())
        node = NodeIntent(
            entity_key=key,
            values=values,
            notes=notes,
            aliases=tuple(arguments.aliases or ()),
            correction=arguments.correction,
        )
        written = await write_node(context, node)
        record = written.record
        message = f"Updated {record.label} {record.name}" if written.changed else "Nothing changed"
        return UpdatedNode(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedded,
            node=record,
            written=(record,),
            note_expiries=new_expiries(written),
        )


def new_node_keys(
    context: ToolContext,
    label: str,
    name: str,
    description: str,
    now: datetime,
    *,
    idempotency_key: str | None,
) -> list[str]:
    """The keys that a new node may have.

    The first derives from the plain form of the name, so that spellings that look alike give one
    node. Earlier versions and load files derived the key from the name as it is written: that is
    the second, if it is another.

    Args:
        context: the user's graph.
        label: label of the node.
        name: its name.
        description: its description.
        now: time of its creation.
        idempotency_key: see `NodeLabel.entity_key`.
    """
    rule = context.ontology.label(label)
    plain = compatible_name(name)
    spellings = (
        [plain, name] if rule.key_includes_name and plain.lower() != name.lower() else [plain]
    )
    return [
        rule.entity_key(
            name=spelling,
            description=description,
            user_id=context.user_id,
            created_at=now.isoformat(),
            idempotency_key=idempotency_key,
        )
        for spelling in spellings
    ]


def owner_values(
    context: ToolContext,
    stored: References,
    *,
    is_owner: bool | None,
    entity_key: str,
    label: str | None = None,
) -> Mapping[str, bool | None]:
    """The properties to write for `is_owner`.

    A graph has one owner. The check reads before the write: two calls at the same moment can both
    pass it.

    Args:
        context: the user's graph.
        stored: the owners, and the node unless its label is given.
        is_owner: as the model gave it; None changes nothing, False removes the property.
        entity_key: the node that is written.
        label: its label; None takes that of the node.

    Raises:
        AlreadyExistsError: another node is the owner.
        NodeNotFoundError: the node does not exist.
        InputError: nodes of this label cannot be the owner.
    """
    if is_owner is None:
        return {}
    if not is_owner:
        return {"is_owner": None}
    if label is None:
        node = stored.node(entity_key)
        if node is None:
            raise NodeNotFoundError(f"Node not found: {entity_key}")
        label = node.label
    allowed = context.ontology.owner_label
    if label != allowed:
        raise InputError(f"is_owner applies only to nodes with the label {allowed}, got {label}")
    for owner in stored.owners:
        if owner.entity_key != entity_key:
            shown = f"{owner.label} {owner.name!r} ({message_key(owner.entity_key)})"
            can_change = context.offers("update_node")
            remedy = (
                ". To change the owner, first set is_owner to false there with update_node"
                if can_change
                else ""
            )
            raise AlreadyExistsError(f"{shown} is already the owner of this graph{remedy}")
    return {"is_owner": True}


def _check_names(stored: References, name: str, label: str, key: str) -> None:
    """Refuse a name that a node with another key has, for labels of which there is one node of each
    name.

    Raises:
        AlreadyExistsError: the node has the name in another spelling, or as an alias.
    """
    nodes = stored.nodes(name, label)
    if not nodes or nodes[0].entity_key == key or not nodes[0].is_called(name):
        return
    is_named = nodes[0].is_named(name)
    shown = f"{nodes[0].label} {nodes[0].name!r} ({message_key(nodes[0].entity_key)})"
    raise AlreadyExistsError(
        f"{name!r} is {'' if is_named else 'an alias of '}the {shown}. Use update_node to "
        f"change it; remember with "
        "`new` creates another thing of that name"
    )
