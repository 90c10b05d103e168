"""How results are printed."""

import json
import os
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgagent.cli import output
from kgagent.cli.output import (
    message_console,
    print_json,
    print_message,
    print_result,
    result_console,
    without_controls,
)

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


HOSTILE = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7fb"


def test_stored_text_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    result_console.cache_clear()
    message_console.cache_clear()
    table = Table()
    table.add_row(HOSTILE)
    print_result(Text(HOSTILE), table, HOSTILE)
    print_message(Text(HOSTILE))
    captured = capsys.readouterr()
    for printed_text in (captured.out, captured.err):
        assert "a]0;title[2J31mb" in printed_text
        assert printed_text == without_controls(printed_text)


def test_json_escapes_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"note": HOSTILE})
    shown = capsys.readouterr().out
    assert shown == without_controls(shown)
    assert json.loads(shown) == {"note": HOSTILE}


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_character_that_the_stream_cannot_encode_is_replaced(encoding: str) -> None:
    code = (
        "from kgagent.cli.app import app, main; from kgagent.cli.output import print_json, "
        "print_result; "
        "app.command('mark')(lambda: (print_result('\u2713 Ruth'), print_json({'name': "
        "'\u2713'}))); main()"
    )
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, "mark"], env=environment, capture_output=True, check=True
    )
    first, *rest = done.stdout.decode(encoding).splitlines()
    assert first == "? Ruth"
    assert json.loads("".join(rest)) == {"name": "\u2713"}
