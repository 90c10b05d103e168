"""What a call of remember writes: its references resolved to keys, and its items as intents."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.node_references import ReferencedNode
from kgagent.graph.nodes import NodeIntent, NodeWriteOptions
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, is_part_of_name, normalised_name
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteOptions
from kgagent.graph.short_keys import message_key
from kgagent.ontology import Ontology
from kgagent.tools.arguments import NewNote, build_notes
from kgagent.tools.context import ToolContext
from kgagent.tools.note_edits import NoteCorrection
from kgagent.tools.owner import owner_values
from kgagent.tools.relationship_direction import check_direction
from kgagent.tools.remember_arguments import RememberedNode, RememberedNote, RememberedRelationship

_NAMESPACE = uuid.UUID("0b6e0f5a-3c52-4c7e-9a43-6d1f1f5b8a27")


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


@dataclass(frozen=True)
class Target:
    """The node that an item describes.

    Attributes:
        entity_key: its key; for a new node, the key that it gets.
        is_new: whether it did not exist when the call began.
        renames: whether the item's name replaces the stored one.
    """

    entity_key: str
    is_new: bool = False
    renames: bool = False


Targets = Mapping[int, Target | KgAgentError]


def node_options() -> NodeWriteOptions:
    """Options of writes of nodes: an existing node keeps its label, name and time of creation."""

    def prepare(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
        if stored is None or not isinstance(intent, RememberedNodeIntent):
            return intent
        if intent.expected_label not in {None, stored.label}:
            raise InputError(f"{stored.text('name')!r} is a {stored.label}, not a {intent.expected_label}")
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
    """Options of writes of relationships, which keep their direction."""

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if stored is not None and isinstance(intent, RememberedRelationshipIntent) and intent.correction is not None:
            return replace(intent, values=intent.correction.values(stored))
        check_direction(intent, stored, ontology)
        return intent

    return RelationshipWriteOptions(prepare=prepare)


async def find_targets(context: ToolContext, items: Mapping[int, RememberedNode], now: datetime) -> Targets:
    """Find the node that each item describes: by `entity_key`, by name, or a new one.

    Args:
        context: the user's graph.
        items: the items by their positions.
        now: when they are written.

    Returns:
        A target for each position, or the error of the item.
    """
    by_key = {position: item.entity_key for position, item in items.items() if item.entity_key is not None}
    resolved = await context.references.resolve_each(context.user_id, by_key.values()) if by_key else {}
    found: dict[int, str | InputError | None] = {position: resolved[key] for position, key in by_key.items()}
    named: dict[str | None, dict[int, str]] = {}
    for position, item in items.items():
        if item.entity_key is None and item.name is not None and not item.new:
            named.setdefault(item.label, {})[position] = item.name
    for label, names in named.items():
        if label is None or label in context.ontology.labels:
            by_name = await _named(context, names.values(), None if label is None else [label])
            found |= {position: by_name[name] for position, name in names.items()}
    targets: dict[int, Target | KgAgentError] = {}
    for position, item in items.items():
        outcome = found.get(position)
        try:
            targets[position] = (
                outcome
                if isinstance(outcome, InputError)
                else Target(_new_key(context, item, now), is_new=True)
                if outcome is None
                else Target(outcome, renames=item.entity_key is not None)
            )
        except InputError as error:
            targets[position] = error
    targets |= _indistinct(items)
    targets |= await _taken_names(context, items, targets)
    return await _with_free_keys(context, items, targets)


def _indistinct(items: Mapping[int, RememberedNode]) -> dict[int, InputError]:
    """An error for each of the items that have different refs but one label and name: one node would get both."""
    same: dict[tuple[str | None, str], list[int]] = {}
    for position, item in items.items():
        if item.entity_key is None and item.name is not None and item.ref is not None and not item.new:
            same.setdefault((item.label, normalised_name(item.name)), []).append(position)
    return {
        position: InputError(
            f"nodes {', '.join(map(str, positions))} have different refs and one name. If they are one thing, give one "
            'item; if not, give all but one "new": true, or names that differ'
        )
        for positions in same.values()
        if len({items[position].ref for position in positions}) > 1
        for position in positions
    }


async def _taken_names(
    context: ToolContext, items: Mapping[int, RememberedNode], targets: Mapping[int, Target | KgAgentError]
) -> dict[int, InputError]:
    """An error for each item that gives an existing node the name of another."""
    renamed = {
        position: (item.name, target.entity_key)
        for position, item in items.items()
        if isinstance(target := targets[position], Target) and target.renames and item.name is not None
    }
    if not renamed:
        return {}
    found = await context.references.candidates(context.user_id, {name for name, _ in renamed.values()})
    errors: dict[int, InputError] = {}
    for position, (name, key) in renamed.items():
        others = _named_exactly(name, found[name])
        if others and all(node.entity_key != key for node in others):
            other = others[0]
            errors[position] = InputError(
                f"{other.label} {other.name!r} ({message_key(other.entity_key)}) has that name. merge_nodes joins two "
                "nodes of one thing; give nodes of different things names that differ"
            )
    return errors


async def _named(
    context: ToolContext, names: Iterable[str], labels: Sequence[str] | None
) -> dict[str, str | InputError | None]:
    """The key of the node with each name, None if there is none, or an error that lists several."""
    candidates = await context.references.candidates(context.user_id, names, labels)
    keys = {name: _keys_of(name, nodes) for name, nodes in candidates.items()}
    ambiguous = [name for name, found in keys.items() if len(found) > 1]
    errors = await context.references.resolve_each(context.user_id, ambiguous, labels) if ambiguous else {}
    return {name: errors.get(name) or next(iter(found), None) for name, found in keys.items()}


def _keys_of(name: str, nodes: Iterable[ReferencedNode]) -> list[str]:
    """The keys of nodes with a name; the beginning of a key is not a name."""
    forms = ReferenceForms.of(name)
    if forms is not None and forms.is_owner:
        return [node.entity_key for node in nodes]
    return [node.entity_key for node in _named_exactly(name, nodes)]


def _named_exactly(name: str, nodes: Iterable[ReferencedNode]) -> list[ReferencedNode]:
    return [node for node in nodes if normalised_name(node.name) == normalised_name(name)]


def _new_key(context: ToolContext, item: RememberedNode, now: datetime) -> str:
    """The key of a new node.

    Where the label's rule is random, the key derives from the name, so that concurrent calls create one node.

    Raises:
        InputError: the label is missing or unknown.
    """
    forms = ReferenceForms.of(item.name or "")
    if forms is not None and forms.is_owner:
        raise InputError(f"{item.name!r} is the owner of the graph, whom no node stands for; give name and is_owner")
    if item.label is None or item.name is None:
        raise InputError(
            f"No node is named exactly {item.name!r}. Give the full name or key of an existing node, or a label "
            f"({', '.join(context.ontology.labels)}) to create it"
        )
    rule = context.ontology.label(item.label)
    if not rule.is_deterministic and not item.new:
        return str(uuid.uuid5(_NAMESPACE, "\n".join((context.user_id, item.label, normalised_name(item.name)))))
    return rule.entity_key(
        name=item.name,
        description=item.description or "",
        user_id=context.user_id,
        created_at=now.isoformat(),
    )


async def _with_free_keys(
    context: ToolContext, items: Mapping[int, RememberedNode], targets: Mapping[int, Target | KgAgentError]
) -> Targets:
    """Give new nodes another key where a node that has been renamed since holds the one that derives from the name."""
    derived = {
        position: target
        for position, target in targets.items()
        if isinstance(target, Target)
        and target.is_new
        and not context.ontology.labels[items[position].label or ""].is_deterministic
    }
    taken = await context.nodes.read(context.user_id, [target.entity_key for target in derived.values()])
    fresh: dict[str, str] = {}
    return {
        **targets,
        **{
            position: replace(target, entity_key=fresh.setdefault(target.entity_key, str(uuid.uuid4())))
            for position, target in derived.items()
            if target.entity_key in taken
        },
    }


@dataclass
class References:
    """What the references of a call mean: a `ref` or name of one of its nodes, or a node of the graph.

    Attributes:
        local: keys by ref, and by name as compared; a name of several nodes of the call is missing.
        broken: the refs and names of nodes that cannot be written, with their positions.
        owner: key of the node that the call marks as the owner.
        stored: keys of nodes of the graph, or the error.
        notices: which nodes those references mean that are not exactly a name.
    """

    local: dict[str, str] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    owner: str | None = None
    stored: dict[str, str | InputError] = field(default_factory=dict)
    notices: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def of(
        cls,
        context: ToolContext,
        items: Mapping[int, RememberedNode],
        targets: Targets,
        references: Iterable[str],
        *,
        rejected: Iterable[str] = (),
    ) -> "References":
        """Resolve references, those to nodes of the graph with one request.

        Args:
            context: the user's graph.
            items: the nodes of the call.
            targets: what they describe.
            references: what to resolve.
            rejected: refs and names of invalid nodes of the call, for which no node with a similar name stands.
        """
        self, rejected = cls(), list(rejected)
        names: dict[str, set[str]] = {}
        for position, item in items.items():
            target = targets[position]
            for reference in filter(None, (item.ref, item.name and normalised_name(item.name), item.entity_key)):
                if isinstance(target, Target):
                    names.setdefault(reference, set()).add(target.entity_key)
                else:
                    self.broken.setdefault(reference, position)
            if item.is_owner and isinstance(target, Target):
                self.owner = self.owner or target.entity_key
        refs = {item.ref: targets[position] for position, item in items.items() if item.ref is not None}
        self.local = {name: next(iter(keys)) for name, keys in names.items() if len(keys) == 1}
        self.local |= {ref: target.entity_key for ref, target in refs.items() if isinstance(target, Target)}
        others = [one for one in dict.fromkeys(references) if self._in_call(one) is None]
        if others:
            names_of_call = {normalised_name(name) for name in (*self.broken, *rejected, *names)}
            found = await context.references.resolve_loosely(context.user_id, others, exactly=names_of_call)
            self.stored, self.notices = dict(found.keys), dict(found.notices)
            self._compare_with_call(_people(context.ontology, items, targets, rejected))
        return self

    def key(self, reference: str) -> str:
        """The key of the node that a reference means.

        Raises:
            InputError: it means none, or several.
        """
        key = self._in_call(reference) or self.stored[reference]
        if isinstance(key, str):
            return key
        position = self.broken.get(reference, self.broken.get(normalised_name(reference)))
        if position is not None:
            raise InputError(f"{reference!r} is nodes[{position}], which was not written")
        if isinstance(key, NodeNotFoundError) and not key.hint:
            raise NodeNotFoundError(key.problem, "Add it to nodes to create it")
        raise key

    def _compare_with_call(self, people: Mapping[str, str | None]) -> None:
        """Let a part of the name of a person of this call mean that person, unless a stored one may be meant.

        Args:
            people: keys of the people of the call by name; None for one that cannot be written.
        """
        for reference, found in self.stored.items():
            is_exact = isinstance(found, str) and reference not in self.notices
            names = [name for name in people if is_part_of_name(reference, name)]
            if not names or is_exact or not isinstance(found, str | NodeNotFoundError):
                continue
            meant = {people[name] for name in names} | ({found} if isinstance(found, str) else set())
            key = next(iter(meant))
            notice = self.notices.pop(reference, None)
            if len(meant) == 1 and key is not None:
                self.stored[reference] = key
                self.notices[reference] = notice or f"{reference} → {names[0]}"
            else:
                self.stored[reference] = InputError(
                    f"{reference!r} may be {' or '.join(map(repr, names))} of this call; give a whole name, "
                    "or the key of a stored node"
                )

    def _in_call(self, reference: str) -> str | None:
        forms = ReferenceForms.of(reference)
        if self.owner is not None and forms is not None and forms.is_owner:
            return self.owner
        return self.local.get(reference) or self.local.get(normalised_name(reference))


def _people(
    ontology: Ontology, items: Mapping[int, RememberedNode], targets: Targets, rejected: Iterable[str]
) -> dict[str, str | None]:
    """The keys of the people of a call by name; None for those that cannot be written."""
    people: dict[str, str | None] = dict.fromkeys(rejected)
    for position, item in items.items():
        target = targets[position]
        if item.name is None:
            continue
        if not isinstance(target, Target):
            people[item.name] = None
        elif item.label in {None, ontology.owner_label}:
            people[item.name] = target.entity_key
    return people


def references_in(
    relationships: Iterable[RememberedRelationship], notes: Iterable[RememberedNote], nodes: Iterable[RememberedNode]
) -> list[str]:
    """All references of a call to nodes, in the order in which they occur."""
    found: list[str] = []
    added: list[NewNote | str] = [note for node in nodes for note in node.notes]
    for relationship in relationships:
        found += [relationship.from_, relationship.to]
        added += relationship.notes
    for note in notes:
        found += ends(note)
        added.append(note)
    found += [note.source_entity_key for note in added if isinstance(note, NewNote) and note.source_entity_key]
    return found


def ends(note: RememberedNote) -> list[str]:
    """The node of a note, or the two nodes of its relationship."""
    return [note.on] if isinstance(note.on, str) else note.on


@dataclass(frozen=True)
class Intents:
    """Makes the writes of a call.

    Attributes:
        context: the user's graph.
        references: what its references mean.
        now: when the items are written.
    """

    context: ToolContext
    references: References
    now: datetime

    async def node(self, item: RememberedNode, target: Target) -> RememberedNodeIntent:
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
        if item.is_owner and self.references.owner != target.entity_key:
            raise InputError("another node of this call has is_owner; a graph has one owner")
        owner = await owner_values(
            self.context,
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
            values=values,
            notes=build_notes(self._with_sources(item.notes), self.context, self.now),
            missing="Relationship not found between {a} and {b}; give relationship_type to create it",
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
            missing="Relationship not found between {a} and {b}; create it in relationships",
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
