"""Searching a vector index, in the way that the server supports, until as many matches are found as
exist.
"""

import math
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgagent.concurrency import task_group
from kgagent.errors import StatementTimeoutError, StoreError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.statements import statement
from kgagent.graph.vector_index_options import IndexScores
from kgagent.models.search import SearchPlan
from kgagent.search.arguments import MAX_LIMIT
from kgagent.search.candidates import Candidate
from kgagent.search.vector_search import VectorRequest, scan, union
from kgagent.search.vector_targets import EmbeddedQuery

WIDENING = 5

FILTERED = 2
"""Factor of the first search if its matches are filtered: one wider search costs less than a second
one.
"""

INDEX_LIFETIME = 60.0
"""Seconds for which the configuration of an index is cached."""

MIN_CANDIDATES = 200
"""Minimum number of vectors that an index compares: with fewer, a search for a single match would
often miss it.
"""


class WidenedIndex:
    """Fetches more matches than are wanted, and more again if that was too few.

    If that is still not enough, or the index fails, the vectors are compared one by one.

    Attributes:
        plan: name of the way to search.
        exact_scan_limit: number of vectors up to which an exact scan is faster.
    """

    plan: SearchPlan
    exact_scan_limit: int

    def __init__(self, *, oversampling: int) -> None:
        self._oversampling = oversampling

    async def search(self, request: VectorRequest) -> list[list[Candidate]]:
        """Find the matches of each query."""
        fetch = await self.first_fetch(request)
        found: dict[int, list[Candidate]] = {}
        open_queries = list(range(len(request.queries)))
        while open_queries and fetch <= MAX_LIMIT:
            part = replace(request, queries=[request.queries[i] for i in open_queries])
            try:
                answers = await self.fetch(part, fetch)
            except StatementTimeoutError:
                raise
            except StoreError:
                # Neo4j 2026.08.1 fails ("Index … out of bounds") if fewer match than are fetched
                # and an entry was deleted from a segment of the index.
                break
            found.update(
                (i, matches) for i, (matches, _) in zip(open_queries, answers, strict=True)
            )
            open_queries = [
                i for i, (_, complete) in zip(open_queries, answers, strict=True) if not complete
            ]
            fetch *= WIDENING
        if open_queries:
            rest = replace(request, queries=[request.queries[i] for i in open_queries])
            found.update(zip(open_queries, await scan(rest), strict=True))
        return [found[i] for i in range(len(request.queries))]

    async def search_each(
        self, requests: Sequence[VectorRequest]
    ) -> dict[str, list[list[Candidate]]]:
        """Search several targets concurrently; the matches of each query by name of the target."""
        async with task_group() as group:
            tasks = {
                request.target.name: group.create_task(self.search(request)) for request in requests
            }
        return {name: task.result() for name, task in tasks.items()}

    async def first_fetch(self, request: VectorRequest) -> int:
        """Number of matches that the first search requests."""
        return max(request.limit * self._oversampling, MIN_CANDIDATES)

    @abstractmethod
    async def fetch(self, request: VectorRequest, fetch: int) -> list[tuple[list[Candidate], bool]]:
        """Search once: for each query its matches, and whether a wider search could find no
        more.
        """


