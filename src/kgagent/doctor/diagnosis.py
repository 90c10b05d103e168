"""What an examination finds."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""From the worst: searches fail or show what they must not; they miss something; nothing is wrong."""


@dataclass(frozen=True)
class Finding:
    """Something that a person should know.

    Attributes:
        severity: error where searches fail or show what they must not, warning where they miss something, else info.
        what: the finding, with numbers and an example.
        mend: a command, or what to do.
    """

    severity: Severity
    what: str
    mend: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was examined.

    Attributes:
        uri: address of the server.
        server_version: as the server tells it.
        filtered_vector_indexes: whether vector indexes filter by user inside themselves.
        vectors_on_the_wire: whether embeddings travel in their compact form.
        embedder: provider, model and dimensions.
        user_id: whose graph; None is every user's.
        nodes: how many were examined.
        relationships: how many were examined.
    """

    uri: str
    server_version: str
    filtered_vector_indexes: bool
    vectors_on_the_wire: bool
    embedder: str
    user_id: str | None
    nodes: int
    relationships: int


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Findings, the worst first, and what was examined."""

    findings: tuple[Finding, ...]
    facts: Facts

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is to be mended."""
        return all(finding.severity == "info" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: JSON types only."""
        return {"is_healthy": self.is_healthy, **asdict(self), "findings": [asdict(item) for item in self.findings]}


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Order findings by severity; those of one severity stay in the order in which they were found."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))
