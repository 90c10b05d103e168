"""Restoring what `deletion` deleted: a relationship, or a node with the relationships that were
deleted with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic

from kgagent.errors import AlreadyExistsError, InputError, NotFoundError
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.pair_state import End
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.single_write import SingleWrite, embedded_rows
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import ModelT, PlannedWrite
from kgagent.models import GraphNode, GraphRelationship
from kgagent.names import shorten_name

MAX_LISTED = 5
MAX_DELETIONS = 100
"""Deletions that are examined for one reference."""


@dataclass(frozen=True, kw_only=True)
class RestorationPlan(Generic[ModelT]):
    """What one transaction restores.

    Attributes:
        record: the node or relationship as callers see it once it is restored.
        relationships: it, or the relationships that were deleted with the node; an end without
            element id is the node.
        node: the node as it was deleted; None if only a relationship is restored.
        skipped: the other nodes of relationships that stay deleted, as these nodes do not exist.
        existing: the node that has the key of the deleted one, so that it gets a new one.
    """

    record: ModelT
    relationships: tuple[RelationshipRecord, ...]
    node: NodeRecord | None = None
    skipped: tuple[End, ...] = ()
    existing: GraphNode | None = None


@dataclass(frozen=True)
class RestorationResult(Generic[ModelT]):
    """A record that was restored, and the number of new embeddings."""

    plan: RestorationPlan[ModelT]
    embedded: int


@dataclass(frozen=True)
class _Restoration(SingleWrite[RestorationPlan[ModelT], RestorationResult[ModelT]]):
    """What the restorations of nodes and of relationships share: records get the embeddings of
    their present texts.
    """

    graph: UserGraph

    async def save(self, plan: RestorationPlan[ModelT]) -> RestorationResult[ModelT] | None:
        """Embed and restore."""
        graph, context = self.graph, self.graph.context
        key = {"entity_key": plan.record.entity_key} if isinstance(plan.record, GraphNode) else {}
        deleted = [] if plan.node is None else [plan.node]
        nodes = [PlannedWrite[Any](node, with_properties(node, key), key) for node in deleted]
        records = [
            *nodes,
            *(PlannedWrite[Any](item, item, {}) for item in plan.relationships),
        ]
        rows, embedded = await embedded_rows(records, graph, keep_updated_at=True)
        # What is kept of them has the keys that they had.
        keys: list[Row] = [
            *({"entity_key": node.entity_key} for node in deleted),
            *(
                {"relationship_key": record.properties.get("relationship_key")}
                for record in plan.relationships
            ),
        ]
        rows = [{**row, **kept} for row, kept in zip(rows, keys, strict=True)]
        parameters = {
            # Embedding took time, in which the records may have expired.
            "now": context.clock(),
            "nodes": rows[: len(nodes)],
            "relationships": rows[len(nodes) :],
        }
        if not await graph.write("restore_records", parameters, **DELETED_NAMES):
            return None
        if context.on_change is not None:
            for model in ([plan.record] if nodes else []) + [
                *map(graph.relationships.to_model, plan.relationships)
            ]:
                context.on_change(None, model)
        return RestorationResult(plan, embedded)

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        text = statement(name, **self.graph.relationships.names, **DELETED_NAMES)
        return await self.graph.nodes.store.read(
            text, {"user_id": self.graph.user_id, **parameters}
        )


@dataclass(frozen=True)
class RelationshipRestoration(_Restoration[GraphRelationship]):
    """Restores the relationship between the nodes of an intent that was deleted last."""

    intent: RelationshipIntent

    async def plan(self) -> RestorationPlan[GraphRelationship]:
        """Find the deleted relationship.

        Raises:
            AlreadyExistsError: the nodes are connected.
            NotFoundError: a node does not exist for this user, or there is no deleted relationship
                between them.
            InputError: it can no longer be restored.
        """
        relationships = self.graph.relationships
        [pair] = await relationships.read_pairs(self.graph.user_id, [self.intent])
        current, blank = relationships.find(self.intent, pair)
        between = f"between {pair.first} and {pair.second}"
        if current is not None:
            raise AlreadyExistsError(
                f"A relationship {between} exists. Use update_relationship or "
                f"add_note_to_relationship on it"
            )
        rows = await self._rows(
            "read_deleted_relationship", key=relationships.relationship_key(blank)
        )
        if not rows or not _is_whole(rows[0]):
            raise NotFoundError(
                f"There is no deleted relationship {between}. Use create_relationship to create one"
            )
        [row] = rows
        advice = ". Use create_relationship to create it again"
        _check_window(row, f"The relationship {between}", self.graph.context.clock(), advice)
        [first, second] = [end for end in (pair.first, pair.second) if end is not None]
        ends = (first, second) if row["from_entity_key"] == first.entity_key else (second, first)
        record = _relationship({**row, "neo4j_type": blank.neo4j_type}, *ends)
        model = relationships.to_model(record, self.intent.from_entity_key)
        return RestorationPlan(record=model, relationships=(record,))


@dataclass(frozen=True)
class NodeRestoration(_Restoration[GraphNode]):
    """Restores a node with those of its relationships whose other node exists.

    Attributes:
        reference: its key, the first characters of it, or its name.
        new_key: key that it gets if a node with its own key exists.
    """

    reference: str
    new_key: str

    async def plan(self) -> RestorationPlan[GraphNode]:
        """Find the deleted node and its relationships.

        Raises:
            NotFoundError: the user has no such deleted node.
            InputError: the reference is ambiguous, or the node can no longer be restored.
        """
        graph, now = self.graph, self.graph.context.clock()
        rows = await self._deleted_nodes(now)
        wanted = shorten_name(self.reference)
        if not rows:
            raise NotFoundError(f"There is no deleted node {wanted!r} that can be restored")
        if len(rows) > 1:
            listed = "; ".join(
                f"{self._shown(row)}, deleted on {_minute(row['deleted_at'])}"
                for row in rows[:MAX_LISTED]
            )
            raise InputError(
                f"{wanted!r} could refer to {len(rows)} deleted nodes; give the key of one: "
                f"{listed}"
            )
        [row] = rows
        _check_window(row, self._shown(row), now)
        node = NodeRecord.read(row, graph.nodes.ontology)
        key = node.entity_key
        existing = (await graph.nodes.read(graph.user_id, [key])).get(key)
        restored = node if existing is None else with_properties(node, {"entity_key": self.new_key})
        end = End(
            element_id="", entity_key=restored.entity_key, label=node.label, name=node.text("name")
        )
        relationships: list[RelationshipRecord] = []
        skipped: list[End] = []
        for of_node in await self._rows(
            "read_deleted_with_node", deletion=row["deletion"], entity_key=key
        ):
            other = End(**of_node["other"])
            # What another transaction purged while it was read has no type.
            if of_node["neo4j_type"] and other.element_id:
                ends = (end, other) if of_node["from_entity_key"] == key else (other, end)
                relationships.append(_relationship(of_node, *ends))
            elif of_node["neo4j_type"]:
                skipped.append(other)
        return RestorationPlan(
            record=graph.nodes.to_model(restored),
            relationships=tuple(relationships),
            node=node,
            skipped=tuple(skipped),
            existing=None if existing is None else graph.nodes.to_model(existing),
        )

    async def _deleted_nodes(self, now: datetime) -> list[Row]:
        """The last deletions of the nodes that the reference may mean, those that can be restored
        if there are any.
        """
        forms = ReferenceForms.of(self.reference)
        if forms is None:
            return []
        key, prefix = forms.keys[0], next(iter(forms.prefixes), None)
        rows = await self._rows(
            "find_deleted_nodes", key=key, prefix=prefix, plain=forms.plain, limit=MAX_DELETIONS
        )
        latest: dict[str, Row] = {}
        for row in rows:
            # The ontology may have none of the labels of a node.
            if _is_whole(row) and self.graph.nodes.ontology.labels.keys() & set(
                row["labels"] or ()
            ):
                latest.setdefault(row["properties"]["entity_key"], row)
        if key in latest:
            return [latest[key]]
        return [row for row in latest.values() if row["undo_until"].to_native() > now] or list(
            latest.values()
        )

    def _shown(self, row: Row) -> str:
        node = NodeRecord.read(row, self.graph.nodes.ontology)
        return f"{node.label} {shorten_name(node.text('name'))} ({message_key(node.entity_key)})"


def _is_whole(row: Row) -> bool:
    """Whether a deleted record was not purged while it was read."""
    return row["deleted_at"] is not None and row["undo_until"] is not None


def _check_window(row: Row, shown: str, now: datetime, advice: str = "") -> None:
    """Check that a deleted record can still be restored.

    Raises:
        InputError: it cannot.
    """
    if row["undo_until"].to_native() <= now:
        raise InputError(
            f"{shown}, deleted on {_minute(row['deleted_at'])}, was restorable until "
            f"{_minute(row['undo_until'])}{advice}"
        )


def _minute(moment: Any) -> str:  # noqa: ANN401
    return format_minute(moment.to_native())


def _relationship(row: Mapping[str, Any], start: End, end: End) -> RelationshipRecord:
    """A deleted relationship from one node to another."""
    ends = {
        "from_entity_key": start.entity_key,
        "from_name": start.name,
        "to_entity_key": end.entity_key,
        "to_name": end.name,
    }
    record = RelationshipRecord.read({**row, **ends})
    return replace(record, from_element_id=start.element_id, to_element_id=end.element_id)
