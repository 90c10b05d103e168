"""What the items of a call of remember write: intents, and the options of their writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kgagent.errors import InputError
from kgagent.graph.nodes import NodeIntent, NodeWriteOptions
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.referenced_nodes import FoundNodes
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.graph.replaced_statements import note_of, replaced_statement
from kgagent.ontology import Ontology
from kgagent.tools.arguments import NewNote, build_notes
from kgagent.tools.context import ToolContext
from kgagent.tools.note_edits import NoteCorrection
from kgagent.tools.owner import owner_values
from kgagent.tools.relationship_direction import check_direction
from kgagent.tools.remember_arguments import RememberedNode, RememberedNote, RememberedRelationship
from kgagent.tools.remember_references import References, ends
from kgagent.tools.remember_targets import Target


@dataclass(frozen=True, kw_only=True)
class RememberedNodeIntent(NodeIntent):
    """A node to create or update.

    Attributes:
        expected_label: label that an existing node must have; None accepts any.
        correction: a note to replace or remove.
    """

    expected_label: str | None = None
    correction: NoteCorrection | None = None


@dataclass(frozen=True, kw_only=True)
class RememberedRelationshipIntent(RelationshipIntent):
    """A relationship to create or update; `correction` replaces or removes one of its notes."""

    correction: NoteCorrection | None = None


def node_options() -> NodeWriteOptions:
    """Options of writes of nodes: an existing node keeps its label, name and time of creation."""

    def prepare(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
        if stored is None or not isinstance(intent, RememberedNodeIntent):
            return intent
        if intent.expected_label not in {None, stored.label}:
            raise InputError(f"{stored.text('name')!r} has the label {stored.label}, not {intent.expected_label}")
        if intent.correction is not None:
            return replace(intent, values=intent.correction.values(stored))
        if intent.label is None:
            return intent
        kept = {name: value for name, value in intent.values.items() if name not in {"name", "created_at"}}
        if not kept.get("description"):
            kept.pop("description", None)
        return replace(intent, values=kept)

    return NodeWriteOptions(prepare=prepare)


def relationship_options(ontology: Ontology) -> RelationshipWriteOptions:
    """Options of writes of relationships, which keep their direction, and a replaced type as a note."""

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if stored is None:
            return intent
        if isinstance(intent, RememberedRelationshipIntent) and intent.correction is not None:
            return replace(intent, values=intent.correction.values(stored))
        check_direction(intent, stored, ontology)
        kept = kept_statement(stored, intent.values.get("relationship_type"))
        return replace(intent, notes=(note_of(kept, stored), *intent.notes)) if kept else intent

    return RelationshipWriteOptions(prepare=prepare)


def kept_statement(stored: RelationshipRecord, relationship_type: str | None) -> str:
    """What the relationship stated before it got another type; empty if it keeps its type."""
    if relationship_type is None:
        return ""
    statement = replaced_statement(stored, relationship_type, stored.text("description"))
    return f"Formerly: {statement}" if statement else ""


@dataclass(frozen=True)
class Intents:
    """Makes the writes of a call.

    Attributes:
        context: the user's graph.
        found: what was found for its references.
        references: what they mean.
        now: when the items are written.
    """

    context: ToolContext
    found: FoundNodes
    references: References
    now: datetime

    def node(self, item: RememberedNode, target: Target) -> RememberedNodeIntent:
        """Create or update a node.

        Raises:
            InputError: a note is invalid, or another node is the owner.
        """
        values: dict[str, object] = {}
        if target.is_new:
            values = {"name": item.name, "description": item.description or "", "created_at": self.now}
        else:
            values |= {"name": item.name} if target.renames and item.name else {}
            values |= {"description": item.description} if item.description else {}
            values |= {"aliases": None} if item.removes_aliases else {}
        if item.is_owner and self.references.owner != target.entity_key:
            raise InputError("another node in this call has is_owner; a graph has one owner")
        owner = owner_values(
            self.context,
            self.found,
            is_owner=item.is_owner or None,
            entity_key=target.entity_key,
            label=item.label if target.is_new else None,
        )
        return RememberedNodeIntent(
            entity_key=target.entity_key,
            label=item.label if target.is_new else None,
            or_update=target.is_new,
            values={**values, **owner},
            notes=build_notes(self._with_sources(item.notes), self.context, self.now),
            aliases=tuple(item.aliases),
            expected_label=item.label,
        )

    def relationship(self, item: RememberedRelationship) -> RememberedRelationshipIntent:
        """Create or update a relationship.

        Raises:
            InputError: a node is unknown, or a note is invalid.
        """
        values = item.model_dump(
            include={"relationship_type", "description", "attitude", "proximity"}, exclude_none=True
        )
        if not values.get("description"):
            values.pop("description", None)
        return RememberedRelationshipIntent(
            from_entity_key=self.references.key(item.from_),
            to_entity_key=self.references.key(item.to),
            neo4j_type=item.neo4j_type,
            create=item.relationship_type is not None,
            or_update=True,
            omit_invalid_levels=True,
            values=values,
            notes=build_notes(self._with_sources(item.notes), self.context, self.now),
            missing=f"{RelationshipIntent.missing}; give relationship_type to create it",
        )

    def note(self, item: RememberedNote) -> RememberedNodeIntent | RememberedRelationshipIntent:
        """Add a note to a node or a relationship, or correct one.

        Raises:
            InputError: a node is unknown, or the note is invalid.
        """
        keys = [self.references.key(reference) for reference in ends(item)]
        correction = self._correction(item)
        notes = () if correction else build_notes(self._with_sources([item]), self.context, self.now)
        if len(keys) == 1:
            return RememberedNodeIntent(entity_key=keys[0], notes=notes, correction=correction)
        return RememberedRelationshipIntent(
            from_entity_key=keys[0],
            to_entity_key=keys[1],
            notes=notes,
            correction=correction,
            missing=f"{RelationshipIntent.missing}; create it in relationships",
        )

    def _correction(self, item: RememberedNote) -> NoteCorrection | None:
        if item.replaces is None:
            return None
        changes: dict[str, object] = {}
        if item.lifetime is not None:
            changes["expires_at"] = self.context.ontology.note_expiry(item.lifetime, self.now)
        source = self.context.source_entity_key
        if source is None and item.source_entity_key is not None:
            source = self.references.key(item.source_entity_key)
        if source is not None:
            changes["source_entity_key"] = source
        return NoteCorrection(item.replaces, item.content, changes)

    def _with_sources(self, notes: Sequence[NewNote | str]) -> list[NewNote | str]:
        """The notes with the keys of their sources in place of references to them."""
        return [
            note.model_copy(update={"source_entity_key": self.references.key(note.source_entity_key)})
            if isinstance(note, NewNote) and note.source_entity_key
            else note
            for note in notes
        ]
