"""The nodes of a user: how they are read, and how they are created and changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.aliases import changed_aliases
from kgagent.graph.existing_records import node_exists
from kgagent.graph.history import history_change
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_saver import (
    RecordSaver,
    changed_properties,
    embedding_text,
    with_properties,
    write_records,
)
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.store import Store
from kgagent.graph.writes import PlannedWrite, WriteContext, WriteOptions, WriteResult
from kgagent.models import GraphNode, Note
from kgagent.ontology import Ontology
from kgagent.turns import in_turns


@dataclass(frozen=True, kw_only=True)
class NodeIntent:
    """What to write of a node.

    Attributes:
        entity_key: the node's key; for a new node, the key that it gets.
        label: label of a new node; None if the node must exist.
        or_update: with `label`, whether an existing node is changed instead of refused.
        values: properties to set; None removes one.
        notes: notes to add.
        aliases: other names to add.
        correction: whether what it replaces was never right.
    """

    entity_key: str
    label: str | None = None
    or_update: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    aliases: tuple[str, ...] = ()
    correction: bool = False


NodeWriteResult = WriteResult[GraphNode]
"""A node after a write."""

NodeWriteOptions = WriteOptions[NodeIntent, NodeRecord]
"""Options of writes of nodes."""


class NodeRepository:
    """Reads the nodes of all users; each call names the owner. It also says how a node is embedded
    and stored.
    """

    plural = "nodes"

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self.store = store
        self.ontology = ontology
        self.names = {"labels": Identifier.any_of(ontology.labels)}

    async def read(
        self,
        user_id: str,
        keys: Sequence[str],
        labels: Sequence[str] | None = None,
        *,
        for_update: bool = False,
    ) -> dict[str, NodeRecord]:
        """Read nodes by their keys; keys of which the user has no node are missing from the result.

        Args:
            user_id: owner of the nodes.
            keys: their keys.
            labels: labels to prefer for a node that carries several; None prefers the first of the
                ontology's.
            for_update: whether a write depends on what is read; see `Store.read_for_update`.
        """
        if not keys:
            return {}
        lock = Fragment("_node_lock" if for_update else "_no_lock")
        read = self.store.read_for_update if for_update else self.store.read
        [row] = await read(
            statement("read_nodes", lock=lock, **self.names),
            {"user_id": user_id, "keys": sorted(set(keys))},
        )
        records = (NodeRecord.read(node, self.ontology, labels=labels) for node in row["nodes"])
        return {record.entity_key: record for record in records}

    async def get(
        self, user_id: str, keys: Sequence[str], labels: Sequence[str] | None = None
    ) -> list[GraphNode]:
        """Find nodes by their keys, in the order of the keys; keys without a node are skipped.

        The arguments are those of `read`.
        """
        records = await self.read(user_id, keys, labels)
        found = (records[key] for key in dict.fromkeys(keys) if key in records)
        return await in_turns(lambda record: record.to_model(self.ontology), found)

    async def best_connected(self, user_id: str, limit: int) -> list[tuple[GraphNode, int]]:
        """Find the nodes with the most relationships, and their number; the owner of the graph
        first.
        """
        types = Identifier.any_of(self.ontology.relationships)
        text = statement("best_connected_nodes", types=types, **self.names)
        rows = await self.store.read(text, {"user_id": user_id, "limit": limit})
        found = [(row["node"], row["degree"]) for row in rows if row["node"]]
        return [
            (NodeRecord.read(node, self.ontology).to_model(self.ontology), degree)
            for node, degree in found
        ]

    async def count_by_label(self, user_id: str) -> dict[str, int]:
        """Count one user's nodes by label, in the order of the ontology; of several labels, the
        first counts.
        """
        labels = list(self.ontology.labels)
        rows = await self.store.read(
            statement("count_nodes_by_label", **self.names),
            {"user_id": user_id, "label_order": dict(self.ontology.label_order)},
        )
        counts = {labels[row["place"]]: int(row["found"]) for row in rows}
        return {label: counts.get(label, 0) for label in labels}

    def text(self, record: NodeRecord, now: datetime) -> str:
        """The embedding text of a node: "<name> <description> <notes_text>"."""
        return embedding_text(
            record.text("name"), record.text("description"), notes=record.notes, now=now
        )

    def location(self, record: NodeRecord) -> Mapping[str, Any]:
        """Its label and its key."""
        return {"label": record.label, "entity_key": record.entity_key}

    def statement_location(self, record: NodeRecord) -> Mapping[str, Any]:
        """Its key, and no type, by which an index can keep the statements of nodes too."""
        return {
            "record": record.entity_key,
            "from_entity_key": record.entity_key,
            "relationship_type": "",
        }

    def bookkeeping(self, record: NodeRecord, user_id: str, now: datetime) -> dict[str, Any]:
        """The owner, and the other names and notes as full-text search finds them."""
        return {"user_id": user_id, "notes_text": record.notes_text(now)}

    def to_model(self, record: NodeRecord, asked_from: str | None = None) -> GraphNode:  # noqa: ARG002
        """The node as callers see it."""
        return record.to_model(self.ontology)


@dataclass
class NodeState:
    """A node as it is stored, or as the last plan leaves it; None if it does not exist."""

    record: NodeRecord | None


class NodeStrategy:
    """Creates and changes the nodes of one user; see `compare_and_set`."""

    def __init__(
        self,
        nodes: NodeRepository,
        context: WriteContext,
        *,
        user_id: str,
        options: NodeWriteOptions | None = None,
    ) -> None:
        self._nodes = nodes
        self._context = context
        self._user_id = user_id
        self._options = options or NodeWriteOptions()
        self.saver = RecordSaver(
            kind=nodes,
            context=context,
            user_id=user_id,
            write=write_records(nodes.ontology),
            options=self._options,
        )

    def identity(self, intent: NodeIntent) -> str:
        """The node's key."""
        return intent.entity_key

    async def read(self, intents: Sequence[NodeIntent]) -> Sequence[NodeState]:
        """Read the node of each intent; intents about one node share its state."""
        keys = [intent.entity_key for intent in intents]
        records = await self._nodes.read(self._user_id, keys, for_update=not self._options.dry_run)
        states = {key: NodeState(records.get(key)) for key in keys}
        return [states[key] for key in keys]

    def plan(self, intent: NodeIntent, state: NodeState) -> PlannedWrite[NodeRecord]:
        """Decide what to write.

        Raises:
            NodeNotFoundError: the node does not exist for this user.
            AlreadyExistsError: the node to create exists.
            InputError: the name to change is part of the node's key, or too many aliases are given.
        """
        stored = state.record
        if self._options.prepare is not None:
            intent = self._options.prepare(intent, stored)
        if stored is None:
            if intent.label is None:
                raise NodeNotFoundError(f"Node not found: {intent.entity_key}")
            own = {"entity_key": intent.entity_key, "user_id": self._user_id}
            before = NodeRecord(
                element_id="", label=intent.label, vector_length=None, properties=own
            )
        else:
            self._check(intent, stored)
            before = stored
        values = {
            **intent.values,
            **changed_aliases(before, values=intent.values, added=intent.aliases),
        }
        changes = changed_properties(before, values, intent.notes, self._context)
        changes |= history_change(
            stored,
            changes,
            until=self._context.clock(),
            by=self._user_id,
            ended=self._options.said_on,
            source_entity_key=self._options.source_entity_key,
            corrected=intent.correction,
        )
        state.record = with_properties(before, changes)
        return PlannedWrite(stored, state.record, changes)

    async def save(
        self, plans: Mapping[int, PlannedWrite[NodeRecord]]
    ) -> Mapping[int, NodeWriteResult | KgAgentError]:
        """Embed and write; a plan that met a conflict is missing from the result."""
        return await self.saver.save(plans)

    def _check(self, intent: NodeIntent, stored: NodeRecord) -> None:
        old, new = stored.text("name"), intent.values.get("name")
        if intent.label not in {None, stored.label}:
            raise InputError(
                f"This {intent.label} would have the key of the {stored.label} {old!r}; choose "
                f"another name"
            )
        if intent.label is not None and not intent.or_update:
            raise node_exists(stored)
        if (
            new is not None
            and self._nodes.ontology.label(stored.label).key_includes_name
            and new.lower() != old.lower()
        ):
            raise InputError(
                f"Nodes of label {stored.label} are identified by their names, so {old!r} cannot "
                f"become {new!r}; "
                "give the new one in aliases, and both refer to it"
            )
