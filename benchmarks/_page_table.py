"""A section of a page of the documentation: a heading and a table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def section(
    heading: str,
    rows: Sequence[Mapping[str, object]],
    cell: Callable[[str, object], str],
    *,
    texts: int = 1,
) -> str:
    """The heading and a table of the rows in Markdown.

    Args:
        heading: its text.
        rows: the rows by column, at least one; all have the columns of the first.
        cell: the text of a cell, for its column and value.
        texts: number of first columns that are aligned to the left.
    """
    columns = list(rows[0])
    return "\n".join(
        [
            f"## {heading}",
            "",
            f"| {' | '.join(columns)} |",
            f"|{' --- |' * texts}{' ---: |' * (len(columns) - texts)}",
            *(f"| {' | '.join(cell(column, row[column]) for column in columns)} |" for row in rows),
        ]
    )


def put_last(page: Path, heading: str, text: str) -> None:
    """Write a section to the end of a page, in place of an earlier one with its heading."""
    others, _, _ = page.read_text("utf-8").partition(f"## {heading}\n")
    page.write_text(f"{others.rstrip()}\n\n{text}\n", "utf-8")
