"""Stage 1, retrieve: retrievers run concurrently, each with its own time limit; one that fails becomes a warning."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError, SearchError
from kgagent.graph.record_saver import MAX_EMBEDDED_TEXT
from kgagent.models.hybrid import RETRIEVER_DESCRIPTIONS, RetrieverName
from kgagent.retrieval.candidates import Ranking
from kgagent.retrieval.mentions import without_names
from kgagent.retrieval.scope import SHORTEST_TIMEOUT
from kgagent.retrieval.vector_targets import EmbeddedQuery

INTERNAL_ERROR = "internal error; see the log of the host program"

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")
Embedded = Callable[[], Awaitable[Sequence[EmbeddedQuery]]]
Retriever = Callable[[Embedded], Awaitable[Sequence[Ranking]]]
"""Returns a ranking for each query; awaits its argument for the queries with their vectors if it needs them."""


async def embed_for_search(
    embedder: Embedder, queries: Sequence[tuple[str, float]], *, is_expanded: bool
) -> list[EmbeddedQuery]:
    """Embed queries, each a text and a threshold, in one request; for expansion, also without the names in them."""
    texts = [text[:MAX_EMBEDDED_TEXT] for text, _ in queries]
    found = await embedder.embed_queries([*texts, *(map(without_names, texts) if is_expanded else ())])
    vectors = zip_longest(found[: len(texts)], found[len(texts) :])
    return [
        EmbeddedQuery(vector, threshold, text, nameless)
        for (text, threshold), (vector, nameless) in zip(queries, vectors, strict=True)
    ]


@dataclass(frozen=True)
class Failure:
    """The error of a step of a search, and the reason for a person to read."""

    reason: str
    error: Exception


@dataclass(frozen=True)
class Retrieved:
    """What all retrievers returned.

    Attributes:
        rankings: for each retriever that succeeded, a ranking for each query.
        failures: the retrievers that failed.
        queries: the queries with their vectors; empty if they were not embedded in time.
        ends_at: when the rest of the search must end, on the clock of `time.monotonic`.
    """

    rankings: Mapping[RetrieverName, Sequence[Ranking]]
    failures: Mapping[RetrieverName, Failure]
    queries: Sequence[EmbeddedQuery]
    ends_at: float

    @property
    def time_left(self) -> float:
        """Seconds that the next step of the search may take."""
        return max(round(self.ends_at - time.monotonic(), 2), SHORTEST_TIMEOUT)

    @property
    def warnings(self) -> list[str]:
        """Which searches failed, and why; and whether expansion was cut short."""
        cut = {one.cut_after for rankings in self.rankings.values() for one in rankings} - {None}
        return [
            *(f"Skipped {RETRIEVER_DESCRIPTIONS[name]}: {failure.reason}" for name, failure in self.failures.items()),
            *(f"Expansion was cut short: it took longer than {seconds:g} s" for seconds in cut),
        ]


async def retrieve(retrievers: Mapping[RetrieverName, Retriever], embed: Embedded, timeout: float) -> Retrieved:
    """Embed the queries once and run all retrievers concurrently; those that need no vector do not wait for it.

    Args:
        retrievers: the searches to run.
        embed: embeds the queries.
        timeout: seconds for each retriever, embedding included; the steps after it share as many again.

    Raises:
        SearchError: every retriever failed; or the error itself if each failed with an unexpected error.
    """
    async with task_group() as group:
        embedding = group.create_task(attempt(embed(), timeout, default=()))

        async def queries() -> Sequence[EmbeddedQuery]:
            # Shielded: a retriever that times out must not cancel the embedding that the others wait for.
            embedded, failure = await asyncio.shield(embedding)
            if failure is not None:
                raise failure.error
            return embedded

        tasks = {
            name: group.create_task(attempt(retriever(queries), timeout, default=()))
            for name, retriever in retrievers.items()
        }
    outcomes = {name: task.result() for name, task in tasks.items()}
    retrieved = Retrieved(
        {name: rankings for name, (rankings, failure) in outcomes.items() if failure is None},
        {name: failure for name, (_, failure) in outcomes.items() if failure is not None},
        embedding.result()[0],
        time.monotonic() + timeout,
    )
    if not retrieved.rankings:
        unexpected = [one.error for one in retrieved.failures.values() if one.reason == INTERNAL_ERROR]
        if len(unexpected) == len(retrieved.failures):
            raise unexpected[0]
        raise SearchError(f"Every search failed. {'; '.join(retrieved.warnings)}")
    return retrieved


async def attempt(step: Awaitable[ResultT], timeout: float, *, default: ResultT) -> tuple[ResultT, Failure | None]:
    """Run a step that a search can do without: an error becomes the default and a `Failure`.

    Args:
        step: the step.
        timeout: seconds that it may take.
        default: the result if it fails.
    """
    try:
        async with asyncio.timeout(timeout):
            return await step, None
    except TimeoutError as error:
        return default, Failure(f"it took longer than {timeout:g} s", error)
    except KgAgentError as error:
        return default, Failure(str(error), error)
    except Exception as error:
        # A bug in one step must not discard the results of the others.
        _log.exception("A step of a search failed")
        return default, Failure(INTERNAL_ERROR, error)
