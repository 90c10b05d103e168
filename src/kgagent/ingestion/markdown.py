"""A report of an ingestion as Markdown."""

import json
import re
from collections.abc import Iterator
from typing import Any

from kgagent.ingestion.report import CallRecord, Change, IngestionReport, new_notes

MAX_CELL_LENGTH = 160
"""Characters of a text in the report; the model `IngestionReport` holds all of it."""

_FIELDS = ("name", "description", "relationship_type", "attitude", "proximity")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def as_markdown(report: IngestionReport) -> str:
    """Write a report."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: IngestionReport) -> Iterator[str]:
    yield f"# {_text(report.name)}"
    yield ""
    yield f"{_state(report)} Source `{report.source_entity_key}`."
    yield ""
    about = "about " if report.tokens.estimated else ""
    yield (
        f"{report.parts_read} of {report.parts} parts read, {report.steps} steps, {len(report.calls)} calls, "
        f"{about}{report.tokens.total:,} tokens, {report.seconds:.1f} s."
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
    said = {
        "complete": "Read to the end.",
        "unchanged": "Read before: nothing was done.",
        "incomplete": "Read to the end, but for the parts that the warnings tell of.",
        "stopped": f"Stopped: {_text(report.reason.rstrip('.'))}. Another run goes on from there.",
    }[report.state]
    if report.updated:
        return f"{said} It is another version of a source that was read before."
    return f"{said} It went on where another run had stopped." if report.resumed else said


def _change(change: Change) -> Iterator[str]:
    yield f"- {'**changed**' if change.before else '**new**'} {_text(change.title)}"
    for field in _FIELDS:
        before, after = getattr(change.before, field, None), getattr(change.after, field, None)
        if before != after and after not in (None, "") and not (change.before is None and field == "name"):
            yield f"    - {field}: " + (f"{_text(before)} → {_text(after)}" if change.before else _text(after))
        elif before not in (None, "") and after in (None, ""):
            yield f"    - {field}: {_text(before)} → nothing"
    yield from (f"    - note: {_text(note.content)}" for note in new_notes(change))


def _call(call: CallRecord) -> str:
    arguments = _code(json.dumps(call.arguments, ensure_ascii=False))
    outcome = call.outcome if call.success else f"failed: {call.outcome}"
    return f"| {call.part} | {call.step} | {_text(call.tool)} | {arguments} | {_text(outcome)} |"


def _text(value: Any) -> str:  # noqa: ANN401
    """A value in one short line in which nothing is Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", _short(str(value)))


def _code(text: str) -> str:
    """A short line as code in a cell of a table, which neither a backtick nor a bar may end."""
    return f"`{_short(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CELL_LENGTH else line[: MAX_CELL_LENGTH - 1] + "…"
