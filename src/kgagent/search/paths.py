"""Path search: the shortest paths between two nodes, and the paths that are most relevant to a
query.

The shortest paths come from the database's own bidirectional search. The most relevant ones come
from a beam search from both ends: hop by hop, the best partial paths of each side are extended, and
each relationship that joins a path of one side with a path of the other makes a whole path. The
weight of a relationship is computed inside the database: its plain cosine with the query or,
without a query, its strength. The score of a path is the mean weight of its relationships, minus a
small cost for each hop beyond the first, and minus a cost that puts it behind all others if a
relationship of it is past.

The result is exact as long as no node in between has more relationships than are read and no hop
more partial paths than are kept; beyond that it is the best of the paths that were followed.
"""

import heapq
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, NodeNotFoundError, StatementTimeoutError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import RelationshipRecord, as_text, ontology_label
from kgagent.graph.store import Row
from kgagent.models.graph import GraphNode
from kgagent.models.paths import FindPathsRequest, FindPathsResult, GraphPath
from kgagent.models.search import SearchFilters
from kgagent.ontology import Ontology
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import PAST_PATH_COST
from kgagent.search.walk import READ_PER_HOP

STEP_COST = 0.02
"""Cost of each hop beyond the first, in units of plain cosine; not tuned on any data."""

PARTIAL_PATHS = 200
"""Partial paths of one hop and side that are extended."""

JOINS = 2_000
"""Relationships that a hop, or a join of both sides, returns at most."""

SHORTEST_PATHS_READ = 1_000
SEARCH_SHARE = 0.8
"""Share of the time in which paths are searched; the rest is for reading them."""

OUT_OF_TIME = "The search ran out of time; other paths may exist"


@dataclass(frozen=True)
class PathCandidate:
    """A path, or the part of one from either end, by element ids; `weights` are those of its
    relationships, and `is_past` is whether one of these is past.
    """

    nodes: tuple[str, ...]
    relationships: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    is_past: bool = False

    @property
    def tip(self) -> str:
        """The last node."""
        return self.nodes[-1]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return sum(self.weights)

    @property
    def place(self) -> tuple[bool, float]:
        """What is sorted by among paths of one length, the best last."""
        return not self.is_past, self.total

    @property
    def score(self) -> float:
        """Score of a whole path: mean of the weights - 0.02 * (hops - 1), - 1 if it is past."""
        mean = self.total / len(self.weights)
        return mean - STEP_COST * (len(self.weights) - 1) - PAST_PATH_COST * self.is_past

    def joined(self, row: Row, other: "PathCandidate") -> "PathCandidate":
        """The path that the relationship of a row makes of this part and another from its end."""
        return PathCandidate(
            (*self.nodes, *reversed(other.nodes)),
            (*self.relationships, row["relationship"], *reversed(other.relationships)),
            (*self.weights, row["weight"], *reversed(other.weights)),
            self.is_past or row["past"] or other.is_past,
        )


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
        raise NodeNotFoundError(f"Node not found: {', '.join(missing)}")
    start, end = (records[key] for key in wanted)
    has_query = request.query is not None
    vector = (
        (await embedder.embed_queries([request.query]))[0] if request.query is not None else None
    )
    filters = SearchFilters(as_of=request.as_of, known_as_of=request.known_as_of)
    kept = RelationshipFilter.of(scope, filters)
    search = _PathSearch(scope, request, kept, (start.element_id, end.element_id), vector)
    async with task_group() as group:
        by_hops = group.create_task(search.shortest())
        by_score = group.create_task(search.relevant())
    shortest = by_hops.result()
    chosen = _ranked(by_score.result(), shortest, request.limit, has_query=has_query)
    fewest = min((len(path.relationships) for path in shortest), default=0)
    paths = await scope.read_as(
        lambda rows: _models(rows, chosen, fewest, scope.ontology, kept, has_query=has_query),
        scope.statement("read_path_relationships"),
        {"relationships": sorted({one for path in chosen for one in path.relationships})},
    )
    return FindPathsResult(
        start=GraphNode(entity_key=start.entity_key, label=start.label, name=start.text("name")),
        end=GraphNode(entity_key=end.entity_key, label=end.label, name=end.text("name")),
        paths=paths,
        warnings=(OUT_OF_TIME,) if search.is_out_of_time else (),
    )


