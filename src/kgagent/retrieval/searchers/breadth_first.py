"""Breadth-first expansion from start nodes, in one statement whatever the depth."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement

RELATIONSHIPS_OF_A_LEVEL = 2_000_000
"""Relationships read at one level, at the most, parted evenly among the nodes that it may start from."""


@dataclass(frozen=True)
class ReachedNode:
    """A node that was reached.

    Attributes:
        entity_key: its key.
        label_order: place of its label in the ontology.
        reached_from: keys of the one or two nearest starts with the hops from there, nearest first; a start is reached
            from itself with 0 hops.
    """

    entity_key: str
    label_order: int
    reached_from: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Reach:
    """How far an expansion goes.

    Attributes:
        depth: hops, 0 to 5.
        nodes: nodes kept in all; the nearest, among those of one depth the first by label order and key.
        node_neighbours: neighbours kept of one node, chosen in the same order after those that are starts themselves.
        others: whether the second nearest start of each node is told too.
    """

    depth: int
    nodes: int
    node_neighbours: int
    others: bool = False


class BreadthFirst:
    """Walks a user's graph from start nodes.

    Memory and time are bounded, also at a hub. Of a node with more relationships than are read, those count that the
    database gives first, which stay the same until the graph around that node changes.
    """

    def __init__(self, relationships: RelationshipRepository, *, timeout: float) -> None:
        self._relationships = relationships
        self._timeout = timeout

    async def expand(self, user_id: str, keys: Sequence[str], reach: Reach) -> list[ReachedNode]:
        """Find the nodes around starts, the starts included; a key that the user has no node of is skipped.

        Args:
            user_id: whose graph.
            keys: entity keys of the starts.
            reach: how far to go.

        Raises:
            StoreError: the database failed.
        """
        starts = list(dict.fromkeys(keys))
        if not starts:
            return []
        rows = await self._relationships.store.read(
            statement("expand_breadth_first", **self._relationships.names),
            {
                "user_id": user_id,
                "keys": starts,
                "starts": len(starts),
                "label_order": dict(self._relationships.ontology.label_order),
                "depth": reach.depth,
                "others": reach.others,
                "nodes": reach.nodes,
                "node_neighbours": reach.node_neighbours,
                "start_relationships": RELATIONSHIPS_OF_A_LEVEL // len(starts),
                "node_relationships": RELATIONSHIPS_OF_A_LEVEL // reach.nodes,
            },
            timeout=self._timeout,
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
    """Hops to each node from the nearest start that is not itself, by key; 0 for a seed.

    A start that no other leads to, and that is no seed, is left out.

    Args:
        reached: what an expansion that tells two starts of each node gave.
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
                # The way back is as long, and at a hub only the other end may have been read in full.
                depths[start] = min(depth, depths.get(start, depth))
    return depths
