"""A list of hits that also tells how they were found."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

from kgagent.models.search import SearchPlan

HitT = TypeVar("HitT")


class Matches(Sequence[HitT], Generic[HitT]):
    """Hits, best first; `plan` tells how they were found."""

    def __init__(self, hits: Sequence[HitT] = (), *, plan: SearchPlan = "none") -> None:
        self._hits = tuple(hits)
        self.plan: SearchPlan = plan

    @overload
    def __getitem__(self, index: int) -> HitT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[HitT]: ...
    def __getitem__(self, index: int | slice) -> HitT | Sequence[HitT]:
        """One hit, or some of them."""
        return self._hits[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._hits)

    def __iter__(self) -> Iterator[HitT]:
        """Each of them, best first."""
        return iter(self._hits)

    def __repr__(self) -> str:
        """The plan and the hits."""
        return f"Matches(plan={self.plan!r}, hits={self._hits!r})"