class _PathSearch:
    """One search for paths, by element ids."""

    def __init__(
        self,
        scope: SearchScope,
        request: FindPathsRequest,
        kept: RelationshipFilter,
        ends: tuple[str, str],
        vector: Sequence[float] | None,
    ) -> None:
        self._scope = scope
        self._request = request
        self._kept = kept.parameters
        self._ends = ends
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
            PathCandidate(
                tuple(row["nodes"]), tuple(row["relationships"]), tuple(row["weights"]), row["past"]
            )
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
            node_limit=PARTIAL_PATHS,
            limit=JOINS,
        )
        longer = (
            path.joined(row, PathCandidate((row["node"],)))
            for row in rows
            for path in tips[row["tip"]]
            if row["node"] not in path.nodes
        )
        return heapq.nlargest(PARTIAL_PATHS, longer, key=lambda path: path.place)

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
                            yield one.joined(row, other)

        return heapq.nlargest(self._request.limit, whole(), key=lambda path: path.place)

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        """Run a statement in the time that is left; without time, there are no rows."""
        left = self._deadline - time.monotonic()
        if left > 0:
            try:
                return await self._scope.read(
                    self._scope.statement(name),
                    {"vector": self._vector, **self._kept, **parameters},
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


def _tip_totals(tips: Mapping[str, Sequence[PathCandidate]]) -> list[dict[str, object]]:
    best = {tip: max(paths, key=lambda path: path.place) for tip, paths in tips.items()}
    return [
        {"element_id": tip, "total": path.total, "past": path.is_past} for tip, path in best.items()
    ]


def _ranked(
    paths: Iterable[PathCandidate],
    shortest: Iterable[PathCandidate],
    count: int,
    *,
    has_query: bool,
) -> list[PathCandidate]:
    """The best paths: with a query by score, at least one of the shortest among them; otherwise by
    hops.
    """

    def place(path: PathCandidate) -> tuple[float, float, tuple[str, ...]]:
        hops = len(path.relationships)
        return (
            (-path.score, hops, path.relationships)
            if has_query
            else (hops, -path.score, path.relationships)
        )

    of_fewest = sorted(shortest, key=place)[:count]
    every = {path.relationships: path for path in (*paths, *of_fewest)}
    best = heapq.nsmallest(count, every.values(), key=place)
    if of_fewest and not any(
        len(path.relationships) == len(of_fewest[0].relationships) for path in best
    ):
        best[-1] = of_fewest[0]
    return best


def _models(
    rows: Sequence[Row],
    paths: Sequence[PathCandidate],
    fewest_hops: int,
    ontology: Ontology,
    kept: RelationshipFilter,
    *,
    has_query: bool,
) -> tuple[GraphPath, ...]:
    """Paths in full, as they were at the time asked for; those that changed meanwhile are
    omitted.
    """
    relationships: dict[str, RelationshipRecord] = {}
    joined: dict[str, set[str]] = {}
    nodes: dict[str, GraphNode] = {}
    for row in rows:
        if row["relationship"] is None or not all(node["labels"] for node in row["nodes"]):
            continue
        if (record := kept.on_day(RelationshipRecord.read(row["relationship"]))) is None:
            continue
        relationships[row["element_id"]] = record
        joined[row["element_id"]] = {node["element_id"] for node in row["nodes"]}
        for node in row["nodes"]:
            nodes[node["element_id"]] = GraphNode(
                entity_key=node["entity_key"],
                label=ontology_label(node["labels"], ontology),
                name=as_text(node["name"]),
            )
    return tuple(
        GraphPath(
            nodes=tuple(nodes[node] for node in path.nodes),
            relationships=tuple(
                relationships[one].to_model(ontology) for one in path.relationships
            ),
            weights=path.weights,
            score=path.score,
            is_shortest=len(path.relationships) == fewest_hops,
            explanation=_explained(path, has_query=has_query),
        )
        for path in paths
        if all(
            joined.get(relationship) == {first, second}
            for relationship, first, second in zip(
                path.relationships, path.nodes, path.nodes[1:], strict=False
            )
        )
    )


def _explained(path: PathCandidate, *, has_query: bool) -> str:
    what = "similarity to the query" if has_query else "strength (attitude and proximity, of 10)"
    hops = len(path.weights)
    each = ", ".join(f"{weight:.2f}" for weight in path.weights)
    return (
        f"score {path.score:.2f} = mean {what} {path.total / hops:.2f} ({each}) - "
        f"{STEP_COST * (hops - 1):.2f} for {hops} hops"
        + (f" - {PAST_PATH_COST:.2f} as it is not current" if path.is_past else "")
    )
