"""The tools' own writers, told to bring records to the present form without changing what they say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgagent.errors import InputError
from kgagent.graph.conditions import Defect, stored_level
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeWriter
from kgagent.graph.record_writer import PlannedWrite, WriteContext
from kgagent.graph.records import LEVEL_FIELDS, NodeRecord, RelationshipRecord
from kgagent.graph.relationship_writer import RelationshipWriter
from kgagent.graph.relationships import PairState, RelationshipIntent, RelationshipRepository
from kgagent.graph.vectors import VectorChange
from kgagent.models import Note
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class NodeMigration(NodeIntent):
    """A node to bring to the present form."""

    element_id: str


@dataclass(frozen=True, kw_only=True)
class RelationshipMigration(RelationshipIntent):
    """A relationship to bring to the present form."""

    element_id: str


class NodeMigrator(NodeWriter):
    """Migrates nodes of one user; with `dry_run`, tells what it would do and writes nothing."""

    def __init__(
        self, repository: NodeRepository, writing: WriteContext, *, user_id: str, dry_run: bool = False
    ) -> None:
        super().__init__(repository, writing, user_id=user_id)
        self._dry_run = dry_run

    def plan(self, intent: NodeIntent, state: NodeRecord | None) -> PlannedWrite[NodeIntent, NodeRecord]:
        """Decide what to write.

        Raises:
            InputError: the node is gone, or another one has its key.
        """
        _check_identity(intent, state, "another node has the same entity_key")
        return super().plan(intent, state)

    def _row(
        self, position: int, planned: PlannedWrite[NodeIntent, NodeRecord], change: VectorChange, now: datetime
    ) -> dict[str, Any]:
        return _as_old_as_before(super()._row(position, planned, change, now))

    async def _write(self, name: str, rows: Sequence[dict[str, Any]]) -> set[int]:
        return _positions(rows) if self._dry_run else await super()._write(name, rows)


class RelationshipMigrator(RelationshipWriter):
    """Migrates relationships of one user; with `dry_run`, tells what it would do and writes nothing."""

    def __init__(
        self, repository: RelationshipRepository, writing: WriteContext, *, user_id: str, dry_run: bool = False
    ) -> None:
        super().__init__(repository, writing, user_id=user_id)
        self._dry_run = dry_run

    def plan(
        self, intent: RelationshipIntent, state: PairState
    ) -> PlannedWrite[RelationshipIntent, RelationshipRecord]:
        """Decide what to write.

        Of several relationships of one type between two nodes, the one that the tools work on is migrated.

        Raises:
            InputError: the relationship is gone, is a duplicate, or holds a level that is none.
        """
        stored, _ = self._repository.find(intent, state)
        _check_identity(intent, stored, str(Defect.DUPLICATE))
        return super().plan(intent, state)

    def changes(self, record: RelationshipRecord, values: Mapping[str, Any], notes: Iterable[Note]) -> dict[str, Any]:
        """Levels that are stored as words or as text become numbers; nothing else that the record says changes."""
        return super().changes(record, {**levels(self._repository.ontology, record), **values}, notes)

    def _row(
        self,
        position: int,
        planned: PlannedWrite[RelationshipIntent, RelationshipRecord],
        change: VectorChange,
        now: datetime,
    ) -> dict[str, Any]:
        return _as_old_as_before(super()._row(position, planned, change, now))

    async def _write(self, name: str, rows: Sequence[dict[str, Any]]) -> set[int]:
        return _positions(rows) if self._dry_run else await super()._write(name, rows)


def levels(ontology: Ontology, record: RelationshipRecord) -> dict[str, int | None]:
    """Attitude and proximity as numbers.

    Raises:
        InputError: one of them is neither 1 to 5 nor a word of the type.
    """
    return {field: stored_level(ontology, record, field) for field in LEVEL_FIELDS}


def _check_identity(
    intent: NodeIntent | RelationshipIntent, stored: NodeRecord | RelationshipRecord | None, otherwise: str
) -> None:
    if not isinstance(intent, NodeMigration | RelationshipMigration) or stored is None:
        return
    if stored.element_id != intent.element_id:
        raise InputError(f"{otherwise} ({stored.element_id})")


def _as_old_as_before(row: dict[str, Any]) -> dict[str, Any]:
    """A migration changes nothing that a record says, so the time of its last change stays."""
    kept = {key: value for key, value in row["properties"].items() if key != "updated_at"}
    return {**row, "properties": kept}


def _positions(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    return {row["position"] for row in rows}
