"""Restoring what was deleted: a relationship, or a node with the relationships that were deleted
with it. The restoration of a node that was merged takes the merge back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgagent.errors import AlreadyExistsError, InputError, NotFoundError
from kgagent.formatting import listed
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.pair_state import End
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.undone_merge import MergedNode, kept_relationship
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.whole_write import Changes, Plan, WholeWrite, changed
from kgagent.models import GraphNode, GraphRelationship
from kgagent.names import shorten_name

MAX_DELETIONS = 100
"""Deletions that are examined for one reference."""


@dataclass(frozen=True, kw_only=True)
class NodeRestorationPlan(Plan[GraphNode]):
    """What the restoration of a node does.

    Attributes:
        relationships: number of relationships that are restored with it.
        skipped: the other nodes of relationships that stay deleted, as these nodes do not exist.
        existing: the node that has the key of the deleted one, so that it gets a new one.
        merged_into: the node into which it had been merged.
    """

    relationships: int
    skipped: tuple[End, ...]
    existing: GraphNode | None
    merged_into: GraphNode | None


@dataclass(frozen=True)
class RelationshipRestoration(WholeWrite[Plan[GraphRelationship]]):
    """Restores the relationship between the nodes of an intent that was deleted last."""

    intent: RelationshipIntent

    async def plan(self) -> Plan[GraphRelationship]:
        """Find the deleted relationship.

        Raises:
            AlreadyExistsError: the nodes are connected.
            NotFoundError: a node does not exist for this user, or there is no deleted relationship
                between them.
            InputError: it can no longer be restored, or see `RelationshipRepository.place`.
        """
        relationships = self.graph.relationships
        [pair] = await relationships.read_pairs(self.graph.user_id, [self.intent])
        blank = relationships.place(self.intent, pair)
        between = f"between {pair.first} and {pair.second}"
        existing = {
            one.text("relationship_key")
            for one in pair.relationships
            if one.neo4j_type == blank.neo4j_type
        }
        if not existing:
            relationships.check_owner(blank, pair)
        ends = {end.entity_key: end for end in (pair.first, pair.second) if end is not None}
        deleted = [
            (row, record)
            for row in await _kept_rows(
                self.graph,
                "read_deleted_relationship",
                neo4j_type=blank.neo4j_type,
                key=blank.key,
                ends=list(ends),
                limit=MAX_DELETIONS,
            )
            if _is_whole(row)
            for record in [self._deleted(row, blank, ends)]
            if not {"", record.key} & existing and self.intent.relationship_id in {None, record.id}
        ]
        if not deleted and existing:
            raise AlreadyExistsError(
                f"A relationship {between} exists. Use update_relationship or "
                f"add_note_to_relationship on it"
            )
        if not deleted:
            raise NotFoundError(
                f"There is no deleted relationship {between}. Use create_relationship to create one"
            )
        row, record = deleted[0]
        advice = ". Use create_relationship to create it again"
        _check_window(row, f"The relationship {between}", self.graph.context.clock(), advice)
        model = relationships.to_model(record, self.intent.from_entity_key)
        changes = Changes(restored=(changed(record, {}),))
        return Plan(record=model, changes=changes)

    @staticmethod
    def _deleted(
        row: Row, blank: RelationshipRecord, ends: Mapping[str, End]
    ) -> RelationshipRecord:
        end_keys = sorted(ends, key=lambda key: key != row["from_entity_key"])
        return kept_relationship(
            {**row, "neo4j_type": blank.neo4j_type}, *(ends[key] for key in end_keys)
        )


@dataclass(frozen=True)
class NodeRestoration(WholeWrite[NodeRestorationPlan]):
    """Restores a node with those of its relationships whose other node exists.

    Attributes:
        reference: its key, the first characters of it, or its name.
        new_key: key that it gets if a node with its own key exists.
    """

    reference: str
    new_key: str

    async def plan(self) -> NodeRestorationPlan:
        """Find the deleted node and its relationships.

        Raises:
            NotFoundError: the user has no such deleted node.
            InputError: the reference is ambiguous, the node can no longer be restored, or it was
                merged into a node that does not exist.
        """
        graph = self.graph
        row = await self._deleted_node()
        node = NodeRecord.read(row, graph.nodes.ontology)
        key, keep = node.entity_key, row["merged_into"]
        rows = await _kept_rows(
            self.graph, "read_deletion", deletion=row["deletion"], entity_key=key
        )
        # What another transaction purged while it was read has neither.
        rows = [one for one in rows if one["neo4j_type"] or one["labels"]]
        stayed = [one for one in rows if one["stays"]]
        nodes = await graph.nodes.read(
            graph.user_id,
            [
                key,
                *filter(None, [keep]),
                *(one["properties"]["entity_key"] for one in stayed if one["labels"]),
            ],
            for_update=True,
        )
        if keep is not None and keep not in nodes:
            raise InputError(
                f"{self._shown(row)} was merged into {message_key(keep)}, which does not exist; "
                f"restore that first"
            )
        existing = nodes.get(key)
        own = {"entity_key": key if existing is None else self.new_key}
        restored = changed(node, own)
        end = End(
            element_id="",
            entity_key=restored.after.entity_key,
            label=node.label,
            name=node.text("name"),
        )
        relationships: list[tuple[RelationshipRecord, str | None]] = []
        skipped: list[End] = []
        gone: list[RelationshipRecord] = []
        for one in rows:
            if one["stays"]:
                continue
            other = End(**one["other"])
            ends = (end, other) if one["from_entity_key"] == key else (other, end)
            if other.element_id:
                relationships.append((kept_relationship(one, *ends), one["written"]))
            else:
                skipped.append(other)
                gone.append(kept_relationship(one, *ends))
        if keep is None:
            changes = Changes(restored=(restored, *(changed(one, {}) for one, _ in relationships)))
        else:
            merge = MergedNode(self.graph, restored, keep, row["deleted_at"])
            changes = await merge.taken_back(relationships, gone, stayed, nodes)
        to_model = graph.nodes.to_model
        return NodeRestorationPlan(
            record=to_model(restored.after),
            relationships=len(relationships),
            skipped=tuple(skipped),
            existing=None if existing is None else to_model(existing),
            merged_into=None if keep is None else to_model(nodes[keep]),
            changes=changes,
        )

    async def _deleted_node(self) -> Row:
        """The last deletion of the node that the reference means.

        Raises:
            NotFoundError: the user has no such deleted node.
            InputError: the reference is ambiguous, or the node can no longer be restored.
        """
        now = self.graph.context.clock()
        rows = await self._deleted_nodes(now)
        wanted = shorten_name(self.reference)
        if not rows:
            raise NotFoundError(f"There is no deleted node {wanted!r} that can be restored")
        if len(rows) > 1:
            texts = [f"{self._shown(row)}, deleted on {_minute(row['deleted_at'])}" for row in rows]
            raise InputError(
                f"{wanted!r} could refer to {len(rows)} deleted nodes; give the key of one: "
                f"{listed(texts, '; ')}"
            )
        [row] = rows
        _check_window(row, self._shown(row), now)
        return row

    async def _deleted_nodes(self, now: datetime) -> list[Row]:
        """The last deletions of the nodes that the reference may mean, those that can be restored
        if there are any.
        """
        forms = ReferenceForms.of(self.reference)
        if forms is None:
            return []
        key, prefix = forms.keys[0], next(iter(forms.prefixes), None)
        rows = await _kept_rows(
            self.graph,
            "find_deleted_nodes",
            key=key,
            prefix=prefix,
            plain=forms.plain,
            limit=MAX_DELETIONS,
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


async def _kept_rows(graph: UserGraph, name: str, **parameters: object) -> list[Row]:
    text = statement(name, **graph.relationships.names, **DELETED_NAMES)
    return await graph.nodes.store.read(text, {"user_id": graph.user_id, **parameters})


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
