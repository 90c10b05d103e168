"""Tools that write one node, relationship or note: each makes one item, as remember does."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from kgagent.answers.token_budget import cut
from kgagent.errors import InputError
from kgagent.formatting import counted, in_one_line
from kgagent.graph.graph_writes import GraphWriteResult, NodeWriteResult
from kgagent.graph.node_name import NodeName
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.fields import EntityKey, FilledText, ShortText, Text
from kgagent.ontology import Ontology
from kgagent.tools.arguments import (
    CORRECTION,
    DIRECTION_HINT,
    Aliases,
    Arguments,
    Attitude,
    Confidence,
    GivenWhen,
    IdempotencyKey,
    Neo4jType,
    NewNote,
    Notes,
    Proximity,
    Quote,
    RelationshipEnds,
    RelationshipId,
    Salience,
    SourceName,
    Verbose,
    describe_lifetimes,
    known_label,
)
from kgagent.tools.base import ArgumentsT, Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.items import RememberedNode, RememberedNote, RememberedRelationship
from kgagent.tools.references import NodeReference, quoted, with_direction
from kgagent.tools.write_items import Outcome, write_item
from kgagent.tools.write_results import (
    TEXT_TOKENS,
    NoteExpiry,
    WriteToolResult,
    WrittenRelationship,
    kept_description,
    new_expiries,
    replaced_values,
)


class _ItemTool(Tool[ArgumentsT]):
    """A tool that writes one item, which finds the nodes of its references itself."""

    def is_reference(self, name: str, arguments: ArgumentsT) -> bool:  # noqa: ARG002
        """No argument is resolved before the tool runs."""
        return False


class CreateNodeArguments(Arguments):
    """Arguments of create_node."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"idempotency_key"})

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


class WrittenNode(WriteToolResult):
    """A node that create_node created, or update_node changed.

    Attributes:
        entity_key: its key, if it is new.
        embedding_regenerated: if it is not new, whether its text changed, so that it was embedded
            again.
        node: the node.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("entity_key", "embedding_regenerated")

    entity_key: str | None = None
    embedding_regenerated: bool | None = None
    node: GraphNode
    note_expiries: tuple[NoteExpiry, ...] | None = None

    @classmethod
    def of(cls, written: NodeWriteResult, message: str, **more: str | bool) -> "WrittenNode":
        """The result of a write."""
        record, expiries = written.record, new_expiries(written)
        return cls(message=message, node=record, note_expiries=expiries, written=(record,), **more)


class CreateNode(_ItemTool[CreateNodeArguments]):
    """Creates a node."""

    name = "create_node"
    arguments = CreateNodeArguments
    result = WrittenNode
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

    async def run(self, context: ToolContext, arguments: CreateNodeArguments) -> WrittenNode:
        """Create the node."""
        given = arguments.model_dump(exclude={"verbose", "idempotency_key"})
        rule = context.ontology.labels.get(known_label(context.ontology, arguments.label))
        is_once = arguments.idempotency_key is None or rule is None or rule.key_includes_name
        outcome = await write_item(
            context,
            "nodes",
            RememberedNode(**given, new=True),
            "create" if is_once else "either",
            idempotency_key=arguments.idempotency_key,
        )
        written = outcome.single()
        record = written.record
        name = f"{record.label} {record.name}"
        done = f"Created {name}" if written.created else f"{name} exists already; unchanged"
        return WrittenNode.of(
            written, _message(done, outcome, written), entity_key=record.entity_key
        )


class UpdateNodeArguments(Arguments):
    """Arguments of update_node."""

    entity_key: EntityKey
    name: NodeName | None = Field(None, description="New name; the old becomes an alias.")
    aliases: Aliases | None = Field(None, description="Other names to add; [] removes all.")
    description: Text | None = Field(None, description="New description; empty to clear it.")
    notes: Notes = Field(default_factory=list, description="Notes to add.")
    is_owner: bool | None = Field(None, description="The owner of the graph.")
    correction: bool = Field(False, description=CORRECTION)
    verbose: Verbose = False


class UpdateNode(_ItemTool[UpdateNodeArguments]):
    """Changes a node."""

    name = "update_node"
    arguments = UpdateNodeArguments
    result = WrittenNode
    idempotent = True
    text = (
        "Change the name or description of a node, or add notes to it. Omitted fields stay. Facts "
        "about how two nodes are related belong on their relationship."
    )

    async def run(self, context: ToolContext, arguments: UpdateNodeArguments) -> WrittenNode:
        """Change the node."""
        changes = {"name", "aliases", "description", "notes", "is_owner"}
        given = arguments.model_dump(include=changes, exclude_none=True)
        if not given.keys() - {"notes"} and not arguments.notes:
            raise InputError(
                "Nothing to change: give name, aliases, description, notes or is_owner"
            )
        item = RememberedNode(
            entity_key=arguments.entity_key, correction=arguments.correction, **given
        )
        outcome = await write_item(context, "nodes", item, "update")
        written = outcome.single()
        record = written.record
        done = f"Updated {record.label} {record.name}" if written.changed else "Nothing changed"
        message = _message(done, outcome, written)
        return WrittenNode.of(written, message, embedding_regenerated=written.embedded)


class CreateRelationshipArguments(RelationshipEnds):
    """Arguments of create_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})

    relationship_type: ShortText = Field(
        description='Read from the first node to the second: "works at".'
    )
    description: Text = Field("", description="One sentence, with names and circumstances.")
    attitude: Attitude = None
    proximity: Proximity = None
    when: GivenWhen = None
    notes: Notes = Field(default_factory=list, description="Facts, one sentence each.")
    confidence: Confidence = None
    salience: Salience = None
    verbose: Verbose = False


