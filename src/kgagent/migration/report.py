"""The report of a migration, and the counts that it is made of."""

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kgagent.errors import KgAgentError
from kgagent.formatting import counted

Kind = Literal["nodes", "relationships"]
MigrationOutcome = Literal["embedded", "updated", "up_to_date", "skipped"]

SKIPPED_SHOWN = 20
"""Maximum number of skipped records that a report names; the others are only counted."""


@dataclass(frozen=True)
class Skipped:
    """A record that was not migrated.

    Attributes:
        what: the record, for a person who searches for it.
        why: the reason.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Counts:
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
        return Counts(
            self.examined + other.examined,
            self.embedded + other.embedded,
            self.updated + other.updated,
            self.up_to_date + other.up_to_date,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, kw_only=True)
class MigrationReport:
    """What a migration did, or with `dry_run` what it would do.

    Attributes:
        nodes: counts of the nodes.
        relationships: counts of the relationships.
        skipped: the first 20 skipped records.
        seconds: duration in seconds.
        dry_run: whether nothing was written.
        store_texts: number of texts of stored items that were embedded again.
    """

    nodes: Counts
    relationships: Counts
    skipped: tuple[Skipped, ...]
    seconds: float
    dry_run: bool
    store_texts: int = 0

    @property
    def total(self) -> Counts:
        """Nodes and relationships together."""
        return self.nodes + self.relationships

    @property
    def rate(self) -> float:
        """Records written per second."""
        return self.total.written / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {**asdict(self), "total": asdict(self.total), "rate": round(self.rate, 1)}

    def __str__(self) -> str:
        """One line for nodes, one for relationships, and one for texts of stored items if any were embedded."""
        would = "would be " if self.dry_run else ""
        lines = [_line("node", self.nodes, would), _line("relationship", self.relationships, would)]
        if self.store_texts:
            lines.append(f"{counted(self.store_texts, 'text')} of stored items: {would}embedded")
        return "\n".join(lines)


class MigrationStoppedError(KgAgentError):
    """A migration was stopped by an error; what it had written is complete and stays.

    Attributes:
        report: what was done until then.
    """

    def __init__(self, cause: KgAgentError, report: MigrationReport) -> None:
        done = report.total.written
        super().__init__(
            f"{cause}. The migration stopped after {done:,} records, which stay migrated. "
            "Run it again to migrate the rest"
        )
        self.report = report


@dataclass
class Tally:
    """The counts of a running migration."""

    dry_run: bool
    outcomes: Counter[tuple[Kind, MigrationOutcome]] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def add(self, kind: Kind, outcome: MigrationOutcome) -> None:
        """Count one record."""
        self.outcomes[kind, outcome] += 1

    def skip(self, kind: Kind, skipped: Skipped) -> None:
        """Count a record that is not migrated, and remember it if it is among the first."""
        self.add(kind, "skipped")
        if len(self.skipped) < SKIPPED_SHOWN:
            self.skipped.append(skipped)

    def merge(self, other: "Tally") -> None:
        """Add the counts of another part of the migration."""
        self.outcomes.update(other.outcomes)
        self.skipped += other.skipped[: SKIPPED_SHOWN - len(self.skipped)]

    def report(self) -> MigrationReport:
        """The report so far."""
        return MigrationReport(
            nodes=self._counts("nodes"),
            relationships=self._counts("relationships"),
            skipped=tuple(self.skipped),
            seconds=time.perf_counter() - self.started,
            dry_run=self.dry_run,
        )

    def _counts(self, kind: Kind) -> Counts:
        counted = self.outcomes
        return Counts(
            examined=sum(number for (of, _), number in counted.items() if of == kind),
            embedded=counted[kind, "embedded"],
            updated=counted[kind, "updated"],
            up_to_date=counted[kind, "up_to_date"],
            skipped=counted[kind, "skipped"],
        )


def _line(noun: str, counts: Counts, would: str) -> str:
    return (
        f"{counted(counts.examined, noun)}: {counts.embedded:,} {would}embedded, {counts.updated:,} {would}updated, "
        f"{counts.up_to_date:,} up to date, {counts.skipped:,} {would}skipped"
    )
