"""What a run has changed, told from first to last."""

from kgagent.graph.record_writer import Shown
from kgagent.ingestion.report import NodeChange, RelationshipChange
from kgagent.models import GraphNode, GraphRelationship


class Changes:
    """Observes what is written."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeChange] = {}
        self._relationships: dict[tuple[str, str, str], RelationshipChange] = {}

    def __call__(self, before: Shown | None, after: Shown) -> None:
        """Take note of a write; what a record was before the first counts as before."""
        if isinstance(after, GraphNode) and not isinstance(before, GraphRelationship):
            known = self._nodes.get(after.entity_key)
            self._nodes[after.entity_key] = NodeChange(before=known.before if known else before, after=after)
        elif isinstance(after, GraphRelationship) and not isinstance(before, GraphNode):
            told = self._relationships.get(after.pair)
            self._relationships[after.pair] = RelationshipChange(before=told.before if told else before, after=after)

    @property
    def nodes(self) -> tuple[NodeChange, ...]:
        """Those that are new or other than before."""
        return tuple(change for change in self._nodes.values() if change.before != change.after)

    @property
    def relationships(self) -> tuple[RelationshipChange, ...]:
        """Those that are new or other than before."""
        return tuple(change for change in self._relationships.values() if change.before != change.after)