class CreateRelationship(_ItemTool[CreateRelationshipArguments]):
    """Creates a relationship."""

    name = "create_relationship"
    arguments = CreateRelationshipArguments
    result = WrittenRelationship
    destructive = False
    idempotent = True
    text = (
        "Connect two existing nodes. If they are connected, use update_relationship. "
        "Searches match all of it, so give all you know."
    )

    async def run(
        self, context: ToolContext, arguments: CreateRelationshipArguments
    ) -> WrittenRelationship:
        """Create the relationship."""
        item = RememberedRelationship(**arguments.model_dump(exclude={"verbose"}))
        outcome = await write_item(context, "relationships", item, "create")
        written = outcome.single()
        record = written.record
        done = f"Created relationship {record.relationship_type} between {_names(record)}"
        return WrittenRelationship.of(written, _message(done, outcome))


class UpdateRelationshipArguments(RelationshipEnds):
    """Arguments of update_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})

    relationship_type: ShortText | None = Field(
        None, description="New type, read from the first node to the second."
    )
    description: Text | None = Field(None, description="New sentence; empty to clear it.")
    attitude: Attitude = None
    proximity: Proximity = None
    when: GivenWhen = None
    confidence: Confidence = None
    salience: Salience = None
    clear: list[ShortText] = Field(
        default_factory=list,
        max_length=3,
        description='What to remove: "attitude", "proximity", "when".',
    )
    notes: Notes = Field(default_factory=list, description="Notes to add.")
    correction: bool = Field(False, description=CORRECTION)
    verbose: Verbose = False


class UpdateRelationship(_ItemTool[UpdateRelationshipArguments]):
    """Changes a relationship."""

    name = "update_relationship"
    arguments = UpdateRelationshipArguments
    result = WrittenRelationship
    idempotent = True
    text = (
        "Change the relationship between two nodes, or add notes. Omitted fields stay. "
        + DIRECTION_HINT
    )

    async def run(
        self, context: ToolContext, arguments: UpdateRelationshipArguments
    ) -> WrittenRelationship:
        """Change the relationship."""
        given = arguments.model_dump(exclude={"verbose"}, exclude_none=True)
        for name in arguments.clear:
            if name not in {"attitude", "proximity", "when"}:
                raise InputError(
                    f"clear must contain only attitude, proximity and when, got {name!r}"
                )
            if name in given:
                raise InputError(f"{name} cannot be both set and cleared")
        ends = RelationshipEnds.model_fields.keys()
        if all(given[name] is False or given[name] == [] for name in given.keys() - ends):
            fields = "description, relationship_type, attitude, proximity, when or notes"
            raise InputError(f"Nothing to change: give {fields}")
        item = RememberedRelationship(**given)
        outcome = await write_item(context, "relationships", item, "update")
        written = outcome.single()
        done = (
            f"Updated relationship between {_names(written.record)}"
            if written.changed
            else "Nothing changed"
        )
        replaced = replaced_values(written, context.ontology)
        hint = kept_description(written, replaced) if arguments.description is None else None
        message = _message(with_direction(done, written.record), outcome)
        return WrittenRelationship.of(written, message, hint, replaced)


class AddNoteToRelationshipArguments(RelationshipEnds):
    """Arguments of add_note_to_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"quote"})

    content: FilledText | None = Field(None, description="One fact, as a sentence.")
    notes: Notes = Field(default_factory=list, description="Several notes instead.")
    lifetime: ShortText | None = Field(None, description="How long it is kept.")
    when: GivenWhen = None
    source_entity_key: SourceName | None = Field(None, description="Its source.")
    quote: Quote = None
    verbose: Verbose = False


