"""The nodes of a user: read, created and changed so that each embedding is always that of its node's current text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from kgagent.embedding.text import node_text
from kgagent.errors import AlreadyExistsError, InputError, NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_writer import PlannedWrite, RecordWriter, WriteContext, WriteResult, without_nothing
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models import GraphNode, Note
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class NodeIntent:
    """What a caller wants of a node.

    Attributes:
        entity_key: the node's key; for a new node, the key that it gets.
        label: label of a new node; None where the node must exist.
        or_update: with `label`, an existing node is changed instead of refused.
        values: properties to set; None removes one.
        notes: notes to add.
    """

    entity_key: str
    label: str | None = None
    or_update: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


NodeWritten = WriteResult[GraphNode]
"""A node after a write."""


class NodeRepository:
    """Reads the nodes of all users; each call says whose."""

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self.store = store
        self.ontology = ontology
        self.names = {"labels": Identifier.any_of(ontology.labels)}

    async def read(
        self, user_id: str, keys: Sequence[str], labels: Sequence[str] | None = None
    ) -> dict[str, NodeRecord]:
        """Read nodes by their keys; a key that the user has no node of is missing from the answer.

        Args:
            user_id: whose nodes.
            keys: their keys.
            labels: those that are told of a node that carries several; None tells the first of the ontology's.
        """
        if not keys:
            return {}
        [row] = await self.store.read(
            statement("read_nodes", **self.names), {"user_id": user_id, "keys": list(dict.fromkeys(keys))}
        )
        records = (NodeRecord.read(node, self.ontology, labels=labels) for node in row["nodes"])
        return {record.entity_key: record for record in records}

    async def get(self, user_id: str, keys: Sequence[str], labels: Sequence[str] | None = None) -> list[GraphNode]:
        """Find nodes by their keys, in the order of the keys; those that do not exist are left out.

        Args are those of `read`.
        """
        records = await self.read(user_id, keys, labels)
        return [records[key].to_model(self.ontology) for key in dict.fromkeys(keys) if key in records]

    def text(self, record: NodeRecord, now: datetime) -> str:
        """The embedding text of a record."""
        return node_text(name=record.text("name"), description=record.text("description"), notes=record.notes, now=now)


class NodeWriter(RecordWriter[NodeIntent, NodeRecord | None, NodeRecord, GraphNode]):
    """Writes the nodes of one user."""

    vector_property = "embedding"
    create_statement = "create_nodes"
    update_statement = "update_nodes"

    def __init__(self, repository: NodeRepository, writing: WriteContext, *, user_id: str) -> None:
        super().__init__(repository.store, repository.names, writing, user_id=user_id)
        self._repository = repository

    def identity(self, intent: NodeIntent) -> str:
        """The node's key."""
        return intent.entity_key

    async def read(self, intents: Sequence[NodeIntent]) -> Sequence[NodeRecord | None]:
        """Read the node of each intent."""
        records = await self._repository.read(self._user_id, [intent.entity_key for intent in intents])
        return [records.get(intent.entity_key) for intent in intents]

    def plan(self, intent: NodeIntent, state: NodeRecord | None) -> PlannedWrite[NodeIntent, NodeRecord]:
        """Decide what to write.

        Raises:
            NodeNotFoundError: the node does not exist for this user.
            AlreadyExistsError: the node that it would create is there.
            InputError: it would change a name that the node's key is made of.
        """
        if state is None and intent.label is None:
            raise NodeNotFoundError(f"Node not found: {intent.entity_key}")
        if state is not None and intent.label not in {None, state.label}:
            raise InputError(
                f"The key of this {intent.label} is that of the {state.label} {state.text('name')!r}; take another name"
            )
        if state is not None and intent.label is not None and not intent.or_update:
            raise AlreadyExistsError(
                f"{state.label} {state.text('name')!r} exists already as {state.entity_key}. "
                "Use update_node to change it."
            )
        if state is not None:
            self._check_name(state, intent)
        before = state or NodeRecord(
            element_id="", label=intent.label or "", vector_length=None, properties={"entity_key": intent.entity_key}
        )
        changes = self.changes(before, intent.values, intent.notes)
        after = replace(before, properties=without_nothing({**before.properties, **changes}))
        return PlannedWrite(intent, state, after, changes)

    def text(self, record: NodeRecord, now: datetime) -> str:
        """The embedding text of a node."""
        return self._repository.text(record, now)

    def show(self, planned: PlannedWrite[NodeIntent, NodeRecord]) -> GraphNode:
        """The node."""
        return planned.after.to_model(self._repository.ontology)

    def place(self, record: NodeRecord) -> Mapping[str, Any]:
        """Its label and its key."""
        return {"label": record.label, "entity_key": record.entity_key}

    def _check_name(self, stored: NodeRecord, intent: NodeIntent) -> None:
        old, new = stored.text("name"), intent.values.get("name")
        if new is None or not self._repository.ontology.label(stored.label).key_includes_name:
            return
        if new.lower() != old.lower():
            raise InputError(
                f"The name of a {stored.label} is its identity and cannot change from {old!r} to {new!r}; "
                "create a new node with that name"
            )
