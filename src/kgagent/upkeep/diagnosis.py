"""The result of a diagnosis."""

from collections.abc import Iterable
from typing import Any, Literal, Self

from kgagent.models.report import Report

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first; `Finding` says what each means."""


class Finding(Report):
    """One finding of a diagnosis.

    Attributes:
        severity: "error" if searches fail, omit what another model embedded, or return what they
            must not; "warning" if they miss some results; else "info".
        message: what is wrong, with counts and an example.
        fix: a command, or what to do.
    """

    severity: Severity
    message: str
    fix: str


class DiagnosisFacts(Report):
    """What was examined.

    Attributes:
        uri: address of the server.
        server_version: version that the server reports.
        filtered_vector_indexes: whether the vector indexes filter by user.
        vectors_on_the_wire: whether embeddings are sent in the driver's compact vector format.
        embedder: provider, model and dimensions.
        user_id: owner of the graph; None for all users.
        nodes: number of nodes examined.
        relationships: number of relationships examined.
        passages: number of passages of the texts of sources.
    """

    uri: str
    server_version: str
    filtered_vector_indexes: bool
    vectors_on_the_wire: bool
    embedder: str
    user_id: str | None
    nodes: int
    relationships: int
    passages: int


class Diagnosis(Report):
    """Findings, worst first, and what was examined."""

    findings: tuple[Finding, ...]
    facts: DiagnosisFacts

    @classmethod
    def of(cls, findings: Iterable[Finding], facts: DiagnosisFacts) -> Self:
        """Order the findings by severity; findings of equal severity keep their order."""
        ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
        return cls(findings=tuple(ordered), facts=facts)

    @property
    def is_healthy(self) -> bool:
        """Whether no finding is an error or a warning."""
        return all(finding.severity == "info" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as JSON types."""
        return {"is_healthy": self.is_healthy, **super().to_dict()}
