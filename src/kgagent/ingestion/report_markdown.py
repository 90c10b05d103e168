"""Formats an ingestion report as Markdown."""

import json
import re
from collections.abc import Iterator

from kgagent.formatting import beginning, counted
from kgagent.ingestion.report import CallRecord, Change, IngestionReport, new_notes

MAX_CELL_LENGTH = 160
"""Maximum number of characters of a text in the report; the `IngestionReport` itself holds the full
text.
"""

_COMPARED_FIELDS = ("name", "description", "relationship_type", "attitude", "proximity")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def to_markdown(report: IngestionReport) -> str:
    """Format a report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: IngestionReport) -> Iterator[str]:
    yield f"# {_text(report.name)}"
    yield ""
    yield f"{_state(report)} Source `{report.source_entity_key}`."
    yield ""
    about = "about " if report.tokens.estimated else ""
    yield (
        f"{report.parts_read} of {counted(report.parts, 'part')} read, "
        f"{counted(report.steps, 'step')}, "
        f"{counted(len(report.calls), 'call')}, {about}{counted(report.tokens.total, 'token')}, "
        f"{report.seconds:.1f} s."
    )
    for title, changes in (("Nodes", report.nodes), ("Relationships", report.relationships)):
        if changes:
            yield from ("", f"## {title}", "")
        for change in changes:
            yield from _change(change)
    if report.calls:
        yield from (
            "",
            "## Calls",
            "",
            "| part | step | tool | arguments | outcome |",
            "| --- | --- | --- | --- | --- |",
        )
        yield from map(_call, report.calls)
    if report.warnings:
        yield from ("", "## Warnings", "")
        yield from (f"- {_text(warning)}" for warning in report.warnings)


def _state(report: IngestionReport) -> str:
    state = {
        "complete": "Read completely.",
        "unchanged": "Read before; nothing was done.",
        "incomplete": "Some parts were not read, see the warnings.",
        "stopped": f"Stopped: {_text(report.reason.rstrip('.'))}. Another run resumes here.",
    }[report.state]
    if report.updated:
        return f"{state} It is a newer version of a source that was read before."
    return f"{state} This run resumed an earlier one." if report.resumed else state


def _change(change: Change) -> Iterator[str]:
    yield f"- {'**changed**' if change.before else '**new**'} {_text(change.title)}"
    for field in _COMPARED_FIELDS:
        before, after = getattr(change.before, field, None), getattr(change.after, field, None)
        if (
            before != after
            and after not in (None, "")
            and not (change.before is None and field == "name")
        ):
            yield f"    - {field}: " + (
                f"{_text(before)} → {_text(after)}" if change.before else _text(after)
            )
        elif before not in (None, "") and after in (None, ""):
            yield f"    - {field}: {_text(before)} → none"
    yield from (f"    - note: {_text(note.content)}" for note in new_notes(change))


def _call(call: CallRecord) -> str:
    arguments = _code(json.dumps(call.arguments, ensure_ascii=False))
    outcome = call.outcome if call.success else f"failed: {call.outcome}"
    return f"| {call.part} | {call.step} | {_text(call.tool)} | {arguments} | {_text(outcome)} |"


def _text(value: object) -> str:
    """A value as one short line, with Markdown and HTML escaped."""
    return _SPECIAL.sub(r"\\\1", beginning(str(value), MAX_CELL_LENGTH))


def _code(text: str) -> str:
    """A short line as code in a table cell; backticks and bars in it must not end the cell."""
    return f"`{beginning(text, MAX_CELL_LENGTH).replace('`', chr(39)).replace('|', chr(92) + '|')}`"
