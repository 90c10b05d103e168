"""Writes the items of a call: which nodes they mean, what each changes, and one write of all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy, GraphWriteResult, Intent
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.reference_forms import is_generated_key
from kgagent.graph.references import References
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.writes import WriteMode, WriteOptions
from kgagent.models import GraphNode, Note
from kgagent.models.note import times_of_note
from kgagent.names import normalised_name
from kgagent.tools.arguments import NewNote, known_label
from kgagent.tools.context import ToolContext
from kgagent.tools.item_nodes import (
    Target,
    Targets,
    call_nodes,
    find_targets,
    new_keys,
    owner_values,
)
from kgagent.tools.items import (
    ListName,
    RememberedNode,
    RememberedNote,
    RememberedRelationship,
)
from kgagent.trust import OWN, Trust, lower

Position = tuple[ListName, int]
"""The list of an item, and its index there."""

Item = RememberedNode | RememberedRelationship | RememberedNote

_VALUES = {
    "relationship_type",
    "description",
    "attitude",
    "proximity",
    "when",
    "confidence",
    "salience",
}


@dataclass
class Outcome:
    """What became of the items of a call.

    Attributes:
        written: the results of the items that were written.
        failures: why the others were not.
        intents: what each item writes.
        notices: which nodes references mean that are not exactly named.
        sources: the positions of the sources that were created for the items.
    """

    written: dict[Position, GraphWriteResult] = field(default_factory=dict)
    failures: dict[Position, KgAgentError] = field(default_factory=dict)
    intents: dict[Position, Intent] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    sources: set[Position] = field(default_factory=set)

    def single(self) -> Any:  # noqa: ANN401
        """The result of the only item, beside the sources of its notes.

        Raises:
            KgAgentError: it was not written.
        """
        for error in self.failures.values():
            raise error
        [written] = (one for place, one in self.written.items() if place not in self.sources)
        return written

    @property
    def new_sources(self) -> list[GraphNode]:
        """The sources that are new."""
        records = (one.record for place, one in self.written.items() if place in self.sources)
        return [record for record in records if isinstance(record, GraphNode)]


async def write_item(
    context: ToolContext,
    name: ListName,
    item: Item,
    mode: WriteMode,
    **more: Any,  # noqa: ANN401
) -> Outcome:
    """Write one item; see `ItemWriter`."""
    return await ItemWriter(context, {(name, 0): item}, mode=mode, **more).run()


@dataclass
class ItemWriter:
    """Writes the items of one call; each succeeds or fails by itself.

    Attributes:
        context: the user's graph.
        items: the valid items by their positions.
        rejected: refs and names of invalid nodes of the call, with their indexes.
        mode: whether what the items describe must not exist, must exist, or may exist. If it must
            exist, an empty value clears the stored one, and a type replaces it.
        said_on: when what the items say was said, in EDTF.
        source: what they come from, unless they say so themselves.
        idempotency_key: calls with the same key create each node once.
        missing: the error if a relationship does not exist; see `RelationshipIntent`.
        advice: what an error about a reference to no node says to do.
        dry_run: whether nothing is written.
    """

    context: ToolContext
    items: dict[Position, Item]
    rejected: Mapping[str, int] = field(default_factory=dict)
    mode: WriteMode = "either"
    said_on: str | None = None
    source: str | None = None
    idempotency_key: str | None = None
    missing: str = RelationshipIntent.missing
    advice: str = ""
    dry_run: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    _found: References = field(init=False)
    _targets: Targets = field(default_factory=dict)
    _new: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Take the time of the call."""
        self.now = self.context.write_context.clock()
        self.items = {
            position: item.model_copy(
                update={"label": known_label(self.context.ontology, item.label)}
            )
            if isinstance(item, RememberedNode)
            else item
            for position, item in self.items.items()
        }

    async def run(self) -> Outcome:
        """Find the nodes, decide what each item writes, and write all together.

        Raises:
            StoreError: the database failed while the nodes were looked for.
        """
        await self._find()
        for position, item in self.items.items():
            try:
                self.outcome.intents[position] = self._intent(position, item)
            except InputError as error:
                self.outcome.failures[position] = error
        await self._write()
        return self.outcome

    @property
    def nodes(self) -> dict[int, RememberedNode]:
        """The nodes of the call."""
        return {
            index: item
            for (_, index), item in self.items.items()
            if isinstance(item, RememberedNode)
        }

    async def _find(self) -> None:
        """Find the nodes that the items mean.

        One statement finds the nodes of all references of the call; two more are sent if references
        are unknown.
        """
        context, nodes = self.context, self.nodes
        sources = list(dict.fromkeys(self._sources()))
        references = list(self._references())
        possible = new_keys(context, nodes, self.now, self.idempotency_key, mode=self.mode)
        keys = [
            key
            for index, key in possible.items()
            if not nodes[index].new or self.idempotency_key or self._is_named_once(nodes[index])
        ]
        written_names = [
            item.name
            for item in nodes.values()
            if item.name and (not item.new or self._is_named_once(item))
        ]
        own = {
            normalised_name(name)
            for item in nodes.values()
            for name in (item.ref, item.name, *item.aliases)
            if name
        }
        own |= set(map(normalised_name, self.rejected))
        changed = [item for item in nodes.values() if item.entity_key]
        is_owner = any(item.is_owner for item in nodes.values())
        # A key needs no statement unless the call has nodes that a relationship may join.
        is_key_enough = self.mode != "either" and not is_owner

        def is_known(reference: str) -> bool:
            return is_key_enough and is_generated_key(reference)

        # An item that renames a node must name it exactly.
        exactly = [item.entity_key or "" for item in changed if item.name is not None]
        loosely = [item.entity_key or "" for item in changed if item.name is None]
        self._found = found = await context.resolver.find(
            context.user_id,
            [
                text
                for text in (*loosely, *references)
                if normalised_name(text) not in own and not is_known(text)
            ],
            names=[
                *(t for t in (*written_names, *exactly, *references) if not is_known(t)),
                *sources,
            ],
            keys=keys,
            with_owners=is_owner,
        )
        found.advice = self.advice
        new = self._new_sources(sources, own)
        self.outcome.sources = {("nodes", index) for index in new}
        self.items = {**{("nodes", index): item for index, item in new.items()}, **self.items}
        # A key may derive from the description, which these lack.
        distinct = {
            i: item.model_copy(update={"description": item.name}) for i, item in new.items()
        }
        possible |= new_keys(context, distinct, self.now, self.idempotency_key, mode="either")
        self._new = frozenset(possible.values()) - found.by_key.keys()
        self._targets = {
            **await find_targets(context, found, nodes, possible, mode=self.mode),
            **await find_targets(context, found, new, possible, mode="either"),
        }
        nodes |= new
        for node in call_nodes(nodes, self._targets, self.rejected, context.ontology):
            found.add(node)
        targets = [target for target in self._targets.values() if isinstance(target, Target)]
        self.outcome.notices = [
            *found.notices(references),
            *(target.notice for target in targets if target.notice),
        ]

    def _is_named_once(self, item: RememberedNode) -> bool:
        rule = self.context.ontology.labels.get(item.label or "")
        return rule is not None and rule.key_includes_name

    def _new_sources(self, given: Iterable[str], own: set[str]) -> dict[int, RememberedNode]:
        """The sources to create: the names that no node has, neither in the graph nor in the
        call.
        """
        label = self.context.ontology.source_label
        names = {
            normalised_name(text): text
            for text in given
            if label is not None and not is_generated_key(text) and not self._found.nodes(text)
        }
        first = max((*self.nodes, *self.rejected.values()), default=-1) + 1
        unknown = (text for name, text in names.items() if name not in own)
        return {
            index: RememberedNode(label=label, name=name)
            for index, name in enumerate(unknown, first)
        }

    def _references(self) -> Iterator[str]:
        """All references to nodes, in the order in which they occur."""
        for item in self.items.values():
            if isinstance(item, RememberedRelationship):
                yield from (item.from_, item.to)
            elif isinstance(item, RememberedNote):
                yield from item.ends

    def _sources(self) -> Iterator[str]:
        """The sources that the call gives, unless all that it writes comes from another one."""
        if self.context.source_entity_key is not None:
            return
        if self.source is not None:
            yield self.source
        for item in self.items.values():
            notes = [item] if isinstance(item, RememberedNote) else item.notes
            for note in notes:
                if isinstance(note, NewNote) and note.source_entity_key:
                    yield note.source_entity_key

    def _key(self, reference: str) -> str:
        """The key of the node that a reference means.

        Raises:
            InputError: it means none, or several.
        """
        if self.mode != "either" and is_generated_key(reference):
            return reference
        return self._found.key(reference)

    def _ends(self, references: Sequence[str]) -> list[str]:
        """The keys of the two nodes of a relationship.

        Raises:
            NodeNotFoundError: one or both do not exist.
            InputError: a reference means several nodes, or one that is not written.
        """
        keys: list[str] = []
        missing: dict[str, str] = {}
        for reference in references:
            try:
                keys.append(self._key(reference))
            except NodeNotFoundError as error:
                missing[reference] = error.hint
        if missing:
            hint = ". ".join(filter(None, dict.fromkeys(missing.values())))
            raise NodeNotFoundError(f"Node not found: {', '.join(missing)}", hint)
        return keys

    def _intent(self, position: Position, item: Item) -> Intent:
        if isinstance(item, RememberedNode):
            return self._node(position[1], item)
        if isinstance(item, RememberedRelationship):
            return self._relationship(item)
        return self._note(item)

    def _node(self, index: int, item: RememberedNode) -> NodeIntent:
        """Create or update a node.

        Raises:
            InputError: it means no node, or another node is the owner.
        """
        target = self._targets[index]
        if isinstance(target, KgAgentError):
            raise target
        marked = self._found.marked_owner
        if item.is_owner and marked is not None and marked.entity_key != target.entity_key:
            raise InputError("another node in this call has is_owner; a graph has one owner")
        clears = self.mode == "update"
        values: dict[str, Any] = dict(
            owner_values(
                self.context,
                self._found,
                is_owner=item.is_owner if clears else item.is_owner or None,
                entity_key=target.entity_key,
                label=item.label if target.is_new else None,
            )
        )
        if target.renames and item.name:
            values["name"] = item.name
        if item.description or (clears and item.description is not None):
            values["description"] = item.description
        if item.removes_aliases or (clears and item.aliases == [] and item.is_given("aliases")):
            values["aliases"] = None
        mode: WriteMode = "update"
        if ("nodes", index) in self.outcome.sources:
            mode = "either"
        elif target.is_new or self.mode == "create":
            mode = self.mode
        return NodeIntent(
            entity_key=target.entity_key,
            label=item.label,
            mode=mode,
            initial={"name": item.name, "description": "", "created_at": self.now},
            values=values,
            notes=self._new_notes(item.notes),
            aliases=tuple(item.aliases),
            correction=item.correction,
        )

    def _relationship(self, item: RememberedRelationship) -> RelationshipIntent:
        """Create or update a relationship.

        Raises:
            InputError: a node is unknown, or a note is invalid.
        """
        values = item.model_dump(include=_VALUES, exclude_none=True)
        if not values.get("description") and self.mode == "either":
            values.pop("description", None)
        first, second = self._ends((item.from_, item.to))
        return RelationshipIntent(
            from_entity_key=first,
            to_entity_key=second,
            neo4j_type=item.neo4j_type,
            relationship_id=item.relationship_id,
            mode=self.mode,
            adds_type=self.mode == "either" and not (item.replaces or item.correction),
            correction=item.correction,
            ends=tuple(map(self._found.with_owner, item.ends)),
            values={**values, **dict.fromkeys(item.clear)},
            notes=self._new_notes(item.notes),
            missing=self.missing,
        )

    def _note(self, item: RememberedNote) -> Intent:
        """Add a note to a node or a relationship, or edit one.

        Raises:
            InputError: a node is unknown, or the note is invalid.
        """
        keys = [self._key(item.ends[0])] if len(item.ends) == 1 else self._ends(item.ends)
        edit = self._edit(item)
        notes = () if edit else self._new_notes([item])
        if len(keys) == 1:
            return NodeIntent(entity_key=keys[0], notes=notes, edit=edit)
        given_type = {"relationship_type": item.relationship_type}
        return RelationshipIntent(
            from_entity_key=keys[0],
            to_entity_key=keys[1],
            neo4j_type=item.neo4j_type,
            relationship_id=item.relationship_id,
            mode="either" if edit is None else "update",
            initial=given_type if item.relationship_type else {},
            notes=notes,
            edit=edit,
            missing=self.missing,
        )

    def _edit(self, item: RememberedNote) -> NoteEdit | None:
        """The edit of a stored note; None if the item adds one.

        Raises:
            InputError: it has a quote of no source, or the ontology has no such lifetime.
        """
        if item.replaces is None:
            return None
        source = self._source_of(item)
        trust = lower(self.context.write_context.trust, self._trust_of(source))
        if item.removes:
            return NoteEdit(item.replaces, None, trust)
        changes: dict[str, object] = {"content": item.content} if item.content else {}
        if item.when or self.said_on:
            changes |= times_of_note(item.when, self.said_on)
        if item.lifetime is not None:
            changes["expires_at"] = self.context.ontology.note_expiry(item.lifetime, self.now)
        if item.quote and source is None:
            raise InputError("The quote of a stored note needs the source that it is from")
        if source:
            changes["source_entity_key"] = source
        if item.content or source:
            # Words for another text, or of another source, do not say it.
            changes["quote"] = item.quote
        return NoteEdit(item.replaces, changes, trust)

    def _new_notes(self, given: Sequence[NewNote | str]) -> tuple[Note, ...]:
        """Notes to add, with the keys of their sources.

        Raises:
            InputError: the ontology has no such lifetime, or a source is a key of no node.
        """
        notes = (NewNote(content=note) if isinstance(note, str) else note for note in given)
        sources = ((note, self._source_of(note)) for note in notes)
        return tuple(
            Note(
                content=note.content,
                **times_of_note(note.when, self.said_on),
                added_by=self.context.user_id,
                date_added=self.now,
                source_entity_key=source,
                trust=self._trust_of(source),
                quote=note.quote,
                expires_at=self.context.ontology.note_expiry(note.lifetime, self.now),
            )
            for note, source in sources
        )

    def _source_of(self, note: NewNote) -> str | None:
        """The key of the source of a note; its name if the ontology has no label for sources.

        Raises:
            InputError: it is a key of no node, or means several, or a node of the call that is not
                written.
        """
        source = self.context.source_entity_key or note.source_entity_key or self.source
        if source is None or source == self.context.source_entity_key:
            return source
        is_known = source in self._found.by_key or source in self._new
        if is_generated_key(source) and not is_known:
            raise InputError(
                f"No node has the key {source}, the source of a note. Give the key of a node, or a "
                f"name"
            )
        return self._found.key_or_text(source)

    def _trust_of(self, source: str | None) -> Trust:
        """The class of a source, above which nothing gets that comes from it."""
        node = self._found.node(source or "")
        return OWN if node is None else node.trust

    async def _write(self) -> None:
        """Write the nodes and then the relationships, with one request for embeddings."""
        context, outcome = self.context, self.outcome
        if outcome.intents.keys() <= outcome.sources:
            return
        intents = dict(
            sorted(
                outcome.intents.items(), key=lambda item: isinstance(item[1], RelationshipIntent)
            )
        )
        source = context.source_entity_key
        if source is None and self.source:
            # A note that refers to an unknown source fails by itself.
            with suppress(InputError):
                source = self._found.key(self.source)
        strategy = GraphStrategy(
            context.graph,
            WriteOptions(
                dry_run=self.dry_run,
                source_entity_key=source,
                said_on=self.said_on,
                trust=self._trust_of(source),
            ),
            new=self._new,
            stored=self._found.by_key,
            sources={
                intent.entity_key
                for place, intent in intents.items()
                if isinstance(intent, NodeIntent) and place in outcome.sources
            },
        )
        results = await compare_and_set(
            strategy, list(intents.values()), attempts=context.write_context.attempts
        )
        for position, result in zip(intents, results, strict=True):
            if isinstance(result, KgAgentError):
                outcome.failures[position] = result
            else:
                outcome.written[position] = result
        if not outcome.written:
            for place in outcome.sources:
                outcome.failures.pop(place, None)
        written = [outcome.intents[position] for position in outcome.written]
        outcome.notices += strategy.quotes.notices(written)
        self._explain_unwritten(intents)

    def _explain_unwritten(self, intents: Mapping[Position, Intent]) -> None:
        """Say of items that failed because a new node was not written which node that is."""
        outcome = self.outcome
        written = {
            result.record.entity_key
            for result in outcome.written.values()
            if isinstance(result.record, GraphNode)
        }
        missing = {
            target.entity_key: index
            for index, target in self._targets.items()
            if isinstance(target, Target) and target.is_new and target.entity_key not in written
        }
        for position, intent in intents.items():
            keys = (
                (intent.entity_key,)
                if isinstance(intent, NodeIntent)
                else (intent.from_entity_key, intent.to_entity_key)
            )
            indexes = [missing[key] for key in keys if key in missing]
            if position[0] != "nodes" and position in outcome.failures and indexes:
                error = InputError(f"nodes[{indexes[0]}] was not written")
                outcome.failures[position] = error
