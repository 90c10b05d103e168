"""Examining all records of a scan and writing those that need a change, as migrating and forgetting
do.

Each decision depends only on the stored record, so an interrupted run is continued by the next one.
Writes use the compare-and-set of the tools, so both may run concurrently.
"""

import asyncio
import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import ConflictError, EmbeddingResponseError, InputError, KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.user_graph import UserGraph, intent_of
from kgagent.graph.writes import WriteOptions, WriteResult
from kgagent.progress import Advance
from kgagent.trust import OWN
from kgagent.upkeep.examination import Inspected, Kind
from kgagent.upkeep.migration_report import Counts, MigrationReport, Skipped
from kgagent.upkeep.scan import Scan

Outcome = Literal["embedded", "updated", "up_to_date", "skipped"]

CONCURRENT_BATCHES = 3
"""Maximum number of batches that are embedded and written concurrently; the reader waits for
them.
"""

MAX_EXAMINED = 1_000
"""Maximum number of records that are examined before progress is reported."""

PROBE = "kgagent"
"""A text that every model accepts; if it is refused, the cause is not a single record."""

REFUSALS = (EmbeddingResponseError, InputError)

MAX_SKIPPED = 20
"""Maximum number of skipped records that are named; the others are only counted."""


Verdict = tuple[str, ...] | Skipped | None
"""Of a record that needs a change, the texts to embed as far as they are known; `prepare` of the
options decides what changes. None if it needs none.
"""

Changes = list[tuple[Inspected, tuple[str, ...]]]
"""Records that need a change, each with the texts to embed."""


@dataclass
class Tally:
    """Counts of records by kind and outcome, and the first skipped records."""

    outcomes: Counter[tuple[Kind, Outcome]] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def skip(self, kind: Kind, skipped: Skipped) -> None:
        """Count a record that was not written, and remember it if it is among the first."""
        self.merge(Tally(Counter([(kind, "skipped")]), [skipped]))

    def merge(self, other: "Tally") -> None:
        """Add the counts of another part of the work."""
        self.outcomes.update(other.outcomes)
        self.skipped += other.skipped[: MAX_SKIPPED - len(self.skipped)]

    def report(self, *, dry_run: bool) -> MigrationReport:
        """What has been done until now."""
        return MigrationReport(
            nodes=self._counts("nodes"),
            relationships=self._counts("relationships"),
            skipped=tuple(self.skipped),
            seconds=time.perf_counter() - self.started,
            dry_run=dry_run,
        )

    def _counts(self, kind: Kind) -> Counts:
        counts = {outcome: count for (of, outcome), count in self.outcomes.items() if of == kind}
        return Counts(examined=sum(counts.values()), **counts)


