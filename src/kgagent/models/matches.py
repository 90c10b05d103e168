"""Results of a search, with the way it was run."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

from kgagent.models.search import SearchPlan

HitT = TypeVar("HitT")


class Matches(Sequence[HitT], Generic[HitT]):
    """Results, best first.

    Attributes:
        plan: how the search was run.
        warnings: what is missing, and why.
    """

    def __init__(
        self, hits: Sequence[HitT] = (), *, plan: SearchPlan = "none", warnings: Sequence[str] = ()
    ) -> None:
        self._hits = tuple(hits)
        self.plan: SearchPlan = plan
        self.warnings = tuple(warnings)

    @overload
    def __getitem__(self, index: int) -> HitT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[HitT]: ...
    def __getitem__(self, index: int | slice) -> HitT | Sequence[HitT]:
        """One result, or a slice."""
        return self._hits[index]

    def __len__(self) -> int:
        """Number of results."""
        return len(self._hits)

    def __iter__(self) -> Iterator[HitT]:
        """Iterate over the results, best first."""
        return iter(self._hits)

    def __repr__(self) -> str:
        """The plan and the results."""
        return f"Matches(plan={self.plan!r}, hits={self._hits!r})"
