"""The report of a migration."""

from typing import Any

from kgagent.errors import KgAgentError
from kgagent.formatting import counted
from kgagent.models.report import Report


class Skipped(Report):
    """What was not written although it needs a change.

    Attributes:
        what: the record, for a person who searches for it.
        why: the reason.
    """

    what: str
    why: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.what}: {self.why}"


class Counts(Report):
    """Counts of nodes or of relationships.

    Attributes:
        examined: all records; the sum of the other counts.
        embedded: records with a new embedding.
        updated: records with unchanged embedding whose old or missing properties were fixed.
        up_to_date: records that were not written.
        skipped: records that cannot be migrated.
    """

    examined: int = 0
    embedded: int = 0
    updated: int = 0
    up_to_date: int = 0
    skipped: int = 0

    @property
    def written(self) -> int:
        """The number of records that were written."""
        return self.embedded + self.updated

    def __add__(self, other: "Counts") -> "Counts":
        """The sum of both."""
        return Counts(**{name: count + getattr(other, name) for name, count in self})


class MigrationReport(Report):
    """What a migration did, or with `dry_run` what it would do.

    Attributes:
        nodes: counts of the nodes.
        relationships: counts of the relationships.
        skipped: the first 20 skipped records.
        seconds: duration in seconds.
        dry_run: whether nothing was written.
    """

    nodes: Counts
    relationships: Counts
    skipped: tuple[Skipped, ...]
    seconds: float
    dry_run: bool

    @property
    def total(self) -> Counts:
        """Nodes and relationships together."""
        return self.nodes + self.relationships

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {**super().to_dict(), "total": self.total.to_dict()}

    def __str__(self) -> str:
        """One line for nodes and one for relationships."""
        would = "would be " if self.dry_run else ""
        return "\n".join(
            f"{counted(counts.examined, noun)}: {counts.embedded:,} {would}embedded, "
            f"{counts.updated:,} {would}updated, {counts.up_to_date:,} up to date, "
            f"{counts.skipped:,} {would}skipped"
            for noun, counts in (("node", self.nodes), ("relationship", self.relationships))
        )


class MigrationStoppedError(KgAgentError):
    """A migration was stopped by an error; what it had written is complete and stays.

    Attributes:
        report: what was done until then.
    """

    def __init__(self, cause: KgAgentError, report: MigrationReport) -> None:
        super().__init__(
            f"{cause}. The migration stopped after {report.total.written:,} records, which stay "
            f"migrated. "
            "Run it again to migrate the rest"
        )
        self.report = report
