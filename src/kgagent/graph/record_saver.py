"""Saves planned records: embeds changed texts in one request, and writes rows together."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kgagent.errors import (
    ConstraintViolationError,
    EntityGoneError,
    InputError,
    KgAgentError,
)
from kgagent.graph.adopted import is_foreign, ledger, without_others
from kgagent.graph.embedded_text import EmbeddedText, length_warnings, vector_changes
from kgagent.graph.property_names import ADOPTED
from kgagent.graph.records import Record
from kgagent.graph.statement_index import index_row
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import (
    PlannedWrite,
    RecordT,
    VectorChange,
    WriteContext,
    WriteOptions,
    WriteResult,
)
from kgagent.models.merged_notes import add_notes
from kgagent.models.note import Note, dump_notes
from kgagent.trust import lower
from kgagent.turns import in_turns

NamedRow = tuple[str, Row]
"""A row of a statement, and the name of the parameter that it belongs to."""

Plans = dict[int, PlannedWrite[Any]]
"""Plans by their positions; those about one record are in order, each about what the one before
leaves.
"""


@dataclass(frozen=True)
class RecordSaver:
    """Saves planned records of one user.

    Attributes:
        graph: the records of the user.
        options: how these writes differ from plain ones.
    """

    graph: UserGraph
    options: WriteOptions

    async def save(
        self, planned: Mapping[int, PlannedWrite[Any]], guards: Sequence[Row] = ()
    ) -> dict[int, WriteResult[Any] | KgAgentError]:
        """Embed the changed texts in one request, and write all in one transaction.

        Args:
            planned: the plans by position, from 0; what they end is written with them.
            guards: what guarded plans depend on; see `SingleValues`.

        Returns:
            The results by position; a plan that met a conflict is missing.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the database failed before anything was written.
        """
        now = self.graph.context.clock()
        ending_of: dict[int, int] = {}
        records = [
            (plans, _whole(plans)) for plans in _by_record(_with_endings(planned, ending_of))
        ]
        vectors, texts = await embedded(self.graph, [whole for _, whole in records], now)
        rows: dict[int, NamedRow] = {}
        results: dict[int, WriteResult[Any] | KgAgentError] = {}
        for (plans, whole), text, vector in zip(records, texts, vectors, strict=True):
            position = next(reversed(plans))
            if self._needs_write(whole, vector, now):
                updated_at = None if self.options.keep_updated_at else now
                row = written_row(self.graph, whole, vector, now, updated_at)
                done = "updated" if whole.after.element_id else "created"
                kind = self.graph.kind(whole.after)
                is_guarded = any(plan.is_guarded for plan in plans.values())
                own = {"position": position, "is_guarded": is_guarded}
                rows[position] = (f"{done}_{kind.plural}", {**row, **own})
            results |= self._results(plans, whole, text, vector, rows.get(position))
        outcomes = await self._write_rows(list(rows.values()), guards)
        for plans, whole in records:
            position = next(reversed(plans))
            if position in rows and position not in outcomes:
                for conflicting in plans:
                    del results[conflicting]
            elif (error := outcomes.get(position)) is not None:
                results |= dict.fromkeys(plans, error)
            elif position in rows:
                self._notify(whole)
        return _of_plans(results, ending_of)

    def _results(
        self,
        plans: Plans,
        whole: PlannedWrite[Any],
        text: str,
        vector: VectorChange,
        row: NamedRow | None,
    ) -> dict[int, WriteResult[Any]]:
        """The result of each plan of a record, of which the last one has the new embedding."""
        kind = self.graph.kind(whole.after)
        results = {
            position: WriteResult(
                record=kind.to_model(plan.after, plan.asked_from),
                stored=plan.stored,
                changed=plan.stored is None or bool(plan.changes),
                warnings=plan.warnings,
                ended=plan.ended,
            )
            for position, plan in plans.items()
        }
        position = max(plans)
        written = with_properties(whole.after, row[1]["properties"]) if row else whole.after
        is_alone = row is not None and not any(result.changed for result in results.values())
        results[position] = replace(
            results[position],
            record=kind.to_model(written, plans[position].asked_from),
            changed=results[position].changed or is_alone,
            embedding=vector.vector,
            warnings=(
                *results[position].warnings,
                *(() if vector.vector is None else length_warnings(text)),
            ),
        )
        return results

    def _needs_write(self, plan: PlannedWrite[Any], vector: VectorChange, now: datetime) -> bool:
        stored = plan.stored
        if stored is None or plan.changes or vector.properties or stored.has_old_embeddings:
            return True
        expected = self.graph.kind(stored).bookkeeping(stored, self.graph.user_id, now)
        return any(stored.properties.get(name) != value for name, value in expected.items())

    async def _write_rows(
        self, rows: Sequence[NamedRow], guards: Sequence[Row]
    ) -> dict[int, KgAgentError | None]:
        """Write rows in one transaction, or each alone if one is refused; without those that met a
        conflict.

        Raises:
            StoreError: the database failed before anything was written.
        """
        if self.options.dry_run or not rows:
            return {row["position"]: None for _, row in rows}
        parameters: dict[str, Any] = {"user_id": self.graph.user_id}
        if any(row["is_guarded"] for _, row in rows):
            parameters["guards"] = guards
        for name, row in sorted(rows, key=_lock_order):
            parameters.setdefault(name, []).append(row)
        text = statement("write_records", **self.graph.relationships.names)
        try:
            async with self.options.lock or nullcontext():
                [written] = await self.graph.nodes.store.write(text, parameters)
        except (ConstraintViolationError, EntityGoneError) as error:
            if not all(row["is_guarded"] for _, row in rows[1:]):
                return await self._write_each(rows, guards)
            if isinstance(error, EntityGoneError):
                return {}
            return {row["position"]: error for _, row in rows}
        return dict.fromkeys(written["positions"])

    async def _write_each(
        self, rows: Sequence[NamedRow], guards: Sequence[Row]
    ) -> dict[int, KgAgentError | None]:
        """Write rows in turn, and then the guarded ones together; if the database fails once
        something was written, the rest has its error as outcome.
        """
        guarded = [named for named in rows if named[1]["is_guarded"]]
        parts = [[named] for named in rows if not named[1]["is_guarded"]]
        outcomes: dict[int, KgAgentError | None] = {}
        for part in [*parts, *([guarded] if guarded else [])]:
            try:
                outcomes |= await self._write_rows(part, guards)
            except KgAgentError as error:
                if None not in outcomes.values():
                    raise
                rest = {row["position"]: error for _, row in rows}
                return rest | outcomes
        return outcomes

    def _notify(self, plan: PlannedWrite[Any]) -> None:
        """Report a change without the time and version of the write, so that equal content compares
        as equal.
        """
        if self.graph.context.on_change is None:
            return
        kind = self.graph.kind(plan.after)
        before = None if plan.stored is None else kind.to_model(plan.stored, plan.asked_from)
        self.graph.context.on_change(before, kind.to_model(plan.after, plan.asked_from))


def _with_endings(
    planned: Mapping[int, PlannedWrite[Any]], ending_of: dict[int, int]
) -> dict[int, PlannedWrite[Any]]:
    """Plans with those of what they end, at positions below 0, each of which is noted with that of
    its plan.
    """
    every: dict[int, PlannedWrite[Any]] = {}
    for position, plan in planned.items():
        every[position] = plan
        for ending in plan.endings:
            below = -1 - len(ending_of)
            ending_of[below] = position
            every[below] = replace(ending, is_guarded=True)
    return every


def _of_plans(
    results: dict[int, WriteResult[Any] | KgAgentError], ending_of: Mapping[int, int]
) -> dict[int, WriteResult[Any] | KgAgentError]:
    """Results without those of what plans end; a plan fails with it."""
    for position, plan in ending_of.items():
        ending = results.pop(position, None)
        if ending is None:
            results.pop(plan, None)
        elif isinstance(ending, KgAgentError):
            results[plan] = ending
    return results


def _by_record(planned: Mapping[int, PlannedWrite[Any]]) -> list[Plans]:
    """The plans of each record."""
    records: dict[int, Plans] = {}
    for position, plan in planned.items():
        plans = records.pop(id(plan.stored), {})
        plans[position] = plan
        records[id(plan.after)] = plans
    return list(records.values())


def _whole(plans: Plans) -> PlannedWrite[Any]:
    """What the plans about one record write together."""
    first, last = next(iter(plans.values())), plans[next(reversed(plans))]
    changes = {name: value for plan in plans.values() for name, value in plan.changes.items()}
    return replace(last, stored=first.stored, changes=changes)


def _lock_order(named: NamedRow) -> list[str]:
    """Sorts rows by their keys, so that writers of the same records wait for each other, but do not
    deadlock.
    """
    _, row = named
    return sorted(
        row[key] for key in ("entity_key", "from_entity_key", "to_entity_key") if key in row
    )


async def embedded(
    graph: UserGraph, plans: Sequence[PlannedWrite[Any]], now: datetime
) -> tuple[list[VectorChange], list[str]]:
    """Embed the texts that plans change, in one request; gives the changes of the vectors, and the
    texts.

    Raises:
        EmbeddingError: the embedder failed.
    """
    texts = await in_turns(
        lambda one: EmbeddedText.of(graph.kind(one.after), one.after, one.stored, now), plans
    )
    return await vector_changes(graph.context.embedder, texts), [one.text for one in texts]


def written_row(
    graph: UserGraph,
    plan: PlannedWrite[Any],
    vector: VectorChange,
    now: datetime,
    updated_at: datetime | None,
) -> Row:
    """The parameter by which a statement writes a record if its version is the one that was read.

    Args:
        graph: the records of the user.
        plan: the record, with the properties that change.
        vector: how its embedding changes.
        now: the time of the write.
        updated_at: what it gets as the time of its last change; None keeps the stored one.
    """
    record, kind, version = plan.after, graph.kind(plan.after), stored_version(plan.after)
    if plan.stored is None:
        before, changes = record.properties, {"created_at": now, **record.properties}
        is_shared = ADOPTED in before
    else:
        before, changes = plan.stored.properties, dict(plan.changes)
        is_shared = is_foreign(before, graph.nodes.ontology)
    changes |= {"updated_at": updated_at} if updated_at else {}
    if is_shared:
        changes = without_others(before, changes)
    properties = {
        **changes,
        **vector.properties,
        **kind.bookkeeping(record, graph.user_id, now),
        "version": version + 1,
    }
    if is_shared:
        vectors = {} if vector.vector is None else {record.vector_property: vector.vector}
        properties |= ledger(before, {**properties, **vectors})
    return {
        **kind.location(record),
        "element_id": record.element_id,
        "version": version,
        "vector": kind.store.vector(vector.vector),
        "stated": index_row(kind, vector, graph.context.embedder),
        "properties": properties,
    }


def changed_properties(
    record: Record, values: Mapping[str, Any], notes: Sequence[Note], context: WriteContext
) -> dict[str, Any]:
    """The properties that differ once values are set and notes are added.

    Raises:
        InputError: the record would have too many notes.
    """
    wanted = dict(values)
    said = [note.model_copy(update={"trust": lower(note.trust, context.trust)}) for note in notes]
    all_notes = add_notes(record.notes, said, context.clock()) if said else record.notes
    if len(all_notes) > max(context.max_notes, len(record.notes)):
        raise InputError(
            f"A record may have at most {context.max_notes:,} notes, got {len(all_notes):,}: "
            "remove old notes (in remember: replaces without content), or raise KGAGENT_MAX_NOTES"
        )
    if all_notes != record.notes:
        wanted["notes"] = dump_notes(all_notes)
    return {key: value for key, value in wanted.items() if record.properties.get(key) != value}


def with_properties(record: RecordT, properties: Mapping[str, Any]) -> RecordT:
    """A record with properties set; None removes one, as in the database."""
    merged = {**record.properties, **properties}
    return replace(
        record, properties={key: value for key, value in merged.items() if value is not None}
    )


def stored_version(record: Record) -> int:
    """How often a record was written; 0 if kgagent never wrote it.

    Raises:
        InputError: the stored version is not an integer.
    """
    stored = record.properties.get("version")
    if stored is not None and not isinstance(stored, int):
        raise InputError(
            f"version must be an integer, got {stored!r}; `kgagent doctor` lists such records"
        )
    return stored or 0
