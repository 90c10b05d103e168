"""Merging one node into another, in one transaction or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.merge_plan import (
    MAX_RECORDS,
    MergeIntent,
    MergePlan,
    MergeRecords,
    plan_merge,
)
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_changes import ChangedRecord, embedded_rows, version_of
from kgagent.graph.record_saver import stored_version, with_properties
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import WriteContext
from kgagent.models import GraphNode
from kgagent.models.merged_notes import stored_form
from kgagent.turns import in_turns


@dataclass(frozen=True)
class MergeResult:
    """A merge that was written.

    Attributes:
        node: the kept node.
        dropped_node: the other node before the merge.
        moved: number of relationships that now belong to the kept node.
        merged: number of relationships of the kept node that received the content of others.
        dropped: number of relationships between the two nodes, which are deleted.
        lost: what the dropped node and its relationships stated otherwise, which the records have as notes.
        sources: number of other records with notes that now name the kept node as their source.
        embedded: number of new embeddings.
    """

    node: GraphNode
    dropped_node: GraphNode
    moved: int
    merged: int
    dropped: int
    lost: tuple[str, ...]
    sources: int
    embedded: int


class MergeStrategy:
    """Merges nodes of one user; see `compare_and_set`."""

    def __init__(
        self,
        nodes: NodeRepository,
        relationships: RelationshipRepository,
        context: WriteContext,
        *,
        user_id: str,
    ) -> None:
        """Prepare.

        Args:
            nodes: reads the nodes.
            relationships: reads the relationships.
            context: what every write needs.
            user_id: owner of the nodes.
        """
        self._nodes = nodes
        self._relationships = relationships
        self._context = context
        self._user_id = user_id

    def identity(self, intent: MergeIntent) -> str:  # noqa: ARG002
        """The user: merges of one call are applied one after the other."""
        return self._user_id

    async def read(self, intents: Sequence[MergeIntent]) -> Sequence[MergeRecords]:
        """Read the records of each merge."""
        return [await self._read(intent) for intent in intents]

    def plan(self, intent: MergeIntent, state: MergeRecords) -> MergePlan:
        """Decide what to write; the errors are those of `plan_merge`."""
        return plan_merge(intent, state, self._nodes.ontology)

    async def save(self, plans: Mapping[int, MergePlan]) -> Mapping[int, MergeResult]:
        """Embed the changed texts and write; a plan that met a conflict is missing from the result."""
        results = {position: await self._save(plan) for position, plan in plans.items()}
        return {position: result for position, result in results.items() if result is not None}

    async def _read(self, intent: MergeIntent) -> MergeRecords:
        found = await self._nodes.read(self._user_id, [intent.keep, intent.drop], for_update=True)
        keep, drop = found.get(intent.keep), found.get(intent.drop)
        if keep is None or drop is None or keep is drop:
            return MergeRecords(keep=keep, drop=drop, counterparts={})
        of_drop, unmanaged = await self._relationships.read_of_node(self._user_id, intent.drop, limit=MAX_RECORDS + 1)
        node_rows = await self._rows("read_nodes_that_mention", text=stored_form(intent.drop))
        relationship_rows = await self._rows("read_relationships_that_mention", text=stored_form(intent.drop))
        ours = {intent.keep, intent.drop}
        others = {key for record in of_drop for key in (record.from_entity_key, record.to_entity_key)}
        intents = [
            RelationshipIntent(from_entity_key=intent.keep, to_entity_key=other) for other in sorted(others - ours)
        ]
        pairs = await self._relationships.read_pairs(self._user_id, intents, for_update=True) if intents else []
        ends = [(pair, pair.second) for pair in pairs if pair.second is not None]
        existing = {*ours, *(end.entity_key for _, end in ends)}
        # A node that has been deleted since the first statement took its relationships with it.
        own = [record for record in of_drop if {record.from_entity_key, record.to_entity_key} <= existing]
        counterparts: dict[tuple[str, str], RelationshipRecord] = {}
        for pair, end in ends:
            for record in pair.relationships:
                counterparts.setdefault((record.neo4j_type, end.entity_key), record)
        nodes = [NodeRecord.read(row["node"], self._nodes.ontology) for row in node_rows]
        relationships = [RelationshipRecord.read(row["relationship"]) for row in relationship_rows]
        # A record reads its notes once; the plan, which is made in one go, needs those of all records.
        await in_turns(lambda record: record.notes, (*own, *counterparts.values(), *nodes, *relationships))
        return MergeRecords(
            keep=keep,
            drop=drop,
            relationships=tuple(own),
            counterparts=counterparts,
            unmanaged_types=unmanaged,
            foreign=frozenset((record.neo4j_type, end.entity_key) for pair, end in ends for record in pair.foreign),
            citing_nodes=tuple(record for record in nodes if _cites(record, intent.drop)),
            citing_relationships=tuple(record for record in relationships if _cites(record, intent.drop)),
            is_too_large=max(len(of_drop), len(node_rows) + len(relationship_rows)) > MAX_RECORDS,
        )

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        return await self._nodes.store.read_for_update(
            statement(name, **self._relationships.names),
            {"user_id": self._user_id, "limit": MAX_RECORDS + 1, **parameters},
        )

    async def _save(self, plan: MergePlan) -> MergeResult | None:
        nodes = (plan.node, *plan.citing_nodes)
        relationships = (*plan.moved, *plan.merged, *plan.citing_relationships)
        records = [
            *(ChangedRecord(self._nodes, change.after, change.stored, change.changes) for change in nodes),
            *(
                ChangedRecord(self._relationships, change.after, change.stored, change.changes)
                for change in relationships
            ),
        ]
        rows, embedded = await embedded_rows(records, self._context, user_id=self._user_id)
        first_moved, first_changed = len(nodes), len(nodes) + len(plan.moved)
        parameters = {
            "user_id": self._user_id,
            "keep": plan.node.stored.element_id,
            "drop": plan.drop.element_id,
            "read_nodes": [version_of(node) for node in (plan.drop, *(change.stored for change in nodes))],
            "read_relationships": [
                {"element_id": record.element_id, "neo4j_type": record.neo4j_type, "version": stored_version(record)}
                for record in plan.read
            ],
            "changed_nodes": rows[:first_moved],
            "moved": rows[first_moved:first_changed],
            "changed": rows[first_changed:],
            "dropped": [record.element_id for record in plan.deleted],
        }
        try:
            written = await self._nodes.store.write(statement("merge_nodes", **self._relationships.names), parameters)
        except (ConstraintViolationError, EntityGoneError):
            return None
        if not written:
            return None
        if self._context.on_change is not None:
            # Deleted records are not reported.
            for kind, after, stored, _ in records:
                self._context.on_change(kind.to_model(stored, None), kind.to_model(after, None))
        of_relationships = (note for change in (*plan.moved, *plan.merged) for note in change.lost)
        return MergeResult(
            node=self._nodes.to_model(with_properties(plan.node.after, rows[0]["properties"])),
            dropped_node=self._nodes.to_model(plan.drop),
            moved=len(plan.moved),
            merged=len(plan.merged),
            dropped=len(plan.between),
            lost=tuple(dict.fromkeys(note.content for note in (*plan.node.lost, *of_relationships))),
            sources=len(plan.citing_nodes) + len(plan.citing_relationships),
            embedded=embedded,
        )


def _cites(record: Record, entity_key: str) -> bool:
    return any(note.source_entity_key == entity_key for note in record.notes)
