"""The result of an import."""

from pydantic import BaseModel, ConfigDict

from kgagent.formatting import counted

MAX_CONFLICTS = 1_000
"""Conflicts that a report describes; all are counted."""


class ImportConflict(BaseModel):
    """A record that was not imported.

    Attributes:
        line: its line in the file, from 1.
        record: what it is, with its key.
        reason: why it was not imported.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    record: str
    reason: str

    def __str__(self) -> str:
        """The conflict in one line."""
        return f"line {self.line}: {self.record}: {self.reason}"


class ImportCounts(BaseModel):
    """Number of records that were created, overwritten, unchanged or in conflict."""

    model_config = ConfigDict(frozen=True)

    created: int = 0
    overwritten: int = 0
    unchanged: int = 0
    conflicts: int = 0


class ImportReport(BaseModel):
    """The result of an import.

    Attributes:
        nodes: counts of the nodes.
        relationships: counts of the relationships.
        deleted: counts of the deleted records.
        embedded: number of embeddings made.
        embeddings_kept: whether the embeddings of the file were imported as they are.
        conflicts: the first records that were not imported.
        seconds: duration.
    """

    model_config = ConfigDict(frozen=True)

    nodes: ImportCounts
    relationships: ImportCounts
    deleted: ImportCounts
    embedded: int
    embeddings_kept: bool
    conflicts: tuple[ImportConflict, ...]
    seconds: float

    @property
    def conflict_count(self) -> int:
        """Number of all conflicts."""
        return sum(counts.conflicts for counts in (self.nodes, self.relationships, self.deleted))

    def __str__(self) -> str:
        """The report in one line."""
        created = (
            f"{counted(self.nodes.created, 'node')}, {counted(self.relationships.created, 'relationship')} and "
            f"{counted(self.deleted.created, 'deleted record')} created"
        )
        kinds = (self.nodes, self.relationships, self.deleted)
        unchanged, overwritten = (sum(getattr(one, name) for one in kinds) for name in ("unchanged", "overwritten"))
        return f"{created}, {overwritten:,} overwritten, {unchanged:,} unchanged, {self.conflict_count:,} in conflict"
