"""Checks of the items that programs store beside the graph."""

from kgagent.doctor.diagnosis import Finding
from kgagent.doctor.issues import MigrationIssues
from kgagent.embedding.base import Embedder
from kgagent.formatting import counted
from kgagent.graph.store_texts import StoreTextCounts


def store_text_findings(counts: StoreTextCounts, embedder: Embedder, issues: MigrationIssues) -> list[Finding]:
    """Report texts that semantic search omits because another model embedded them."""
    if not counts.outdated:
        return []
    issue = issues.other_model(counts.other_model, embedder.model)
    message = f"{counted(counts.outdated, 'text')} of {counted(counts.items, 'stored item')} {issue.phrase}"
    return [Finding(issue.severity, message, issue.fix)]
