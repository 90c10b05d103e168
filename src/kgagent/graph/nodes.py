"""The nodes of a user: how they are read, and how they are created and changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgagent.graph.embedded_text import embedding_text
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import NodeRecord
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.store import Store
from kgagent.graph.writes import RecordEdit, WriteMode
from kgagent.models import GraphNode, Note
from kgagent.ontology import Ontology
from kgagent.turns import in_turns


@dataclass(frozen=True, kw_only=True)
class NodeIntent:
    """What to write of a node.

    Attributes:
        entity_key: the node's key; for a new node, the key that it gets.
        label: label of a new node, which an existing one must have; None accepts any.
        mode: whether it may exist.
        initial: properties of a new node beside `values`.
        values: properties to set; None removes one.
        notes: notes to add.
        aliases: other names to add.
        edit: a change of one of its notes, or to an earlier value.
        correction: whether what it replaces was never right.
        remarks: what the caller should know of how it is stored.
    """

    entity_key: str
    label: str | None = None
    mode: WriteMode = "update"
    initial: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    aliases: tuple[str, ...] = ()
    edit: RecordEdit | None = None
    correction: bool = False
    remarks: tuple[str, ...] = ()


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
