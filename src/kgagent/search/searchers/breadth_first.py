"""Breadth-first expansion from start nodes, in one statement whatever the depth."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kgagent.search.scope import SearchScope

READ_PER_HOP = 2_000_000
"""Maximum number of relationships read in one hop, divided evenly among the nodes that it may start
from.
"""


@dataclass(frozen=True)
class ReachedNode:
    """A node that was reached.

    Attributes:
        entity_key: its key.
        label_order: position of its label in the ontology.
        reached_from: keys of the one or two nearest starts with the hops from each, nearest first;
            a start reaches itself with 0 hops.
    """

    entity_key: str
    label_order: int
    reached_from: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Reach:
    """How far an expansion goes.

    Attributes:
        depth: hops, 0 to 5.
        nodes: maximum number of nodes; the nearest, then the first by label order and key.
        node_neighbors: maximum number of neighbors of one node: starts first, then in the same
            order.
        others: whether the second nearest start of each node is returned too.
    """

    depth: int
    nodes: int
    node_neighbors: int
    others: bool = False


class BreadthFirst:
    """Expands a user's graph from start nodes.

    Memory and time are bounded, also at a hub. Of a node with more relationships than are read,
    Neo4j returns some; which ones stays the same until the graph around the node changes.
    """

    def __init__(self, scope: SearchScope) -> None:
        self._scope = scope

    async def expand(self, user_id: str, keys: Sequence[str], reach: Reach) -> list[ReachedNode]:
        """Find the nodes around the starts, including the starts; unknown keys are skipped.

        Args:
            user_id: owner of the graph.
            keys: entity keys of the starts.
            reach: how far to go.

        Raises:
            StoreError: the database failed.
        """
        starts = list(dict.fromkeys(keys))
        if not starts:
            return []
        rows = await self._scope.of(user_id).read(
            self._scope.statement("expand_breadth_first"),
            {
                "keys": starts,
                "starts": len(starts),
                "label_order": dict(self._scope.ontology.label_order),
                "depth": reach.depth,
                "others": reach.others,
                "nodes": reach.nodes,
                "node_neighbors": reach.node_neighbors,
                "start_relationships": READ_PER_HOP // len(starts),
                "node_relationships": READ_PER_HOP // reach.nodes,
            },
        )
        return [
            ReachedNode(
                row["entity_key"],
                row["label_order"],
                tuple((starts[source["start"]], source["depth"]) for source in row["reached_from"]),
            )
            for row in rows
        ]


def depths_from_seeds(reached: Iterable[ReachedNode]) -> dict[str, int]:
    """Hops from the nearest start to each node, by key; 0 for a start."""
    return {node.entity_key: node.reached_from[0][1] for node in reached}


def depths_from_others(reached: Iterable[ReachedNode], seeds: Collection[str]) -> dict[str, int]:
    """Hops to each node from the nearest start other than itself, by key; 0 for a seed.

    A start that no other start leads to, and that is no seed, is omitted.

    Args:
        reached: result of an expansion with `others`.
        seeds: the starts that count as reached by themselves.
    """
    depths = {}
    for node in reached:
        key = node.entity_key
        if key in seeds:
            depths[key] = 0
        for start, depth in node.reached_from:
            if start == key:
                continue
            depths[key] = min(depth, depths.get(key, depth))
            if (key, 0) in node.reached_from:
                # The way back has the same length, and at a hub only the other end may have been
                # read completely.
                depths[start] = min(depth, depths.get(start, depth))
    return depths