class AddNoteToRelationship(_ItemTool[AddNoteToRelationshipArguments]):
    """Adds a note to a relationship."""

    name = "add_note_to_relationship"
    arguments = AddNoteToRelationshipArguments
    result = WrittenRelationship
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Add a note to the relationship between two nodes: something that happened or was "
            "said, with names and "
            f"dates. {describe_lifetimes(ontology)} {DIRECTION_HINT}"
        )

    async def run(
        self, context: ToolContext, arguments: AddNoteToRelationshipArguments
    ) -> WrittenRelationship:
        """Add the note."""
        texts = [*([arguments.content] if arguments.content is not None else []), *arguments.notes]
        if not texts:
            raise InputError("content is missing: give the text of a note, or notes")
        given = arguments.model_dump(include={"when", "lifetime", "source_entity_key", "quote"})
        notes = [
            NewNote(content=note, **given) if isinstance(note, str) else note for note in texts
        ]
        can_restore = context.offers("restore")
        restore = ", or restore a deleted one with restore" if can_restore else ""
        ends = arguments.model_dump(include=set(RelationshipEnds.model_fields))
        outcome = await write_item(
            context,
            "relationships",
            RememberedRelationship(**ends, notes=notes),
            "update",
            missing=f"{RelationshipIntent.missing}. Create it with create_relationship{restore}",
        )
        written = outcome.single()
        if written.changed:
            added = "note" if len(notes) == 1 else counted(len(notes), "note")
            done = f"Added {added} to relationship between {_names(written.record)}"
        else:
            done = "The note exists already" if len(notes) == 1 else "The notes exist already"
        message = _message(with_direction(done, written.record), outcome)
        return WrittenRelationship.of(written, message)


class NoteAddress(Arguments):
    """A note of a node or of a relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"relationship_id"})

    entity_key: EntityKey | None = Field(
        None, description="Node with the note: entity_key or name."
    )
    from_entity_key: EntityKey | None = Field(
        None, description="For a note of a relationship: its first node."
    )
    to_entity_key: EntityKey | None = Field(None, description="The second node.")
    note: FilledText = Field(description="Text of the note, or the beginning of it.")
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None

    @model_validator(mode="after")
    def _validate_place(self) -> "NoteAddress":
        ends = (self.from_entity_key, self.to_entity_key)
        if None in ends if self.entity_key is None else ends != (None, None):
            raise ValueError(
                "give entity_key for a note of a node, or from_entity_key and to_entity_key"
            )
        return self


class EditedNote(WriteToolResult):
    """A note that was changed or deleted.

    Attributes:
        embedding_regenerated: whether the text of its node or relationship changed, so that it was
            embedded again.
        note: the note as it is now, or as it was before it was deleted.
        notes_left: number of notes that the node or relationship has now.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("embedding_regenerated",)

    embedding_regenerated: bool
    note: Note
    notes_left: int


class UpdateNoteArguments(NoteAddress):
    """Arguments of update_note."""

    content: FilledText | None = Field(None, description="New text.")
    when: GivenWhen = None
    lifetime: ShortText | None = Field(None, description="New lifetime, from now.")
    verbose: Verbose = False


