"""The result of a load."""

from pydantic import BaseModel, ConfigDict


class LineProblem(BaseModel):
    """A line that was not loaded.

    Attributes:
        line: line number, from 1.
        reason: what is wrong with it.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    reason: str

    def __str__(self) -> str:
        """The line number and the reason."""
        return f"line {self.line}: {self.reason}"


class LoadCounts(BaseModel):
    """Number of records that were created, updated or unchanged."""

    model_config = ConfigDict(frozen=True)

    created: int = 0
    updated: int = 0
    unchanged: int = 0

    @property
    def total(self) -> int:
        """Number of all records."""
        return self.created + self.updated + self.unchanged


class LoadReport(BaseModel):
    """The result of a load.

    Attributes:
        nodes: counts of the node lines.
        relationships: counts of the relationship lines.
        embedded: number of embeddings made.
        problems: the lines that were not loaded, in order.
        seconds: duration.
    """

    model_config = ConfigDict(frozen=True)

    nodes: LoadCounts = LoadCounts()
    relationships: LoadCounts = LoadCounts()
    embedded: int = 0
    problems: tuple[LineProblem, ...] = ()
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(counts.created or counts.updated for counts in (self.nodes, self.relationships))
