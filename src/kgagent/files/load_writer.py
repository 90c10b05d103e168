"""Writes the lines of a file to load, by the same strategies as the tools."""

import asyncio
import pickle
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from kgagent.errors import (
    ConflictError,
    InputError,
    KgAgentError,
    NotFoundError,
)
from kgagent.files.batch_writing import LineItem, line_batches, write_batches
from kgagent.files.load_reader import LineKind, LoadedNodeIntent
from kgagent.files.reports import LineProblem
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.writes import WriteOptions, WriteResult
from kgagent.models.free_types import type_names
from kgagent.names import normalised_name
from kgagent.progress import Advance
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices
from kgagent.trust import Trust

_TYPE = "relationship_type"

IntentT = TypeVar("IntentT", NodeIntent, RelationshipIntent)


@dataclass(frozen=True, kw_only=True)
class LoadJob:
    """Which lines are written, and how.

    Attributes:
        kind: what the lines are about.
        user_id: owner of the graph.
        batch_size: lines per transaction, from 1.
        concurrency: maximum number of concurrent batches, from 1.
        trust: class of what the lines say.
    """

    kind: LineKind
    user_id: str
    batch_size: int
    concurrency: int
    trust: Trust


@dataclass
class LoadTally:
    """What became of lines.

    Attributes:
        counts: number of lines by outcome.
        embedded: number of embeddings made.
        problems: why lines were not written, by line number.
        remarks: what is stored otherwise than a line says, by line number.
    """

    counts: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    problems: dict[int, LineProblem] = field(default_factory=dict)
    remarks: dict[int, LineProblem] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Number of lines whose records are as the lines say."""
        return self.counts.total() - self.counts["ended"]

    def count(self, written: WriteResult[Any]) -> None:
        """Count a line that was written."""
        self.embedded += written.embedded
        changed = "updated" if written.changed else "unchanged"
        self.counts["created" if written.created else changed] += 1
        self.counts["ended"] += len(written.ended)

    def merge(self, other: "LoadTally") -> None:
        """Add what became of other lines."""
        self.counts.update(other.counts)
        self.embedded += other.embedded
        self.problems |= other.problems
        self.remarks |= other.remarks


class LoadWriter:
    """Writes the lines of a job."""

    def __init__(self, services: GraphServices, job: LoadJob, tally: LoadTally) -> None:
        self._job = job
        self._tally = tally
        self._attempts = services.write_context.attempts
        # One transaction with relationships at a time, since two that touch the same nodes may
        # deadlock.
        lock = asyncio.Lock() if job.kind == "relationships" else None
        now = services.write_context.clock()
        options = WriteOptions(prepare=partial(_prepare, now), repeats=True, lock=lock)
        graph = services.trusting(job.trust).user_graph(job.user_id)
        self._strategy = GraphStrategy(graph, options)

    async def write(self, lines: Iterator[LineItem[Any]], advance: Advance) -> None:
        """Write the intents of lines.

        Args:
            lines: iterated in a thread, one batch at a time.
            advance: receives the number of lines done.

        Raises:
            EmbeddingError: a batch could not be embedded.
            StoreError: the database failed; likewise.
        """

        async def write_batch(batch: Sequence[LineItem[Any]]) -> None:
            await self._write_batch(batch)
            advance(len(batch))

        await write_batches(
            line_batches(lines, self._job.batch_size),
            write_batch,
            concurrency=self._job.concurrency,
            identity=self._identity,
        )

    async def write_on_workers(
        self, workers: RayWorkers, total: int, lines: Iterator[LineItem[Any]], advance: Advance
    ) -> None:
        """Have the intents of so many lines written by worker processes; see `write`.

        All lines about a record are in one block. If a worker is lost, its block is written again,
        as if the file were loaded again; a record that it had created is then counted as unchanged
        or updated.
        """
        blocks: list[list[bytes]] = [[] for _ in range(0, total, workers.engine.size_for(total))]

        def divide() -> None:
            for line in lines:
                blocks[hash(self._identity(line)) % len(blocks)].append(pickle.dumps(line))

        async def filled() -> AsyncIterator[list[bytes]]:
            for block in filter(None, blocks):
                yield block

        await asyncio.to_thread(divide)
        await workers.run(write_block, self._job, filled(), self._tally, advance)

    def _identity(self, line: LineItem[Any]) -> Hashable:
        return self._strategy.identity(line.value)

    async def _write_batch(self, batch: Sequence[LineItem[Any]]) -> None:
        outcomes = await compare_and_set(
            self._strategy, [line.value for line in batch], attempts=self._attempts
        )
        tally = self._tally
        failure: KgAgentError | None = None
        for line, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, WriteResult):
                tally.count(outcome)
                remarks = [*outcome.warnings, *self._strategy.quotes.notices([line.value])]
                remarks += [f"Ended: {one}" for one in outcome.ended]
                if kept := outcome.stored and _former_values(line.value, outcome.stored):
                    remarks.append(f"Left as in the graph, which had it before: {', '.join(kept)}")
                if remarks:
                    tally.remarks[line.number] = _problem(line, ". ".join(remarks))
            elif isinstance(outcome, InputError | ConflictError):
                tally.problems[line.number] = _problem(line, _reason(outcome))
            else:
                failure = failure or outcome
        if failure is not None:
            raise failure


async def write_block(
    services: GraphServices, job: LoadJob, lines: Sequence[bytes], tally: LoadTally
) -> None:
    """Write pickled lines in a worker."""
    async with services.store.reachability.watched():
        await LoadWriter(services, job, tally).write(map(pickle.loads, lines), lambda _: None)


def _prepare(
    now: datetime, intent: IntentT, stored: NodeRecord | RelationshipRecord | None
) -> IntentT:
    """A line adds no note that an earlier load has added and that has expired since, and brings
    back no value that was replaced.
    """
    if stored is None:
        return intent
    if isinstance(intent, NodeIntent) and isinstance(stored, NodeRecord):
        _check_node(intent, stored)
    old = {(one.identity, one.expires_at) for one in stored.notes if not one.is_current(now)}
    notes = (note for note in intent.notes if (note.identity, note.expires_at) not in old)
    former = _former_values(intent, stored)
    return replace(
        intent,
        values={name: value for name, value in intent.values.items() if name not in former},
        notes=tuple(notes),
    )


def _former_values(intent: NodeIntent | RelationshipIntent, stored: Record) -> list[str]:
    """The properties of which a line without a day of its own gives an earlier value."""
    former = [
        (name, getattr(entry, field))
        for entry in stored.history
        for name, field in entry.replaced.items()
    ]
    types = {one for name, value in former if name == _TYPE for one in type_names(value)}

    def is_former(name: str, value: object) -> bool:
        if name == _TYPE:
            known = type_names(stored.text(name))
            given = type_names(str(value))
            return not given <= known and given <= known | types
        return (name, value) in former and value != stored.properties.get(name)

    names = [name for name, value in intent.values.items() if is_former(name, value)]
    has_day = "said_on" in intent.values or ("when" in intent.values and "when" not in names)
    return [] if has_day else names


def _check_node(intent: NodeIntent, stored: NodeRecord) -> None:
    """A line never changes the label of a node, nor turns one node into another.

    Raises:
        InputError: it would.
    """
    if stored.label != intent.label:
        raise InputError(
            f"{intent.entity_key} is a {stored.label} in the graph and cannot become a "
            f"{intent.label}"
        )
    if isinstance(intent, LoadedNodeIntent) and intent.id is not None:
        old, new = stored.text("name"), intent.values["name"]
        if normalised_name(new) != normalised_name(old):
            raise InputError(
                f"id {intent.id!r} was loaded as {old!r} before, and this line says {new!r}; use "
                f"another id, or give "
                f"entity_key {stored.entity_key!r} to rename it"
            )


def _problem(line: LineItem[Any], reason: str) -> LineProblem:
    return LineProblem(line=line.number, place=line.place, reason=reason)


def _reason(error: KgAgentError) -> str:
    if isinstance(error, NotFoundError):
        return (
            f"{error}; `from` and `to` must be the id of a valid line of the file, or an "
            f"entity_key of the graph"
        )
    if isinstance(error, ConflictError):
        return f"{error}. Load the file again"
    return str(error)
