"""Paths between two nodes as candidates: their scores, which of them are returned, and reading them
in full.

The score of a path is the mean weight of its relationships, minus a small cost for each hop beyond
the first.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgagent.graph.records import RelationshipRecord, as_text, ontology_label
from kgagent.graph.store import Row
from kgagent.models.graph import GraphNode
from kgagent.models.paths import GraphPath
from kgagent.ontology import Ontology
from kgagent.search.scope import SearchScope
from kgagent.turns import in_turns

STEP_COST = 0.02
"""Cost of each hop beyond the first, in units of plain cosine; not tuned on any data."""


@dataclass(frozen=True)
class PathCandidate:
    """A path, or the part of one from either end, by element ids; `weights` are those of its
    relationships.
    """

    nodes: tuple[str, ...]
    relationships: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def tip(self) -> str:
        """The last node."""
        return self.nodes[-1]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return sum(self.weights)

    @property
    def score(self) -> float:
        """The score that whole paths are ranked by."""
        return path_score(self.weights)

    def extended(self, node: str, relationship: str, weight: float) -> "PathCandidate":
        """The path with one more hop."""
        return PathCandidate(
            (*self.nodes, node), (*self.relationships, relationship), (*self.weights, weight)
        )

    def joined(self, relationship: str, weight: float, other: "PathCandidate") -> "PathCandidate":
        """The whole path that a relationship makes of this part and one from the other end."""
        return PathCandidate(
            (*self.nodes, *reversed(other.nodes)),
            (*self.relationships, relationship, *reversed(other.relationships)),
            (*self.weights, weight, *reversed(other.weights)),
        )


def path_score(weights: Sequence[float]) -> float:
    """Score of a path: mean of the weights - 0.02 * (hops - 1)."""
    return sum(weights) / len(weights) - STEP_COST * (len(weights) - 1)


def ranked(
    paths: Iterable[PathCandidate],
    shortest: Iterable[PathCandidate],
    count: int,
    *,
    has_query: bool,
) -> list[PathCandidate]:
    """Choose paths.

    Args:
        paths: paths, possibly with duplicates.
        shortest: the paths with the fewest hops.
        count: maximum number of paths.
        has_query: whether there is a query: if so, paths are sorted by score, and at least one of
            the shortest is included; otherwise by hops.
    """

    def place(path: PathCandidate) -> tuple[float, float, tuple[str, ...]]:
        hops = len(path.relationships)
        return (
            (-path.score, hops, path.relationships)
            if has_query
            else (hops, -path.score, path.relationships)
        )

    of_fewest = sorted(shortest, key=place)[:count]
    best = heapq.nsmallest(
        count, {path.relationships: path for path in (*paths, *of_fewest)}.values(), key=place
    )
    if of_fewest and not any(
        len(path.relationships) == len(of_fewest[0].relationships) for path in best
    ):
        best[-1] = of_fewest[0]
    return best


def explained(weights: Sequence[float], *, has_query: bool) -> str:
    """Explain a score."""
    what = "similarity to the query" if has_query else "strength (attitude and proximity, of 10)"
    mean = sum(weights) / len(weights)
    each = ", ".join(f"{weight:.2f}" for weight in weights)
    cost = STEP_COST * (len(weights) - 1)
    return (
        f"score {path_score(weights):.2f} = mean {what} {mean:.2f} ({each}) - {cost:.2f} for "
        f"{len(weights)} hops"
    )


async def read_paths(
    scope: SearchScope,
    paths: Sequence[PathCandidate],
    shortest: Sequence[PathCandidate],
    *,
    has_query: bool,
) -> list[GraphPath]:
    """Read the nodes and relationships of paths in one statement; paths that changed meanwhile are
    omitted.

    Args:
        scope: whose paths.
        paths: the paths to return, in order.
        shortest: the paths with the fewest hops.
        has_query: whether there is a query.

    Raises:
        StoreError: the database failed.
    """
    ids = list(dict.fromkeys(relationship for path in paths for relationship in path.relationships))
    rows = await scope.read(scope.statement("read_path_relationships"), {"relationships": ids})
    found = {
        row["element_id"]: row
        for row in rows
        if row["relationship"] is not None and all(node["labels"] for node in row["nodes"])
    }
    fewest = min((len(path.relationships) for path in shortest), default=0)

    def model(path: PathCandidate) -> GraphPath:
        is_shortest = len(path.relationships) == fewest
        return _to_model(path, found, scope.ontology, has_query=has_query, is_shortest=is_shortest)

    return await in_turns(model, [path for path in paths if _is_whole(path, found)])


def _to_model(
    path: PathCandidate,
    found: Mapping[str, Row],
    ontology: Ontology,
    *,
    has_query: bool,
    is_shortest: bool,
) -> GraphPath:
    rows = [found[relationship] for relationship in path.relationships]
    nodes = {
        node["element_id"]: GraphNode(
            entity_key=node["entity_key"],
            label=ontology_label(node["labels"], ontology),
            name=as_text(node["name"]),
        )
        for row in rows
        for node in row["nodes"]
    }
    return GraphPath(
        nodes=tuple(nodes[node] for node in path.nodes),
        relationships=tuple(
            RelationshipRecord.read(row["relationship"]).to_model(ontology) for row in rows
        ),
        weights=path.weights,
        score=path.score,
        is_shortest=is_shortest,
        explanation=explained(path.weights, has_query=has_query),
    )


def _is_whole(path: PathCandidate, found: Mapping[str, Row]) -> bool:
    return all(
        relationship in found
        and {node["element_id"] for node in found[relationship]["nodes"]} == {first, second}
        for relationship, first, second in zip(
            path.relationships, path.nodes, path.nodes[1:], strict=False
        )
    )
