"""How two nodes are related: the shortest paths between them, and those that say most about a query.

The shortest are found by the database's own search from both ends. The most relevant are found by a beam search from
both ends: level by level, the best partial paths of each side go on, and wherever a relationship joins a path of one
side with one of the other, that is a path. What a relationship counts is computed inside the database: its plain
cosine with the query, or without one its strength.

Where no node in between has more relationships than are kept, and no level more partial paths, the best are found for
certain; past that they are the best of those that were followed.
"""

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, NodeNotFoundError, StatementTimeoutError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.paths import FindPathsRequest, FindPathsResult, PathNode
from kgagent.retrieval.found_path import FoundPath, ranked
from kgagent.retrieval.told_paths import PathLoader

BEAM_WIDTH = 200
"""Partial paths of a level and a side that go on."""

RELATIONSHIPS_OF_A_LEVEL = 40_000
"""Relationships read at one level of one side, at the most, parted evenly among the nodes that it starts from."""

JOINS = 2_000
SHORTEST_PATHS_READ = 1_000
SHARE_OF_TIME = 0.8
"""Share of its time in which a search looks for paths; the rest is for telling them."""

OUT_OF_TIME = "The search ran out of time: there may be other paths"


class PathFinder:
    """Finds paths between two nodes of a user."""

    def __init__(
        self, nodes: NodeRepository, relationships: RelationshipRepository, embedder: Embedder, *, timeout: float
    ) -> None:
        self._nodes = nodes
        self._relationships = relationships
        self._embedder = embedder
        self._timeout = timeout
        self._told = PathLoader(relationships, timeout=timeout)

    async def find(self, request: FindPathsRequest, user_id: str) -> FindPathsResult:
        """Find paths.

        Raises:
            NodeNotFoundError: a node does not exist for this user.
            InputError: both ends are one node.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        wanted = [request.from_entity_key, request.to_entity_key]
        if wanted[0] == wanted[1]:
            raise InputError(f"A path joins two different nodes, got {wanted[0]} twice")
        records = await self._nodes.read(user_id, wanted)
        if missing := [key for key in wanted if key not in records]:
            raise NodeNotFoundError(f"One or both nodes do not exist: {', '.join(missing)}")
        start, end = (records[key] for key in wanted)
        search = _Search(self._relationships, request, start, end, await self._scope(request, user_id), self._timeout)
        async with task_group() as group:
            by_hops = group.create_task(search.shortest())
            by_score = group.create_task(search.relevant())
        asked = request.query is not None
        chosen = ranked(by_score.result(), by_hops.result(), request.limit, asked=asked)
        return FindPathsResult(
            start=_node(start),
            end=_node(end),
            paths=tuple(await self._told.read(user_id, chosen, by_hops.result(), asked=asked)),
            warnings=(OUT_OF_TIME,) if search.is_out_of_time else (),
        )

    async def _scope(self, request: FindPathsRequest, user_id: str) -> dict[str, Any]:
        """The parameters that all statements share."""
        vector = None
        if request.query is not None:
            [embedding] = await self._embedder.embed_queries([request.query])
            vector = self._relationships.store.vector(embedding)
        return {
            "user_id": user_id,
            "vector": vector,
            "dimensions": self._embedder.dimensions,
            "model": self._embedder.model,
        }


class _Search:
    """One search for paths, by element ids."""

    def __init__(  # noqa: PLR0917
        self,
        relationships: RelationshipRepository,
        request: FindPathsRequest,
        start: NodeRecord,
        end: NodeRecord,
        scope: dict[str, Any],
        timeout: float,
    ) -> None:
        self._relationships = relationships
        self._request = request
        self._ends = (start.element_id, end.element_id)
        self._scope = scope
        self._until = time.monotonic() + SHARE_OF_TIME * timeout
        self.is_out_of_time = False

    async def shortest(self) -> list[FoundPath]:
        """Find the shortest paths, the best of them first."""
        rows = await self._rows(
            "find_shortest_paths",
            first=self._request.from_entity_key,
            second=self._request.to_entity_key,
            max_hops=self._request.max_hops,
            read_limit=SHORTEST_PATHS_READ,
            limit=self._request.limit,
        )
        return [FoundPath(tuple(row["nodes"]), tuple(row["relationships"]), tuple(row["weights"])) for row in rows]

    async def relevant(self) -> list[FoundPath]:
        """Find paths by the beam from both ends: no more than are wanted of each length."""
        sides = [[[FoundPath((end,))]] for end in self._ends]
        for _ in range(self._request.max_hops // 2):
            async with task_group() as group:
                levels = [group.create_task(self._level(side[-1])) for side in sides]
            for side, level, other_end in zip(sides, levels, reversed(self._ends), strict=True):
                side.append([path for path in level.result() if path.tip != other_end])
        async with task_group() as group:
            joins = [
                group.create_task(self._joined(sides[0][first], sides[1][second]))
                for first, second in _meetings(self._request.max_hops)
                if sides[0][first] and sides[1][second]
            ]
        return [path for join in joins for path in join.result()]

    async def _level(self, paths: Sequence[FoundPath]) -> list[FoundPath]:
        """The best partial paths that are one hop longer."""
        tips = _by_tip(paths)
        if not tips:
            return []
        rows = await self._rows(
            "expand_paths",
            tips=_tip_totals(tips),
            read_limit=RELATIONSHIPS_OF_A_LEVEL // len(tips),
            node_limit=BEAM_WIDTH,
            limit=JOINS,
        )
        longer = (
            path.leads_to(row["node"], row["relationship"], row["weight"])
            for row in rows
            for path in tips[row["tip"]]
            if row["node"] not in path.nodes
        )
        return heapq.nlargest(BEAM_WIDTH, longer, key=lambda path: path.total)

    async def _joined(self, firsts: Sequence[FoundPath], seconds: Sequence[FoundPath]) -> list[FoundPath]:
        """The best whole paths that a relationship makes of one from either side."""
        from_start, from_end = _by_tip(firsts), _by_tip(seconds)
        rows = await self._rows("join_paths", first=_tip_totals(from_start), second=_tip_totals(from_end), limit=JOINS)

        def whole() -> Iterator[FoundPath]:
            for row in rows:
                for one in from_start[row["first"]]:
                    for other in from_end[row["second"]]:
                        if not set(one.nodes) & set(other.nodes):
                            yield one.joined(row["relationship"], row["weight"], other)

        return heapq.nlargest(self._request.limit, whole(), key=lambda path: path.total)

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        """Run a statement for as long as there is time; out of time, there are no rows."""
        left = self._until - time.monotonic()
        if left > 0:
            try:
                return await self._relationships.store.read(
                    statement(name, **self._relationships.names), {**self._scope, **parameters}, timeout=left
                )
            except StatementTimeoutError:
                pass
        self.is_out_of_time = True
        return []


def _meetings(max_hops: int) -> list[tuple[int, int]]:
    """Hops from either end at which a relationship between the tips makes a path that is not too long.

    Paths of an even length are joined left and right of their middle: past a hub, the middle that one side's beam
    lost may be in the other's.
    """
    levels = range(max_hops // 2 + 1)
    return [(one, other) for one in levels for other in levels if abs(one - other) <= 1 and one + other < max_hops]


def _by_tip(paths: Iterable[FoundPath]) -> dict[str, list[FoundPath]]:
    tips: dict[str, list[FoundPath]] = {}
    for path in paths:
        tips.setdefault(path.tip, []).append(path)
    return tips


def _tip_totals(tips: dict[str, list[FoundPath]]) -> list[dict[str, object]]:
    return [{"element_id": tip, "total": max(path.total for path in paths)} for tip, paths in tips.items()]


def _node(record: NodeRecord) -> PathNode:
    return PathNode(entity_key=record.entity_key, label=record.label, name=record.text("name"))
