"""How results are printed."""

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from kgagent.cli import output
from kgagent.cli.output import print_result

LINE = " ".join(["Ruth"] * 60)


def printed(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> list[str]:
    console = Console(file=StringIO(), width=40, force_terminal=is_terminal, no_color=True)
    monkeypatch.setattr(output, "result_console", lambda: console)
    print_result(Text(LINE, no_wrap=True), "the end")
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_line_is_cut_to_the_width_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    line, end = printed(monkeypatch, is_terminal=True)
    assert (len(line), line[-1], end) == (40, "\N{HORIZONTAL ELLIPSIS}", "the end")


def test_a_line_is_complete_where_it_is_read_by_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, is_terminal=False) == [LINE, "the end"]
