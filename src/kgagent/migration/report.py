"""What a migration did, told while it runs and at its end."""

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kgagent.errors import KgAgentError

Kind = Literal["nodes", "relationships"]
Outcome = Literal["embedded", "tidied", "up_to_date", "skipped"]

SKIPPED_SHOWN = 20
"""Skipped records that a report names; the others are only counted."""


@dataclass(frozen=True)
class Skipped:
    """A record that was left as it is.

    Attributes:
        what: the record, for a person who looks for it.
        why: what keeps it from being migrated.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Counts:
    """What became of the nodes or of the relationships.

    Attributes:
        examined: all that were looked at; the sum of the others.
        embedded: got a new embedding, and what else they lacked.
        tidied: kept their embedding, but lost old fields or got what they lacked.
        up_to_date: were not touched.
        skipped: cannot be migrated as they are.
    """

    examined: int = 0
    embedded: int = 0
    tidied: int = 0
    up_to_date: int = 0
    skipped: int = 0

    @property
    def written(self) -> int:
        """How many were changed."""
        return self.embedded + self.tidied

    def __add__(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(
            self.examined + other.examined,
            self.embedded + other.embedded,
            self.tidied + other.tidied,
            self.up_to_date + other.up_to_date,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, kw_only=True)
class MigrationReport:
    """What a migration did, or with `dry_run` what it would do.

    Attributes:
        nodes: what became of the nodes.
        relationships: what became of the relationships.
        skipped: the first 20 records that were skipped.
        seconds: how long it took.
        dry_run: whether nothing was changed.
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

    @property
    def rate(self) -> float:
        """Records written per second."""
        return self.total.written / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain data: JSON types only."""
        return {**asdict(self), "total": asdict(self.total), "rate": round(self.rate, 1)}

    def __str__(self) -> str:
        """One line a kind, for a person to read."""
        return "\n".join(
            _line(kind, counts) for kind, counts in (("nodes", self.nodes), ("relationships", self.relationships))
        )


class MigrationStoppedError(KgAgentError):
    """A migration could not go on; what it had written by then is whole and stays.

    Attributes:
        report: what was done before it stopped.
    """

    def __init__(self, cause: KgAgentError, report: MigrationReport) -> None:
        done = report.total.written
        super().__init__(
            f"{cause}. The migration stopped after {done:,} records; they are done and stay so. "
            "Run it again to go on with the rest"
        )
        self.report = report


@dataclass
class Tally:
    """Counts while a migration runs."""

    dry_run: bool
    outcomes: Counter[tuple[Kind, Outcome]] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def add(self, kind: Kind, outcome: Outcome) -> None:
        """Count one record."""
        self.outcomes[kind, outcome] += 1

    def skip(self, kind: Kind, skipped: Skipped) -> None:
        """Count a record that is left as it is, and keep its name if it is among the first."""
        self.add(kind, "skipped")
        if len(self.skipped) < SKIPPED_SHOWN:
            self.skipped.append(skipped)

    def report(self) -> MigrationReport:
        """What was done so far."""
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
            tidied=counted[kind, "tidied"],
            up_to_date=counted[kind, "up_to_date"],
            skipped=counted[kind, "skipped"],
        )


def _line(kind: str, counts: Counts) -> str:
    return (
        f"{counts.examined:,} {kind}: {counts.embedded:,} embedded, {counts.tidied:,} tidied, "
        f"{counts.up_to_date:,} up to date, {counts.skipped:,} skipped"
    )
