"""Taking a merge back: the node that was merged returns with its relationships, and the records
that the merge changed are as before, without losing what was written since.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neo4j.time import DateTime

from kgagent.errors import InputError
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.pair_state import End
from kgagent.graph.property_names import RELATIONSHIP_BOOKKEEPING
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord, as_text
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.taken_back import taken_back
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.whole_write import Change, Changes, changed
from kgagent.names import shorten_name
from kgagent.turns import in_turns

_STAY = frozenset({*RELATIONSHIP_BOOKKEEPING, "created_at", "updated_at"}) - {"is_reversed"}
"""Properties of a relationship that returns which stay as they were."""


@dataclass(frozen=True)
class MergedNode:
    """A node that was merged into another, and is restored.

    Attributes:
        graph: the records of the user.
        node: the node.
        keep: key of the other node.
        merged_at: when it was merged.
    """

    graph: UserGraph
    node: Change[NodeRecord]
    keep: str
    merged_at: DateTime

    async def taken_back(
        self,
        relationships: Sequence[tuple[RelationshipRecord, str | None]],
        gone: Sequence[RelationshipRecord],
        stayed: Sequence[Row],
        nodes: Mapping[str, NodeRecord],
    ) -> Changes:
        """What takes the merge back.

        Args:
            relationships: what is kept of the relationships of the node; of one that the merge
                moved, with the fingerprints of what it wrote. It returns with its later changes.
            gone: what is kept of its relationships whose other node does not exist: perhaps because
                that was merged later.
            stayed: what is kept of the records that the merge changed.
            nodes: the nodes among these records as they are now.

        Raises:
            InputError: a later merge that was not taken back changed or deleted one of the records.
        """
        before = [self._kept(row) for row in stayed]
        wanted = [self._moved(record) for record, written in relationships if written]
        wanted += [one for one in before if isinstance(one, RelationshipRecord)]
        await self._check_order([*before, *wanted, *map(self._moved, gone)])
        live = await self._live(wanted)
        back = [
            (record, written, next(live) if written else None) for record, written in relationships
        ]
        later = await in_turns(lambda one: _later_changes(*one), back)
        restored = (changed(one[0], values) for one, values in zip(back, later, strict=True))
        stay = [
            (one, row["written"], present)
            for one, row in zip(before, stayed, strict=True)
            if (present := nodes.get(one.entity_key) if isinstance(one, NodeRecord) else next(live))
        ]
        values = await in_turns(lambda one: taken_back(*one), stay)
        return Changes(
            deleted=tuple(now for _, _, now in back if now),
            changed=tuple(
                changed(present, taken)
                for (_, _, present), taken in zip(stay, values, strict=True)
                if taken
            ),
            restored=(self.node, *restored),
            used=tuple(before),
        )

    async def _check_order(self, records: Sequence[Record]) -> None:
        """Refuse if a later merge wrote to records: what it found there would come back with it.

        Raises:
            InputError: one did, and was not taken back.
        """
        relationships = self.graph.relationships
        rows = await relationships.store.read(
            statement("find_later_merge", **DELETED_NAMES),
            {
                "user_id": self.graph.user_id,
                "after": self.merged_at,
                "nodes": [one.entity_key for one in records if isinstance(one, NodeRecord)],
                "relationships": [
                    relationships.relationship_key(one)
                    for one in records
                    if isinstance(one, RelationshipRecord)
                ],
            },
        )
        for row in rows:
            later = f"{shorten_name(as_text(row['name']))} ({message_key(row['entity_key'])})"
            raise InputError(
                f"{later} was merged later, into some of the same records; restore that first"
            )

    def _moved(self, record: RelationshipRecord) -> RelationshipRecord:
        """A relationship of the node as the merge moved it to the other."""
        if record.from_entity_key == self.node.after.entity_key:
            return replace(record, from_entity_key=self.keep)
        return replace(record, to_entity_key=self.keep)

    def _kept(self, row: Row) -> Record:
        """A record as it was before the merge changed it."""
        if row["labels"]:
            return NodeRecord.read(row, self.graph.nodes.ontology)
        ends = [
            End(element_id="", entity_key=row[f"{end}_entity_key"], label="", name="")
            for end in ("from", "to")
        ]
        return kept_relationship(row, *ends)

    async def _live(
        self, wanted: Sequence[RelationshipRecord]
    ) -> Iterator[RelationshipRecord | None]:
        """Relationships as they are now; None for one that does not exist, or that was created
        again.
        """
        relationships = self.graph.relationships
        intents = [
            RelationshipIntent(from_entity_key=one.from_entity_key, to_entity_key=one.to_entity_key)
            for one in wanted
        ]
        pairs = await relationships.read_pairs(self.graph.user_id, intents, for_update=True)

        def identity(record: RelationshipRecord) -> tuple[str, object]:
            key = relationships.relationship_key(record)
            return key, record.properties.get("created_at")

        return iter(
            [
                next((one for one in pair.relationships if identity(one) == identity(before)), None)
                for before, pair in zip(wanted, pairs, strict=True)
            ]
        )


def kept_relationship(row: Mapping[str, Any], start: End, end: End) -> RelationshipRecord:
    """A deleted relationship from one node to another, as it was kept."""
    ends = {
        "from_entity_key": start.entity_key,
        "from_name": start.name,
        "to_entity_key": end.entity_key,
        "to_name": end.name,
    }
    record = RelationshipRecord.read({**row, **ends})
    return replace(record, from_element_id=start.element_id, to_element_id=end.element_id)


def _later_changes(
    before: RelationshipRecord, written: str | None, now: RelationshipRecord | None
) -> dict[str, Any]:
    """What was changed in a relationship after a merge moved it, if it did."""
    if written is None or now is None:
        return {}
    present = {**now.properties, **taken_back(before, written, now)}
    return {
        name: present.get(name)
        for name in (present.keys() | before.properties.keys()) - _STAY
        if present.get(name) != before.properties.get(name)
    }
