"""The results of loads, exports and imports."""

from collections import Counter

from kgagent.formatting import counted
from kgagent.models.report import Report


class LineProblem(Report):
    """A line that was not loaded, or not as it says.

    Attributes:
        line: line number, from 1; of converted files or several files, the number among all lines
            to load; 0 of a folder.
        place: where it is in those files, such as "results[2]"; empty if the line number says it.
        reason: what is wrong with it, or how it was loaded.
    """

    line: int
    place: str = ""
    reason: str

    def __str__(self) -> str:
        """The place or the line number, and the reason."""
        return f"{self.place or f'line {self.line}'}: {self.reason}"


class ImportConflict(LineProblem):
    """A record that was not imported.

    Attributes:
        line: its line in the file, from 1.
        record: what it is, with its key.
        reason: why it was not imported.
    """

    record: str

    def __str__(self) -> str:
        """The line number, the record and the reason."""
        return f"line {self.line}: {self.record}: {self.reason}"


class LoadCounts(Report):
    """Number of records that were created, updated or unchanged, and of facts that lines ended, as
    their type has one value at a time.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    ended: int = 0

    def joined(self, other: "LoadCounts") -> "LoadCounts":
        """The sums of both."""
        return LoadCounts(**(Counter(self.model_dump()) + Counter(other.model_dump())))

    @property
    def total(self) -> int:
        """Number of all records."""
        return self.created + self.updated + self.unchanged


class LoadReport(Report):
    """The result of a load.

    Attributes:
        nodes: counts of the node lines.
        relationships: counts of the relationship lines.
        embedded: number of embeddings made.
        problems: the lines that were not loaded, in order.
        remarks: files of folders that were not read, lines that were loaded otherwise than they
            say, and what lines ended, in order.
        seconds: duration.
    """

    nodes: LoadCounts = LoadCounts()
    relationships: LoadCounts = LoadCounts()
    embedded: int = 0
    problems: tuple[LineProblem, ...] = ()
    remarks: tuple[LineProblem, ...] = ()
    seconds: float = 0.0

    def joined(self, other: "LoadReport") -> "LoadReport":
        """The report of two loads."""
        return LoadReport(
            nodes=self.nodes.joined(other.nodes),
            relationships=self.relationships.joined(other.relationships),
            embedded=self.embedded + other.embedded,
            problems=(*self.problems, *other.problems),
            remarks=(*self.remarks, *other.remarks),
            seconds=self.seconds + other.seconds,
        )

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return any(counts.created or counts.updated for counts in (self.nodes, self.relationships))


class ExportReport(Report):
    """What an export wrote.

    Attributes:
        users: number of users.
        nodes: number of nodes.
        relationships: number of relationships.
        deleted: number of deleted nodes and relationships that can still be restored, or await
            their purge.
        skipped: number of nodes without a key, and of relationships to such nodes, to nodes of
            other users, or that name another user as their owner; no file can have them. `diagnose`
            names them.
        sha256: hash of the content, which the footer of the file has too.
        seconds: duration.
    """

    users: int
    nodes: int
    relationships: int
    deleted: int
    skipped: int
    sha256: str
    seconds: float

    def __str__(self) -> str:
        """The report in one line."""
        return (
            f"{_records(self.nodes, self.relationships, self.deleted)} of "
            f"{counted(self.users, 'user')} exported"
        )


class ImportCounts(Report):
    """Number of records that were created, overwritten, unchanged or in conflict."""

    created: int = 0
    overwritten: int = 0
    unchanged: int = 0
    conflicts: int = 0


class ImportReport(Report):
    """The result of an import.

    Attributes:
        nodes: counts of the nodes.
        relationships: counts of the relationships.
        deleted: counts of the deleted records.
        embedded: number of embeddings made.
        conflicts: the first 1,000 records that were not imported.
        seconds: duration.
    """

    nodes: ImportCounts
    relationships: ImportCounts
    deleted: ImportCounts
    embedded: int
    conflicts: tuple[ImportConflict, ...]
    seconds: float

    @property
    def conflict_count(self) -> int:
        """Number of all conflicts."""
        return sum(counts.conflicts for counts in (self.nodes, self.relationships, self.deleted))

    def __str__(self) -> str:
        """The report in one line."""
        kinds = (self.nodes, self.relationships, self.deleted)
        overwritten = sum(counts.overwritten for counts in kinds)
        unchanged = sum(counts.unchanged for counts in kinds)
        created = _records(*(counts.created for counts in kinds))
        return (
            f"{created} created, {overwritten:,} overwritten, {unchanged:,} unchanged, "
            f"{self.conflict_count:,} in conflict"
        )


def _records(nodes: int, relationships: int, deleted: int) -> str:
    return (
        f"{counted(nodes, 'node')}, {counted(relationships, 'relationship')} and "
        f"{counted(deleted, 'deleted record')}"
    )
