"""What became of the files that were to be read, for a person, a script and a report."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from kgagent.cli.ingest_files import SourceFile, display_path
from kgagent.ingestion import IngestionReport, Ingestor

_SAID = {
    "complete": "read to the end",
    "unchanged": "read before; nothing was done",
    "incomplete": "not all could be read",
}


@dataclass(frozen=True)
class Outcome:
    """What became of a file.

    Attributes:
        file: that was to be read.
        report: of its run; None where there was none.
        error: why there was none.
    """

    file: Path
    report: IngestionReport | None = None
    error: str = ""

    @property
    def is_well(self) -> bool:
        """Whether the source is read to the end."""
        return self.report is not None and self.report.state in {"complete", "unchanged"}


async def read_each(ingestor: Ingestor, files: Sequence[SourceFile], *, force: bool) -> AsyncIterator[Outcome]:
    """Read sources one after the other; where one run stops, the others are not begun, as what stopped it may hold."""
    is_stopped = False
    for one in files:
        if one.source is None:
            yield Outcome(one.file, error=one.error)
        elif is_stopped:
            yield Outcome(one.file, error="not begun, as the run stopped before it")
        else:
            report = await ingestor.ingest(one.source, force=force)
            is_stopped = report.state == "stopped"
            yield Outcome(one.file, report)


def is_well(outcomes: Sequence[Outcome]) -> bool:
    """Whether all is read to the end."""
    return all(outcome.is_well for outcome in outcomes)


def as_json(outcomes: Sequence[Outcome], *, is_one: bool) -> dict[str, Any]:
    """The report of the one file that was named; of several, or of a folder, those of all."""
    sources = [
        {"file": display_path(one.file), **(one.report.model_dump(mode="json") if one.report else {"error": one.error})}
        for one in outcomes
    ]
    return sources[0] if is_one else {"well": is_well(outcomes), "sources": sources}


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The reports of all, one below the other."""
    return "\n".join(
        one.report.to_markdown() if one.report else f"# {one.file.name}\n\nNot read: {one.error}.\n" for one in outcomes
    )


def told(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Lines for a person, in rich's markup."""
    for one in outcomes:
        if one.report:
            yield from _told(one.report)
        else:
            yield f"[bold]{escape(display_path(one.file))}[/bold]: [red]{escape(one.error)}[/red]"
    if len(outcomes) > 1:
        read = sum(one.is_well for one in outcomes)
        tokens = sum(one.report.tokens.total for one in outcomes if one.report)
        yield f"{read} of {len(outcomes)} files read, {tokens:,} tokens"


def _told(report: IngestionReport) -> Iterator[str]:
    said = _SAID.get(report.state) or f"stopped: {report.reason.rstrip('.')}. Run it again to go on."
    newer = " (a newer version of what was read before)" if report.updated else ""
    yield f"[bold]{escape(report.name)}[/bold]: {escape(said)}{newer}"
    parts, calls = _counted(report.parts, "part"), _counted(len(report.calls), "tool call")
    yield f"{report.parts_read} of {parts} read; {calls}; {_changes(report)}"
    yield f"[dim]{report.tokens.total:,} tokens, {report.seconds:.1f} s[/dim]"
    yield from (f"[yellow]{escape(warning)}[/yellow]" for warning in report.warnings)


def _changes(report: IngestionReport) -> str:
    kinds = (("node", report.nodes), ("relationship", report.relationships))
    new = [_counted(count, kind) for kind, of in kinds if (count := sum(one.before is None for one in of))]
    changed = [_counted(count, kind) for kind, of in kinds if (count := sum(one.before is not None for one in of))]
    said = [f"{' and '.join(counts)} {what}" for counts, what in ((new, "new"), (changed, "changed")) if counts]
    return ", ".join(said) or "nothing new or changed"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
