"""Costs of relationships whose paths fit a query less than the best path."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from kgagent.errors import StoreError
from kgagent.graph.statements import statement
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.type_fit import Chain, TypeFit, single_types
from kgagent.retrieval.vector_targets import VectorTarget

MISFIT_WEIGHT, MAX_NAMED = 0.6, 2
"""Cost of a path that fits less than the best one, as a multiple of the difference; again as much for each type of the
best path that a word names, up to two: words are surer than similarities."""

THROUGH_SHARE = 0.7
"""How much the paths through a relationship itself count beside the best one of all with its types."""

EXAMINED, EXAMINED_AT_ONCE = 100, 100
"""Relationships of which it is read how their paths continue, and how many continuations are read of each."""


@dataclass(frozen=True)
class OpenEnd:
    """The last relationship of a path.

    Attributes:
        element_id: the database's id.
        exits: keys of its nodes that the path may leave it by.
        visited: keys of the nodes of the path.
    """

    element_id: str
    exits: Set[str]
    visited: Set[str]


class PathFits:
    """How well the paths through relationships fit a query, and how much that costs them beside the best path.

    Any path that begins with the types of a relationship's own path counts for it, but those through it more, as it may
    be a dead end.
    """

    def __init__(self, fit: TypeFit, paths: Iterable[tuple[Sequence[str], Iterable[Chain]]]) -> None:
        """Compare paths, each given as the ids of its relationships and the choices of their types."""
        self._continued: dict[Chain, float] = {}
        self._through: dict[str, dict[Chain, float]] = defaultdict(dict)
        for ids, chains in paths:
            for chain in chains:
                for length, one in enumerate(ids, start=1):
                    for fits in (self._continued, self._through[one]):
                        fits[chain[:length]] = max(fits.get(chain[:length], -1.0), fit.of(chain))
        self._weight = MISFIT_WEIGHT * (1 + min(fit.named(max(self._continued, key=fit.of, default=())), MAX_NAMED))

    def undecided(self, ends: Iterable[str]) -> list[str]:
        """Those of some relationships that fit better if they continue as others of their types do, best first."""
        known = {one: self._through[one] for one in ends}
        possible = {one: max(map(self._continued.__getitem__, chains)) for one, chains in known.items()}
        found = [one for one, fits in known.items() if any(self._continued[chain] > fits[chain] for chain in fits)]
        return sorted(found, key=lambda one: -possible[one])[:EXAMINED]

    def costs(self, continuing: Mapping[str, Set[str]]) -> dict[str, float]:
        """The cost of each relationship that is on a path.

        Args:
            continuing: for the ids of relationships, the types of those that continue their paths.
        """
        fits = {}
        for one, known in self._through.items():
            types = continuing.get(one, ())
            through = {c: max([known[c], *(self._continued.get((*c, after), -1.0) for after in types)]) for c in known}
            fits[one] = max(
                (1 - THROUGH_SHARE) * self._continued[c] + THROUGH_SHARE * fit for c, fit in through.items()
            )
        best = max(fits.values(), default=0.0)
        return {one: self._weight * (best - fit) for one, fit in fits.items()}


async def continuing_types(
    scope: SearchScope, target: VectorTarget, types: RelationshipFilter, ends: Sequence[OpenEnd], *, timeout: float
) -> Mapping[str, Set[str]]:
    """For the ids of relationships, the types of those that continue their paths; nothing if the database fails."""
    if not ends:
        return {}
    rows = [
        {"element_id": one.element_id, "through": sorted(one.exits), "visited": sorted(one.visited)} for one in ends
    ]
    parameters = {**types.parameters, "steps": rows, "limit": EXAMINED_AT_ONCE}
    try:
        read = await scope.read(statement("continuing_types", **target.places), parameters, timeout=timeout)
    except StoreError:  # ranking works without them
        return {}
    return {row["element_id"]: {one for text in row["types"] for one in single_types(text)} for row in read}
