"""Writing nodes and relationships of one call together: one embedding request, and relationships
may join new nodes.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kgagent.errors import KgAgentError
from kgagent.graph.nodes import NodeIntent, NodeState, NodeStrategy, NodeWriteResult
from kgagent.graph.pair_state import End, PairState
from kgagent.graph.record_saver import save_records
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipStrategy,
    RelationshipWriteResult,
)
from kgagent.graph.writes import PlannedWrite

GraphIntent = NodeIntent | RelationshipIntent
GraphState = NodeState | PairState
GraphPlan = PlannedWrite[NodeRecord] | PlannedWrite[RelationshipRecord]
GraphWriteResult = NodeWriteResult | RelationshipWriteResult


class GraphStrategy:
    """Creates and changes nodes, and then relationships; see `compare_and_set`.

    Nodes that are known to be new are not read at first. If one exists by the time of the write,
    the write conflicts and is retried.
    """

    def __init__(
        self,
        nodes: NodeStrategy,
        relationships: RelationshipStrategy,
        *,
        new: Collection[str] = (),
        stored: Mapping[str, End] = MappingProxyType({}),
    ) -> None:
        """Prepare.

        Args:
            nodes: writes the nodes.
            relationships: writes the relationships.
            new: keys of nodes that did not exist yet.
            stored: nodes of the user by their keys.
        """
        self._nodes = nodes
        self._relationships = relationships
        self._new = frozenset(new)
        self._stored = stored
        self._planned: dict[str, NodeRecord] = {}

    def identity(self, intent: GraphIntent) -> Hashable:
        """The node's key, or the two nodes in either order."""
        if isinstance(intent, NodeIntent):
            return self._nodes.identity(intent)
        return self._relationships.identity(intent)

    async def read(self, intents: Sequence[GraphIntent]) -> Sequence[GraphState]:
        """Read the nodes, and the relationships with their two nodes."""
        self._planned = {}
        known: dict[Hashable, NodeState] = {key: NodeState(None) for key in self._new}
        pairs: dict[Hashable, list[RelationshipRecord]] = {}
        states = [
            known.get(intent.entity_key)
            if isinstance(intent, NodeIntent)
            else self._new_pair(intent, pairs)
            for intent in intents
        ]
        self._new = frozenset()
        unread = [intent for intent, state in zip(intents, states, strict=True) if state is None]
        nodes = [intent for intent in unread if isinstance(intent, NodeIntent)]
        relationships = [intent for intent in unread if isinstance(intent, RelationshipIntent)]
        read_nodes = iter(await self._nodes.read(nodes) if nodes else ())
        read_pairs = iter(await self._relationships.read(relationships) if relationships else ())
        return [
            state or (next(read_nodes) if isinstance(intent, NodeIntent) else next(read_pairs))
            for intent, state in zip(intents, states, strict=True)
        ]

    def _new_pair(
        self, intent: RelationshipIntent, pairs: dict[Hashable, list[RelationshipRecord]]
    ) -> PairState | None:
        """The state of two nodes of which one is new and the other is known, so that they have no
        relationship.
        """
        if not intent.pair & self._new or not intent.pair <= self._new | self._stored.keys():
            return None
        return PairState(
            first=self._stored.get(intent.from_entity_key),
            second=self._stored.get(intent.to_entity_key),
            relationships=pairs.setdefault(intent.pair, []),
        )

    def plan(self, intent: GraphIntent, state: GraphState) -> GraphPlan:
        """Decide what to write; nodes are planned before the relationships that join them.

        Raises:
            InputError: the intent cannot be applied.
        """
        if isinstance(intent, NodeIntent):
            assert isinstance(state, NodeState)  # noqa: S101
            plan = self._nodes.plan(intent, state)
            self._planned[intent.entity_key] = plan.after
            return plan
        assert isinstance(state, PairState)  # noqa: S101
        state.relationships[:] = map(self._with_new_names, state.relationships)
        first = self._end(intent.from_entity_key, state.first)
        second = self._end(intent.to_entity_key, state.second)
        return self._relationships.plan(intent, replace(state, first=first, second=second))

    async def save(
        self, plans: Mapping[int, GraphPlan]
    ) -> Mapping[int, GraphWriteResult | KgAgentError]:
        """Embed and write; a plan that met a conflict is missing from the result."""
        nodes = {
            position: plan for position, plan in plans.items() if isinstance(plan.after, NodeRecord)
        }
        others = {position: plan for position, plan in plans.items() if position not in nodes}
        return await save_records([(self._nodes.saver, nodes), (self._relationships.saver, others)])

    def _end(self, key: str, stored: End | None) -> End | None:
        """A node of a relationship as it will be."""
        record = self._planned.get(key)
        if record is None:
            return stored
        return End(
            element_id=record.element_id,
            entity_key=key,
            label=record.label,
            name=record.text("name"),
        )

    def _with_new_names(self, record: RelationshipRecord) -> RelationshipRecord:
        """A relationship with the names that its nodes will have."""
        names = {key: node.text("name") for key, node in self._planned.items()}
        first = names.get(record.from_entity_key, record.from_name)
        second = names.get(record.to_entity_key, record.to_name)
        if (first, second) == (record.from_name, record.to_name):
            return record
        return replace(record, from_name=first, to_name=second)