class PreparedEmbedder(WrapperEmbedder):
    """Returns known embeddings, and asks the real embedder for other texts.

    The writes of a batch share one, so that each text is embedded once. A text that a tool has
    changed meanwhile is not known, so its present form is embedded.
    """

    def __init__(self, embedder: Embedder, known: Mapping[str, Embedding]) -> None:
        super().__init__(embedder)
        self._known = known

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts, calling the real embedder only for those that are not known.

        Raises:
            EmbeddingError: the real embedder failed.
            InputError: it refused a text.
        """
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = (
            dict(zip(unknown, await self._embedder.embed(unknown), strict=True)) if unknown else {}
        )
        return [self._known[text] if text in self._known else made[text] for text in texts]


async def embed_batch(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[dict[str, Embedding], dict[str, str]]:
    """Embed texts, and distinguish a model that fails from a text that it refuses.

    If the model refuses a batch, each text is embedded alone.

    Args:
        embedder: the model.
        texts: non-empty texts without repetition.

    Returns:
        The embeddings by text, and the reason of each refusal by text.

    Raises:
        KgAgentError: the model is unavailable, or refuses even `PROBE`.
    """
    if not texts:
        return {}, {}
    try:
        return dict(zip(texts, await embedder.embed(texts), strict=True)), {}
    except REFUSALS:
        await embedder.embed([PROBE])
    made: dict[str, Embedding] = {}
    refused: dict[str, str] = {}
    for text in texts:
        try:
            [made[text]] = await embedder.embed([text])
        except REFUSALS as error:
            refused[text] = str(error)
    return made, refused


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """Examines and writes the records of one kind.

    Attributes:
        scan: the records to examine.
        judge: decides whether a record needs a change.
        options: how the records are written; with `dry_run`, nothing is embedded either.
        batch_size: records per embedding call and transaction.
    """

    scan: Scan
    judge: Callable[[Inspected], Verdict]
    options: WriteOptions
    batch_size: int

    async def run(self, tally: Tally, advance: Advance) -> None:
        """Examine every record and write those that need a change.

        Args:
            tally: receives the outcomes.
            advance: receives the number of records examined.

        Raises:
            KgAgentError: the database or the embedder failed; written batches stay written.
        """
        slots = asyncio.Semaphore(CONCURRENT_BATCHES)

        async def write(changes: Changes, examined: int) -> None:
            try:
                await self._write(changes, tally)
                advance(examined)
            finally:
                slots.release()

        async with task_group() as group:
            changes: Changes = []
            examined = 0
            async with self.scan.records() as records:
                async for inspected in records:
                    examined += 1
                    verdict = self.judge(inspected)
                    if verdict is None:
                        tally.outcomes[self.scan.kind, "up_to_date"] += 1
                    elif isinstance(verdict, Skipped):
                        tally.skip(self.scan.kind, verdict)
                    else:
                        changes.append((inspected, verdict))
                    if (
                        len(changes) >= self.batch_size
                        or examined >= MAX_EXAMINED + self.batch_size
                    ):
                        await slots.acquire()
                        group.create_task(write(changes, examined))
                        changes, examined = [], 0
            await slots.acquire()
            group.create_task(write(changes, examined))

    async def _write(self, changes: Changes, tally: Tally) -> None:
        """Embed the texts of all users in one call, and write; a text that the model refuses is
        skipped.
        """
        kind, services = self.scan.kind, self.scan.services
        embedder = services.write_context.embedder
        texts = list(dict.fromkeys(text for _, some in changes for text in some))
        if self.options.dry_run:
            embeddings, refused = (
                dict.fromkeys(texts, array("f", bytes(4 * embedder.dimensions))),
                dict[str, str](),
            )
        else:
            embeddings, refused = await embed_batch(embedder, texts)
        possible = []
        for inspected, some in changes:
            if reason := next((refused[text] for text in some if text in refused), None):
                tally.skip(kind, Skipped(what=str(inspected), why=reason))
            else:
                possible.append(inspected)
        # What is written again is said by nobody, and keeps its class.
        context = replace(
            services.write_context, embedder=PreparedEmbedder(embedder, embeddings), trust=OWN
        )
        possible.sort(key=lambda inspected: inspected.user_id)
        for user_id, group in groupby(possible, key=lambda inspected: inspected.user_id):
            graph = UserGraph(services.nodes, services.relationships, context, user_id)
            await self._write_for(list(group), GraphStrategy(graph, self.options), tally)

    async def _write_for(
        self, records: Sequence[Inspected], strategy: GraphStrategy, tally: Tally
    ) -> None:
        results = await compare_and_set(
            strategy,
            [intent_of(inspected.record) for inspected in records],
            attempts=self.scan.services.write_context.attempts,
        )
        failure: KgAgentError | None = None
        for inspected, result in zip(records, results, strict=True):
            if isinstance(result, WriteResult):
                tally.outcomes[self.scan.kind, _outcome(result)] += 1
            elif isinstance(result, InputError | ConflictError):
                tally.skip(self.scan.kind, Skipped(what=str(inspected), why=str(result)))
            else:
                failure = result
        if failure is not None:
            raise failure


def _outcome(written: WriteResult[Any]) -> Outcome:
    if written.embedded:
        return "embedded"
    return "updated" if written.changed else "up_to_date"
