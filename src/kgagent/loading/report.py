"""What a load did, and which lines it could not take."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class LineProblem(BaseModel):
    """A line that was not loaded.

    Attributes:
        line: its number, from 1.
        reason: what is wrong with it.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    reason: str

    def __str__(self) -> str:
        """Both in one line."""
        return f"line {self.line}: {self.reason}"


class Tally(BaseModel):
    """How many records were new, changed, or as the file says already."""

    model_config = ConfigDict(frozen=True)

    created: int = 0
    updated: int = 0
    unchanged: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.created + self.updated + self.unchanged


class LoadReport(BaseModel):
    """What a load did.

    Attributes:
        nodes: what became of the lines of nodes.
        relationships: what became of the lines of relationships.
        embedded: embeddings that were made.
        problems: the lines that were not loaded, in their order.
        seconds: how long it took.
    """

    model_config = ConfigDict(frozen=True)

    nodes: Tally = Tally()
    relationships: Tally = Tally()
    embedded: int = 0
    problems: tuple[LineProblem, ...] = ()
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(tally.created or tally.updated for tally in (self.nodes, self.relationships))


@dataclass
class Count:
    """A tally while it grows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    embedded: int = 0

    def tally(self) -> Tally:
        """As it stands."""
        return Tally(created=self.created, updated=self.updated, unchanged=self.unchanged)