class FilteredIndex(WidenedIndex):
    """Cypher 25's SEARCH, which filters by user and free type inside the index."""

    plan: SearchPlan = "index"
    exact_scan_limit = 100

    def __init__(self, *, oversampling: int) -> None:
        super().__init__(oversampling=oversampling)
        self._scores: dict[str, tuple[float, IndexScores]] = {}

    async def first_fetch(self, request: VectorRequest) -> int:
        """Number of matches that the first search requests: more in a large index, fewer if it
        compares more itself.
        """
        scores = await self._scores_of(request)
        candidates = max(request.limit * self._oversampling, MIN_CANDIDATES)
        candidates *= FILTERED if request.target.is_filtered_later else 1
        fetch = max(request.limit, math.ceil(candidates / scores.expansion))
        return max(fetch, min(math.ceil(fetch * scores.widening), MAX_LIMIT))

    async def fetch(self, request: VectorRequest, fetch: int) -> list[tuple[list[Candidate], bool]]:
        """Search once, all queries in one statement."""
        scores = await self._scores_of(request)
        parameters = request.parameters | {"fetch": fetch, "estimated": scores.estimated}
        rows = await request.scope.read(request.target.index_statement, parameters)
        return [
            _matches(request, query, row, fetch)
            for query, row in zip(request.queries, rows, strict=True)
        ]

    async def search_each(
        self, requests: Sequence[VectorRequest]
    ) -> dict[str, list[list[Candidate]]]:
        """Search the indexes of several labels in one statement; one with too few matches is
        searched again, wider.
        """
        if len(requests) <= 1:
            return await super().search_each(requests)
        await self._read_scores(requests)
        fetch = max([await self.first_fetch(request) for request in requests])
        estimated = any([(await self._scores_of(request)).estimated for request in requests])
        text = union(*(request.target.index_statement for request in requests))
        try:
            rows = await requests[0].scope.read(
                text, requests[0].parameters | {"fetch": fetch, "estimated": estimated}
            )
        except StatementTimeoutError:
            raise
        except StoreError:  # see `search`, which compares the vectors one by one then
            return await super().search_each(requests)
        by_place = {(row["label"], row["query"]): row for row in rows}
        answers = {
            request.target.name: [
                _matches(request, query, by_place[request.target.name, position], fetch)
                for position, query in enumerate(request.queries)
            ]
            for request in requests
        }
        incomplete = [
            one for one in requests if not all(complete for _, complete in answers[one.target.name])
        ]
        wider = await super().search_each(incomplete)
        return {name: [matches for matches, _ in each] for name, each in answers.items()} | wider

    async def _scores_of(self, request: VectorRequest) -> IndexScores:
        index = request.target.indexes[0]
        known = self._scores.get(index)
        if known is None or known[0] <= time.monotonic():
            await self._read_scores([request])
        return self._scores[index][1]

    async def _read_scores(self, requests: Sequence[VectorRequest]) -> None:
        """Read the configuration and size of the indexes that are not known, in two statements."""
        now = time.monotonic()
        unknown = {one.target.indexes[0]: one for one in requests}
        unknown = {
            name: one for name, one in unknown.items() if self._scores.get(name, (0.0,))[0] <= now
        }
        if not unknown:
            return
        scope, names = requests[0].scope, list(unknown)
        async with task_group() as group:
            reading = group.create_task(
                scope.read(statement("show_index_config"), {"indexes": names})
            )
            counting = group.create_task(
                scope.read(union(*(one.target.total_statement for one in unknown.values())), {})
            )
        configs = {row["name"]: row["config"] for row in reading.result()}
        for name, total in zip(names, counting.result(), strict=True):
            scores = IndexScores.of(configs.get(name, {}), total["found"])
            self._scores[name] = (now + INDEX_LIFETIME, scores)


class WidenedProcedure(WidenedIndex):
    """The query procedures of 5.26, which return matches of all users and of all types; statements
    filter them.
    """

    plan: SearchPlan = "procedure"
    exact_scan_limit = 2_000

    async def fetch(self, request: VectorRequest, fetch: int) -> list[tuple[list[Candidate], bool]]:
        """Search once, with one statement for each query and index."""
        async with task_group() as group:
            tasks = [
                group.create_task(self._query(request, query, fetch)) for query in request.queries
            ]
        return [task.result() for task in tasks]

    async def _query(
        self, request: VectorRequest, query: EmbeddedQuery, fetch: int
    ) -> tuple[list[Candidate], bool]:
        async with task_group() as group:
            tasks = [
                group.create_task(self._index(request, query, fetch, index))
                for index in request.target.indexes
            ]
        parts = [task.result() for task in tasks]
        merged = sorted(
            (match for matches, _ in parts for match in matches), key=lambda match: -match.score
        )
        kept = merged[: request.limit]
        reach = kept[-1].score if len(kept) == request.limit else query.threshold
        return kept, all(least is None or least < reach for _, least in parts)

    async def _index(
        self, request: VectorRequest, query: EmbeddedQuery, fetch: int, index: str
    ) -> tuple[list[Candidate], float | None]:
        """Matches in one index, and the similarity of the last one that it returned; None if it
        returned nothing.

        Fewer results than requested do not mean that the index has no more: the procedure drops
        records that another transaction deletes meanwhile, and a graph of vectors may have parts
        that its search does not reach.
        """
        parameters = replace(request, queries=[query]).parameters
        parameters |= {"index": index, "query": parameters["queries"][0], "fetch": fetch}
        [row] = await request.scope.read(request.target.procedure_statement, parameters)
        return request.candidates(row), row["least"]


def vector_index(features: ServerFeatures, *, oversampling: int) -> WidenedIndex:
    """The way that a server supports."""
    supported = FilteredIndex if features.filtered_vector_indexes else WidenedProcedure
    return supported(oversampling=oversampling)


def _matches(
    request: VectorRequest, query: EmbeddedQuery, row: Mapping[str, Any], fetch: int
) -> tuple[list[Candidate], bool]:
    matches = request.candidates(row)
    # One record may have all the statements that were fetched, of which only a few are returned.
    is_enough = (
        request.target.kind == "statements"
        and not request.target.is_filtered_later
        and bool(matches)
    )
    return matches, is_enough or len(matches) >= request.limit or row["hits"] < fetch or row[
        "least"
    ] < query.threshold