class UpdateNote(_ItemTool[UpdateNoteArguments]):
    """Changes a note."""

    name = "update_note"
    arguments = UpdateNoteArguments
    result = EditedNote

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Correct the text, the time or the lifetime of a note of a node, or of the "
            "relationship between two nodes. "
            f"{describe_lifetimes(ontology)}"
        )

    async def run(self, context: ToolContext, arguments: UpdateNoteArguments) -> EditedNote:
        """Change the note."""
        changes = arguments.model_dump(include={"content", "when", "lifetime"}, exclude_none=True)
        if not changes:
            raise InputError("Nothing to change: give content, when or lifetime")
        outcome, before = await _edit(context, arguments, changes)
        written = outcome.single()
        [intent] = outcome.intents.values()
        after = (isinstance(intent.edit, NoteEdit) and intent.edit.apply(before)) or before
        expiry = "" if after.expires_at is None else f"; it expires on {after.expires_at:%Y-%m-%d}"
        done = f"Updated note{expiry}" if written.changed else "Nothing changed"
        return EditedNote(
            message=_message(done, outcome),
            embedding_regenerated=written.embedded,
            note=after,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )


class DeleteNoteArguments(NoteAddress):
    """Arguments of delete_note."""

    verbose: Verbose = False


class DeletedNote(EditedNote):
    """A note that was deleted."""

    def short_text(self) -> str:
        """The message, and the note, from which it can be added again."""
        return f"{super().short_text()}\nnote: {cut(in_one_line(self.note.content), TEXT_TOKENS)}"


class DeleteNote(_ItemTool[DeleteNoteArguments]):
    """Deletes a note."""

    name = "delete_note"
    arguments = DeleteNoteArguments
    result = DeletedNote
    asks_first = True
    text = (
        "Delete a wrong note of a node, or of the relationship between two nodes. The result "
        "contains "
        "it, so that it can be added again."
    )

    async def question(self, context: ToolContext, arguments: DeleteNoteArguments) -> str:
        """Which note would be deleted."""
        outcome, note = await _edit(context, arguments, {}, dry_run=True)
        record = outcome.single().record
        name = record.triplet if isinstance(record, GraphRelationship) else record.name
        return f"Delete the note {quoted(note.content)} on {quoted(name)}? It cannot be restored"

    async def run(self, context: ToolContext, arguments: DeleteNoteArguments) -> DeletedNote:
        """Delete the note."""
        outcome, note = await _edit(context, arguments, {})
        written = outcome.single()
        return DeletedNote(
            message=_message("Deleted note", outcome),
            embedding_regenerated=written.embedded,
            note=note,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )


async def _edit(
    context: ToolContext,
    address: NoteAddress,
    changes: Mapping[str, Any],
    *,
    dry_run: bool = False,
) -> tuple[Outcome, Note]:
    """Edit a note, or remove it if nothing changes; gives the outcome, and the note before it.

    Raises:
        NotFoundError: the node, the relationship or the note does not exist.
        InputError: several notes begin so.
    """
    ends = (address.from_entity_key, address.to_entity_key)
    item = RememberedNote(
        on=address.entity_key or list(ends),
        replaces=address.note,
        neo4j_type=address.neo4j_type,
        relationship_id=address.relationship_id,
        **changes,
    )
    outcome = await write_item(context, "notes", item, "update", dry_run=dry_run)
    written: GraphWriteResult = outcome.single()
    [intent] = outcome.intents.values()
    assert isinstance(intent.edit, NoteEdit)  # noqa: S101
    return outcome, intent.edit.find(written.stored.notes if written.stored else ())


def _message(done: str, outcome: Outcome, written: GraphWriteResult | None = None) -> str:
    """What was done, what the caller should know, and which nodes references mean."""
    new = (f"New: {NodeReference.of(source)}" for source in outcome.new_sources)
    return ". ".join((done, *new, *(written.warnings if written else ()), *outcome.notices))


def _names(relationship: GraphRelationship) -> str:
    return f"{relationship.from_name} and {relationship.to_name}"
