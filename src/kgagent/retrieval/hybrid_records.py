"""What a hybrid search shows of its items, made once it is known which of them may be answered."""

import logging
from collections.abc import Mapping, Sequence

from kgagent.errors import SearchError
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.ontology import Ontology
from kgagent.retrieval.answered import LoadedRecords, RecordLoader
from kgagent.retrieval.hybrid_parts import (
    FAILED_INSIDE,
    NODES,
    RELATIONSHIPS,
    Parts,
    Records,
    attempt,
    entity_key_of,
    node_key,
    relationship_key,
)
from kgagent.retrieval.strategies import Fused

_log = logging.getLogger(__name__)


class HybridRecords:
    """Shows the items of one user's search."""

    def __init__(
        self, answered: RecordLoader, ontology: Ontology, *, user_id: str, labels: Sequence[str], timeout: float
    ) -> None:
        self._answered = answered
        self._ontology = ontology
        self._user_id = user_id
        self._labels = labels
        self._timeout = timeout

    async def to_model(self, parts: Parts, fused: Sequence[Fused]) -> tuple[Records, list[str]]:
        """What is shown of items, and why it is not of some; those that were deleted meanwhile are not told of.

        Nodes that were found by themselves were read then; relationships and the nodes at their ends are read now, in
        one statement. Where that fails, the nodes are left.

        Raises:
            SearchError: nothing could be read.
        """
        known, leads = nodes_of(parts), relationships_of(parts)
        wanted = {item.key: leads[item.key] for item in fused if item.key in leads}
        ends = [item.key for item in fused if item.key not in leads and item.key not in known]
        reading = self._answered.read(
            self._user_id,
            keys=[entity_key_of(key) for key in ends],
            labels=self._labels,
            element_ids=[lead.element_id for lead in wanted.values()],
        )
        read, failure = await attempt(reading, self._timeout, otherwise=LoadedRecords())
        records: dict[str, NodeRecord | RelationshipRecord] = {
            item.key: known[item.key] for item in fused if item.key in known
        }
        if failure is not None and not records:
            raise failure.unforeseen or SearchError(f"What was found could not be read: {failure}")
        records |= {node_key(node.entity_key): node for node in read.nodes}
        by_id = {record.element_id: record for record in read.relationships}
        for key, lead in wanted.items():
            # The database gives the id of what was deleted to what is new.
            if lead.element_id in by_id and relationship_key(by_id[lead.element_id]) == key:
                records[key] = by_id[lead.element_id]
        shown, warnings = self._legible(records)
        left_out = [f"Left out relationships and the nodes at their ends: {failure}"] if failure is not None else []
        return shown, [*left_out, *warnings]

    def _legible(self, records: Mapping[str, NodeRecord | RelationshipRecord]) -> tuple[Records, list[str]]:
        shown = {}
        for key, record in records.items():
            try:
                shown[key] = record.to_model(self._ontology)
            except Exception:
                # One record that holds what nobody foresaw must not keep back the others.
                _log.exception("A record could not be shown")
        left_out = len(records) - len(shown)
        return shown, [f"Left out {left_out} of what was found: {FAILED_INSIDE}"] if left_out else []


def nodes_of(parts: Parts) -> dict[str, NodeRecord]:
    """Nodes that were found by themselves; as the first ranking has them that they stand in."""
    return {key: node for finder in reversed(NODES) if finder in parts for key, node in parts[finder].nodes.items()}


def relationships_of(parts: Parts) -> dict[str, RelationshipRecord]:
    """Relationships, as far as they must be known to be ranked; as the first ranking has them that they stand in."""
    return {
        key: relationship
        for finder in reversed(RELATIONSHIPS)
        if finder in parts
        for key, relationship in parts[finder].relationships.items()
    }
