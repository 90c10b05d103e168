"""Progress bars on stderr; one plain line per task if stderr is not a terminal."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from kgagent.cli.output import message_console
from kgagent.progress import Advance

if TYPE_CHECKING:
    from rich.console import Console

BYTES_PREFIX = "Downloading"
"""How descriptions of tasks that count bytes begin."""


class RichProgress:
    """Shows the progress of concurrent tasks, from any thread."""

    def __init__(self, console: "Console | None" = None) -> None:
        self._console = console or message_console()
        self._guard = threading.Lock()
        self._bars: Progress | None = None
        self._open = 0

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:
        """Show a task until the block ends; its bar keeps the last state."""
        if not self._console.is_terminal:
            self._console.print(f"{description} ...", soft_wrap=True)
            yield lambda _: None
            return
        bars = self._begin()
        task = bars.add_task(description, total=total, uncounted=total is None)
        try:
            yield lambda units: bars.update(task, advance=units)
            if total is None:
                bars.update(task, total=1, completed=1)
        finally:
            bars.stop_task(task)
            self._end()

    def _begin(self) -> Progress:
        with self._guard:
            if self._bars is None:
                self._bars = _bars(self._console)
                self._bars.start()
            self._open += 1
            return self._bars

    def _end(self) -> None:
        with self._guard:
            self._open -= 1
            if self._open == 0 and self._bars is not None:
                self._bars.stop()
                self._bars = None


class _AmountColumn(ProgressColumn):
    """The completed amount, the total and the speed."""

    def render(self, task: Task) -> Text:
        """Format the amount; empty for a task of unknown size."""
        if task.total is None or task.fields["uncounted"]:
            return Text("")
        format_amount = decimal if task.description.startswith(BYTES_PREFIX) else "{:,}".format
        speed = task.finished_speed or task.speed
        amount = f"{format_amount(int(task.completed))} of {format_amount(int(task.total))}"
        return Text(f"{amount}, {format_amount(int(speed))}/s" if speed else amount, style="dim")


def _bars(console: "Console") -> Progress:
    return Progress(
        SpinnerColumn(finished_text="[green]✓[/green]"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        _AmountColumn(),
        TimeElapsedColumn(),
        console=console,
    )
