"""Counting what is wrong with records, kind by kind, with one example of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.doctor.diagnosis import Finding, Severity


@dataclass(frozen=True)
class Issue:
    """A kind of thing that can be wrong with a record.

    Attributes:
        severity: of the finding.
        phrase: goes on "3 of 100 nodes …".
        mend: a command, or what to do.
    """

    severity: Severity
    phrase: str
    mend: str


@dataclass
class Ledger:
    """What was found among the records of one kind; it holds one entry an issue, however many records there are."""

    kind: str
    examined: int = 0

    def __post_init__(self) -> None:
        self._found: dict[Issue, tuple[int, str]] = {}

    def note(self, issue: Issue, example: object) -> None:
        """Count a record; the first one of an issue is its example."""
        number, first = self._found.get(issue) or (0, str(example))
        self._found[issue] = (number + 1, first)

    def findings(self) -> Iterator[Finding]:
        """One finding an issue."""
        for issue, (number, example) in self._found.items():
            what = f"{number:,} of {self.examined:,} {self.kind} {issue.phrase}, such as {example}"
            yield Finding(issue.severity, what, issue.mend)
