"""Runs `kgagent ingest` over several files, and reports the outcome to a person, a program and a file."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from kgagent.cli.source_files import SourceFile, display_path
from kgagent.formatting import counted
from kgagent.ingestion import IngestionReport, Ingestor

_STATES = {
    "complete": "read completely",
    "unchanged": "read before; nothing was done",
    "incomplete": "some parts were not read",
}


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of one file.

    Attributes:
        file: the file.
        report: the report of its run; None if there was no run.
        error: why there was no run.
    """

    file: Path
    report: IngestionReport | None = None
    error: str = ""

    @property
    def is_read(self) -> bool:
        """Whether the source is read completely."""
        return self.report is not None and self.report.state in {"complete", "unchanged"}


async def ingest_files(ingestor: Ingestor, files: Sequence[SourceFile], *, force: bool) -> AsyncIterator[FileOutcome]:
    """Read sources one after the other. After a run that stopped, no further run starts: the cause may persist."""
    is_stopped = False
    for file in files:
        if file.source is None:
            yield FileOutcome(file.file, error=file.error)
        elif is_stopped:
            yield FileOutcome(file.file, error="not started, because an earlier run stopped")
        else:
            report = await ingestor.ingest(file.source, force=force)
            is_stopped = report.state == "stopped"
            yield FileOutcome(file.file, report)


def all_read(outcomes: Sequence[FileOutcome]) -> bool:
    """Whether every source is read completely."""
    return all(outcome.is_read for outcome in outcomes)


def to_json(outcomes: Sequence[FileOutcome], *, is_single_file: bool) -> dict[str, Any]:
    """The report of a single file; for several files or a folder, an object with all reports."""
    sources = [
        {"file": display_path(one.file), **(one.report.model_dump(mode="json") if one.report else {"error": one.error})}
        for one in outcomes
    ]
    return sources[0] if is_single_file else {"complete": all_read(outcomes), "sources": sources}


def to_markdown(outcomes: Sequence[FileOutcome]) -> str:
    """All reports, one after the other."""
    return "\n".join(
        one.report.to_markdown() if one.report else f"# {one.file.name}\n\nNot read: {one.error}.\n" for one in outcomes
    )


def summary_lines(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    """Lines for a person, in rich's markup."""
    for one in outcomes:
        if one.report:
            yield from _report_lines(one.report)
        else:
            yield f"[bold]{escape(display_path(one.file))}[/bold]: [red]{escape(one.error)}[/red]"
    if len(outcomes) > 1:
        read = sum(one.is_read for one in outcomes)
        tokens = sum(one.report.tokens.total for one in outcomes if one.report)
        yield f"{read} of {counted(len(outcomes), 'file')} read, {counted(tokens, 'token')}"


def _report_lines(report: IngestionReport) -> Iterator[str]:
    state = _STATES.get(report.state) or f"stopped: {report.reason.rstrip('.')}. Run it again to resume."
    newer = " (a newer version of a source that was read before)" if report.updated else ""
    yield f"[bold]{escape(report.name)}[/bold]: {escape(state)}{newer}"
    parts, calls = counted(report.parts, "part"), counted(len(report.calls), "tool call")
    yield f"{report.parts_read} of {parts} read; {calls}; {_change_counts(report)}"
    yield f"[dim]{counted(report.tokens.total, 'token')}, {report.seconds:.1f} s[/dim]"
    yield from (f"[yellow]{escape(warning)}[/yellow]" for warning in report.warnings)


def _change_counts(report: IngestionReport) -> str:
    groups = (("node", report.nodes), ("relationship", report.relationships))
    new = [counted(count, noun) for noun, group in groups if (count := sum(one.before is None for one in group))]
    changed = [
        counted(count, noun) for noun, group in groups if (count := sum(one.before is not None for one in group))
    ]
    phrases = [f"{' and '.join(counts)} {what}" for counts, what in ((new, "new"), (changed, "changed")) if counts]
    return ", ".join(phrases) or "no changes"
