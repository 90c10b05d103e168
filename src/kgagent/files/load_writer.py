"""Writes the lines of a file to load, by the same strategies as the tools."""

import asyncio
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from kgagent.errors import (
    ConflictError,
    InputError,
    KgAgentError,
    NotFoundError,
)
from kgagent.files.batch_writing import LineItem, line_batches, write_batches
from kgagent.files.load_reader import LoadedNodeIntent
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteOptions, WriteResult
from kgagent.names import normalised_name
from kgagent.progress import Advance
from kgagent.services import GraphServices

LineKind = Literal["nodes", "relationships"]
IntentT = TypeVar("IntentT", NodeIntent, RelationshipIntent)


@dataclass(frozen=True, kw_only=True)
class LoadJob:
    """Which lines are written, and how.

    Attributes:
        kind: what the lines are about.
        user_id: owner of the graph.
        batch_size: lines per transaction, from 1.
        concurrency: maximum number of concurrent batches, from 1.
    """

    kind: LineKind
    user_id: str
    batch_size: int
    concurrency: int


class LoadWriter:
    """Writes the intents of the lines of a job.

    Attributes:
        job: which lines are written, and how.
        problems: receives why lines were not written, by line number.
        remarks: what is stored otherwise than a line says, by line number.
        counts: number of lines by outcome.
        embedded: number of embeddings made.
    """

    def __init__(self, services: GraphServices, job: LoadJob, problems: dict[int, str]) -> None:
        self.job = job
        self.problems = problems
        self.remarks: dict[int, str] = {}
        self.counts = Counter[str]()
        self.embedded = 0
        self._attempts = services.write_context.attempts
        # One transaction with relationships at a time, since two that touch the same nodes may
        # deadlock.
        lock = asyncio.Lock() if job.kind == "relationships" else None
        graph = UserGraph(
            services.nodes, services.relationships, services.write_context, job.user_id
        )
        self._strategy = GraphStrategy(graph, WriteOptions(prepare=_prepare, lock=lock))

    @property
    def done(self) -> int:
        """Number of lines whose records are as the lines say."""
        return self.counts.total() - self.counts["ended"]

    def identity(self, line: LineItem[Any]) -> Hashable:
        """The record that a line is about."""
        return self._strategy.identity(line.value)

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
            line_batches(lines, self.job.batch_size),
            write_batch,
            concurrency=self.job.concurrency,
            identity=self.identity,
        )

    async def _write_batch(self, batch: Sequence[LineItem[Any]]) -> None:
        outcomes = await compare_and_set(
            self._strategy, [line.value for line in batch], attempts=self._attempts
        )
        failure: KgAgentError | None = None
        for line, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, WriteResult):
                self.embedded += outcome.embedded
                if outcome.warnings:
                    self.remarks[line.number] = ". ".join(outcome.warnings)
                self.counts[
                    "created" if outcome.created else "updated" if outcome.changed else "unchanged"
                ] += 1
                self.counts["ended"] += len(outcome.ended)
            elif isinstance(outcome, InputError | ConflictError):
                self.problems[line.number] = _reason(outcome)
            else:
                failure = failure or outcome
        if failure is not None:
            raise failure


def _prepare(intent: IntentT, stored: NodeRecord | RelationshipRecord | None) -> IntentT:
    """A line adds no note that an earlier load has added, even if it has expired since."""
    if stored is None:
        return intent
    if isinstance(intent, NodeIntent) and isinstance(stored, NodeRecord):
        _check_node(intent, stored)
    existing = {(note.identity, note.expires_at) for note in stored.notes}
    return replace(
        intent, notes=tuple(n for n in intent.notes if (n.identity, n.expires_at) not in existing)
    )


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


def _reason(error: KgAgentError) -> str:
    if isinstance(error, NotFoundError):
        return (
            f"{error}; `from` and `to` must be the id of a valid line of the file, or an "
            f"entity_key of the graph"
        )
    if isinstance(error, ConflictError):
        return f"{error}. Load the file again"
    return str(error)
