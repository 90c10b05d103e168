"""Path search: the shortest paths between two nodes, and the paths that are most relevant to a
query.

The shortest paths come from the database's own bidirectional search. The most relevant ones come
from a beam search from both ends: hop by hop, the best partial paths of each side are extended, and
each relationship that joins a path of one side with a path of the other makes a whole path. The
weight of a relationship is computed inside the database: its plain cosine with the query or,
without a query, its strength.

The result is exact as long as no node in between has more relationships than are read and no hop
more partial paths than are kept; beyond that it is the best of the paths that were followed.
"""

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, NodeNotFoundError, StatementTimeoutError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord
from kgagent.graph.store import Row
from kgagent.models.graph import GraphNode
from kgagent.models.paths import FindPathsRequest, FindPathsResult
from kgagent.search.path_candidates import PathCandidate, ranked, read_paths
from kgagent.search.scope import SearchScope

BEAM_WIDTH = 200
"""Partial paths of one hop and side that are extended."""

READ_PER_HOP = 40_000
"""Maximum number of relationships read in one hop of one side, divided evenly among the nodes that
it starts from.
"""

JOINS = 2_000
SHORTEST_PATHS_READ = 1_000
SEARCH_SHARE = 0.8
"""Share of the time in which paths are searched; the rest is for reading them."""

OUT_OF_TIME = "The search ran out of time; other paths may exist"


async def find_paths(
    scope: SearchScope, request: FindPathsRequest, nodes: NodeRepository, embedder: Embedder
) -> FindPathsResult:
    """Find paths between two nodes of a user.

    Raises:
        NodeNotFoundError: a node does not exist for this user.
        InputError: both ends are one node.
        EmbeddingError: the query could not be embedded.
        StoreError: the database failed.
    """
    wanted = [request.from_entity_key, request.to_entity_key]
    if wanted[0] == wanted[1]:
        raise InputError(f"A path joins two different nodes, got {wanted[0]} twice")
    records = await nodes.read(scope.user_id, wanted)
    if missing := [key for key in wanted if key not in records]:
        raise NodeNotFoundError(f"One or both nodes do not exist: {', '.join(missing)}")
    start, end = (records[key] for key in wanted)
    has_query = request.query is not None
    vector = (
        (await embedder.embed_queries([request.query]))[0] if request.query is not None else None
    )
    search = _PathSearch(scope, request, start, end, vector)
    async with task_group() as group:
        by_hops = group.create_task(search.shortest())
        by_score = group.create_task(search.relevant())
    chosen = ranked(by_score.result(), by_hops.result(), request.limit, has_query=has_query)
    return FindPathsResult(
        start=_node(start),
        end=_node(end),
        paths=tuple(await read_paths(scope, chosen, by_hops.result(), has_query=has_query)),
        warnings=(OUT_OF_TIME,) if search.is_out_of_time else (),
    )


class _PathSearch:
    """One search for paths, by element ids."""

    def __init__(
        self,
        scope: SearchScope,
        request: FindPathsRequest,
        start: NodeRecord,
        end: NodeRecord,
        vector: Sequence[float] | None,
    ) -> None:
        self._scope = scope
        self._request = request
        self._ends = (start.element_id, end.element_id)
        self._vector = None if vector is None else scope.store.vector(vector)
        self._deadline = time.monotonic() + SEARCH_SHARE * scope.timeout
        self.is_out_of_time = False

    async def shortest(self) -> list[PathCandidate]:
        """Find the shortest paths, best first."""
        rows = await self._rows(
            "find_shortest_paths",
            first=self._request.from_entity_key,
            second=self._request.to_entity_key,
            max_hops=self._request.max_hops,
            read_limit=SHORTEST_PATHS_READ,
            limit=self._request.limit,
        )
        return [
            PathCandidate(tuple(row["nodes"]), tuple(row["relationships"]), tuple(row["weights"]))
            for row in rows
        ]

    async def relevant(self) -> list[PathCandidate]:
        """Find the best paths of each length by the beam search from both ends."""
        sides = [[[PathCandidate((end,))]] for end in self._ends]
        for _ in range(self._request.max_hops // 2):
            async with task_group() as group:
                levels = [group.create_task(self._hop(side[-1])) for side in sides]
            for side, level, other_end in zip(sides, levels, reversed(self._ends), strict=True):
                side.append([path for path in level.result() if path.tip != other_end])
        async with task_group() as group:
            joins = [
                group.create_task(self._joined(sides[0][first], sides[1][second]))
                for first, second in _meetings(self._request.max_hops)
                if sides[0][first] and sides[1][second]
            ]
        return [path for join in joins for path in join.result()]

    async def _hop(self, paths: Sequence[PathCandidate]) -> list[PathCandidate]:
        """The best partial paths with one more hop."""
        tips = _by_tip(paths)
        if not tips:
            return []
        rows = await self._rows(
            "expand_paths",
            tips=_tip_totals(tips),
            read_limit=READ_PER_HOP // len(tips),
            node_limit=BEAM_WIDTH,
            limit=JOINS,
        )
        longer = (
            path.extended(row["node"], row["relationship"], row["weight"])
            for row in rows
            for path in tips[row["tip"]]
            if row["node"] not in path.nodes
        )
        return heapq.nlargest(BEAM_WIDTH, longer, key=lambda path: path.total)

    async def _joined(
        self, firsts: Sequence[PathCandidate], seconds: Sequence[PathCandidate]
    ) -> list[PathCandidate]:
        """The best whole paths that a relationship makes of one part from either side."""
        from_start, from_end = _by_tip(firsts), _by_tip(seconds)
        rows = await self._rows(
            "join_paths", first=_tip_totals(from_start), second=_tip_totals(from_end), limit=JOINS
        )

        def whole() -> Iterator[PathCandidate]:
            for row in rows:
                for one in from_start[row["first"]]:
                    for other in from_end[row["second"]]:
                        if not set(one.nodes) & set(other.nodes):
                            yield one.joined(row["relationship"], row["weight"], other)

        return heapq.nlargest(self._request.limit, whole(), key=lambda path: path.total)

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        """Run a statement in the time that is left; without time, there are no rows."""
        left = self._deadline - time.monotonic()
        if left > 0:
            try:
                return await self._scope.read(
                    self._scope.statement(name),
                    {"vector": self._vector, **parameters},
                    timeout=left,
                )
            except StatementTimeoutError:
                pass
        self.is_out_of_time = True
        return []


def _meetings(max_hops: int) -> list[tuple[int, int]]:
    """Hops from either end at which a relationship between the last nodes makes a path within
    `max_hops`.

    Paths of even length are joined on both sides of their middle: beyond a hub, one side's beam may
    have lost a middle that the other side's beam has.
    """
    levels = range(max_hops // 2 + 1)
    return [
        (one, other)
        for one in levels
        for other in levels
        if abs(one - other) <= 1 and one + other < max_hops
    ]


def _by_tip(paths: Iterable[PathCandidate]) -> dict[str, list[PathCandidate]]:
    tips: dict[str, list[PathCandidate]] = {}
    for path in paths:
        tips.setdefault(path.tip, []).append(path)
    return tips


def _tip_totals(tips: dict[str, list[PathCandidate]]) -> list[dict[str, object]]:
    return [
        {"element_id": tip, "total": max(path.total for path in paths)}
        for tip, paths in tips.items()
    ]


def _node(record: NodeRecord) -> GraphNode:
    return GraphNode(entity_key=record.entity_key, label=record.label, name=record.text("name"))
