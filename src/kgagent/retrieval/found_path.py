"""A path that was found, what it scores, and which of several are told.

A path's score is the mean of what its relationships count, less a little for each hop beyond the first.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

STEP_COST = 0.02
"""What a path's score loses for each hop beyond the first, in units of plain cosine; not tuned on any data."""


@dataclass(frozen=True)
class FoundPath:
    """A path, or from one end the part of one, by element ids; `weights` says what each relationship counts."""

    nodes: tuple[str, ...]
    relationships: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def tip(self) -> str:
        """The node that it leads to."""
        return self.nodes[-1]

    @property
    def total(self) -> float:
        """What its relationships count together."""
        return sum(self.weights)

    @property
    def score(self) -> float:
        """What whole paths are ranked by."""
        return path_score(self.weights)

    def leads_to(self, node: str, relationship: str, weight: float) -> "FoundPath":
        """The path that is one hop longer."""
        return FoundPath((*self.nodes, node), (*self.relationships, relationship), (*self.weights, weight))

    def joined(self, relationship: str, weight: float, other: "FoundPath") -> "FoundPath":
        """The path that goes on to the tip of one from the other end, and back along that one."""
        return FoundPath(
            (*self.nodes, *reversed(other.nodes)),
            (*self.relationships, relationship, *reversed(other.relationships)),
            (*self.weights, weight, *reversed(other.weights)),
        )


def path_score(weights: Sequence[float]) -> float:
    """Score of a path: mean of the weights - 0.02 * (hops - 1)."""
    return sum(weights) / len(weights) - STEP_COST * (len(weights) - 1)


def ranked(paths: Iterable[FoundPath], shortest: Iterable[FoundPath], count: int, *, asked: bool) -> list[FoundPath]:
    """Choose paths.

    Args:
        paths: paths that were found, the same one perhaps several times.
        shortest: those than which none is shorter.
        count: paths at the most.
        asked: whether there is a query: then the best scores come first, and at least one of the shortest is among
            them. Otherwise the fewest hops come first.
    """

    def place(path: FoundPath) -> tuple[float, float, tuple[str, ...]]:
        hops = len(path.relationships)
        return (-path.score, hops, path.relationships) if asked else (hops, -path.score, path.relationships)

    of_fewest = sorted(shortest, key=place)[:count]
    best = heapq.nsmallest(count, {path.relationships: path for path in (*paths, *of_fewest)}.values(), key=place)
    if of_fewest and not any(len(path.relationships) == len(of_fewest[0].relationships) for path in best):
        best[-1] = of_fewest[0]
    return best


def explained(weights: Sequence[float], *, asked: bool) -> str:
    """Say how a score comes about."""
    what = "similarity to the query" if asked else "strength (attitude and proximity, of 10)"
    mean = sum(weights) / len(weights)
    each = ", ".join(f"{weight:.2f}" for weight in weights)
    cost = STEP_COST * (len(weights) - 1)
    return f"score {path_score(weights):.2f} = mean {what} {mean:.2f} ({each}) - {cost:.2f} for {len(weights)} hops"
